package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tenon/lab/process"
	"tenon/lab/state"
	"tenon/lab/supervise"
)

// patience bounds every wait for another process.
const patience = 20 * time.Second

// fixture is a supervisor and its recorded reports.
type fixture struct {
	*supervise.Supervisor
	folder string

	mu    sync.Mutex
	last  []state.Component
	notes []string
	grew  chan struct{} // gets a word at every change
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{folder: t.TempDir(), grew: make(chan struct{}, 1000)}
	b.Supervisor = supervise.New(func(components []state.Component) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.last = components
		b.grew <- struct{}{}
	}, func(note string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.notes = append(b.notes, note)
	})
	return b
}

// shell returns a component that is a shell script. It is ready when its file READY in the fixture's folder
// exists.
func (b *fixture) shell(name, script string) supervise.Component {
	ready := filepath.Join(b.folder, name+".ready")
	return supervise.Component{
		Name:    name,
		Program: "/bin/sh",
		Flags:   []string{"-c", script},
		Env:     []string{"READY=" + ready, "FOLDER=" + b.folder},
		Log:     filepath.Join(b.folder, name+".log"),
		Within:  patience,
		Check: func(context.Context) error {
			_, err := os.Stat(ready)
			return err
		},
	}
}

// server is a script that is ready at once, keeps running, and writes its end to the file "ends".
const server = `trap 'echo '"$0"' >>"$FOLDER/ends"; exit 0' TERM; touch "$READY"; while :; do sleep 0.05; done`

func (b *fixture) server(name string) supervise.Component {
	component := b.shell(name, server)
	component.Flags = append(component.Flags, name)
	return component
}

func (b *fixture) states() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	states := map[string]string{}
	for _, component := range b.last {
		states[component.Name] = component.State
	}
	return states
}

func (b *fixture) component(name string) state.Component {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, _ := state.Record{Components: b.last}.Find(name)
	return found
}

// until waits until the condition holds, and checks it at each change.
func (b *fixture) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	limit := time.After(patience)
	for !condition() {
		select {
		case <-b.grew:
		case <-limit:
			t.Fatalf("%s: not within %s; states are %v", what, patience, b.states())
		}
	}
}

func bring(t *testing.T, b *fixture, component supervise.Component) error {
	t.Helper()
	if err := b.Launch(component); err != nil {
		return err
	}
	return b.Await(t.Context(), component.Name)
}

func TestComponentsEndInReverseOrder(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for _, name := range []string{"first", "second", "third"} {
		if err := bring(t, b, b.server(name)); err != nil {
			t.Fatal(err)
		}
		if got := b.states()[name]; got != supervise.Ready {
			t.Errorf("%s is %q after it became ready", name, got)
		}
	}
	if killed := b.Stop(patience); len(killed) != 0 {
		t.Errorf("had to be killed: %v", killed)
	}
	ends, err := os.ReadFile(filepath.Join(b.folder, "ends"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"third", "second", "first"}; !slices.Equal(strings.Fields(string(ends)), want) {
		t.Errorf("ended in the order %v, want %v", strings.Fields(string(ends)), want)
	}
	for name, got := range b.states() {
		if got != supervise.Ended {
			t.Errorf("%s is %q after the end", name, got)
		}
	}
}

func TestAComponentThatEndsAtTheStartIsReportedWithItsLog(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	defer b.Stop(patience)
	err := bring(t, b, b.shell("broken", `echo reading settings; echo the disk is full >&2; exit 7`))
	var died *supervise.Died
	if !errors.As(err, &died) {
		t.Fatalf("error is %v, want Died", err)
	}
	for _, want := range []string{"broken ended with exit status 7", "| the disk is full", b.folder} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%s", want, err)
		}
	}
}

func TestAComponentThatEndsLaterIsReported(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	defer b.Stop(patience)
	script := `touch "$READY"; while [ ! -e "$FOLDER/die" ]; do sleep 0.02; done; echo out of luck; exit 1`
	if err := bring(t, b, b.shell("frail", script)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.folder, "die"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case died := <-b.Deaths():
		if died.Component != "frail" || !strings.Contains(died.Error(), "out of luck") {
			t.Errorf("reported %v", died)
		}
	case <-time.After(patience):
		t.Fatal("nothing was reported")
	}
}

func TestALateComponentIsReportedWithTheReason(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	component := b.shell("slow", `sleep 600`)
	component.Within = 100 * time.Millisecond
	component.Check = func(context.Context) error { return fmt.Errorf("it says wait") }
	err := bring(t, b, component)
	if err == nil || !strings.Contains(err.Error(), "slow was not ready within 100ms: it says wait") {
		t.Errorf("error is %v", err)
	}
	pid := b.component("slow").Pid
	b.Stop(patience)
	if process.Birth(pid) != "" {
		t.Error("it still runs")
	}
}

func TestAComponentWithRestartIsStartedAgain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	component := b.shell("product", `touch "$READY"; if [ -e "$FOLDER/again" ]; then sleep 600; fi; touch "$FOLDER/again"; sleep 0.2; exit 1`)
	component.Restart = true
	if err := bring(t, b, component); err != nil {
		t.Fatal(err)
	}
	first := b.component("product").Pid
	b.until(t, "the restart", func() bool {
		now := b.component("product")
		return now.Restarts == 1 && now.State == supervise.Ready
	})
	if again := b.component("product").Pid; again == first {
		t.Error("it has the pid of the process that ended")
	}
	b.Stop(patience)
	if len(b.notes) != 1 || !strings.Contains(b.notes[0], "product ended (exit status 1), starting it again in 1s") {
		t.Errorf("notes are %q", b.notes)
	}
}

func TestAnAbandonedComponentIsForgotten(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	component := b.shell("optional", `sleep 600`)
	component.Within = 50 * time.Millisecond
	if err := bring(t, b, component); err == nil {
		t.Fatal("it became ready")
	}
	pid := b.component("optional").Pid
	b.Abandon("optional", patience)
	if process.Birth(pid) != "" || len(b.states()) != 0 {
		t.Errorf("it still runs, or is listed: %v", b.states())
	}
	b.Stop(patience)
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	defer b.Stop(patience)
	if err := b.Launch(b.shell("slow", `sleep 600`)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Await(ctx, "slow"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
}
