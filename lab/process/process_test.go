package process_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tenon/lab/process"
)

// roleEnv makes this test program act as a child or as a parent instead of running tests.
const roleEnv = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "child":
		child()
	case "parent":
		parent()
	default:
		os.Exit(m.Run())
	}
}

// child reports that it is ready, answers on its listener, and ends at SIGTERM unless it is told to ignore
// it.
func child() {
	inherited, err := process.Inherit()
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("here I am")
	inherited.ReportReady()
	if listener := inherited.Listener(); listener != nil {
		go func() {
			if connection, err := listener.Accept(); err == nil {
				_, _ = fmt.Fprintln(connection, "hello")
				_ = connection.Close()
			}
		}()
	}
	<-ctx.Done()
	if os.Getenv("STUBBORN") != "" {
		select {}
	}
}

// parent starts a child, prints its pid, and waits to be killed.
func parent() {
	started, err := process.Start(process.Spec{Env: []string{roleEnv + "=child"}, Log: os.Getenv("CHILD_LOG")})
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	<-started.Ready()
	fmt.Println(started.Pid)
	select {}
}

// patience bounds every wait for another process.
const patience = 20 * time.Second

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not happen within %s", what, patience)
	}
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	limit := time.After(patience)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func start(t *testing.T, spec process.Spec) *process.Child {
	t.Helper()
	spec.Env = append(spec.Env, roleEnv+"=child")
	spec.Log = filepath.Join(t.TempDir(), "log")
	started, err := process.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { started.Stop(0) })
	await(t, "the child's report", started.Ready())
	return started
}

func TestAChildServesTheInheritedListener(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	start(t, process.Spec{Listener: listener})

	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if line, err := bufio.NewReader(connection).ReadString('\n'); line != "hello\n" {
		t.Errorf("the child said %q, %v", line, err)
	}
}

func TestStopAsksBeforeItKills(t *testing.T) {
	t.Parallel()
	if killed := start(t, process.Spec{}).Stop(patience); killed {
		t.Error("a child that ends when asked to was killed")
	}
}

func TestStopKillsAProcessThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	started := start(t, process.Spec{Env: []string{"STUBBORN=1"}})
	if killed := started.Stop(10 * time.Millisecond); !killed {
		t.Error("a child that does not end was not killed")
	}
	if !strings.Contains(started.State(), "killed") {
		t.Errorf("state is %q", started.State())
	}
	if process.Birth(started.Pid) != "" {
		t.Error("it still runs")
	}
}

func TestTheChildsOutputIsItsLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	started, err := process.Start(process.Spec{Env: []string{roleEnv + "=child"}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the child's report", started.Ready())
	started.Stop(patience)
	if text, err := os.ReadFile(log); string(text) != "here I am\n" {
		t.Errorf("log is %q, %v", text, err)
	}
}

func TestAForeignProgramIsStartedAndStopped(t *testing.T) {
	t.Parallel()
	started, err := process.Start(process.Spec{Path: "/bin/sleep", Args: []string{"600"}, Foreign: true, Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	if started.Stop(patience) {
		t.Error("it had to be killed")
	}
}

func TestProcessesThatAChildStartedEndWithIt(t *testing.T) {
	t.Parallel()
	note := filepath.Join(t.TempDir(), "pid")
	script := `sleep 600 & echo $! >"$NOTE.new"; mv "$NOTE.new" "$NOTE"; wait`
	started, err := process.Start(process.Spec{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"NOTE=" + note},
		Foreign: true, Log: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	until(t, "the grandchild", func() bool {
		text, err := os.ReadFile(note)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	birth := process.Birth(pid)
	started.Stop(patience)
	until(t, "the grandchild's end", func() bool { return !process.Alive(pid, birth) })
}

func TestAMissingProgramIsAnError(t *testing.T) {
	t.Parallel()
	_, err := process.Start(process.Spec{Path: "/does/not/exist", Foreign: true, Log: filepath.Join(t.TempDir(), "log")})
	if err == nil {
		t.Error("it was started")
	}
}

// When the supervisor of a lab is killed at any moment, no process of the lab remains.
func TestChildrenEndWithAKilledParent(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=parent", "CHILD_LOG="+log)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the parent said %q", line)
	}
	birth := process.Birth(pid)
	if !process.Alive(pid, birth) {
		t.Fatal("the child does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	until(t, "the child's end", func() bool { return !process.Alive(pid, birth) })
}

func TestMeasureSelf(t *testing.T) {
	t.Parallel()
	usage, err := process.Measure(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if usage.ResidentBytes < 1<<20 || usage.ResidentBytes > 1<<36 {
		t.Errorf("resident bytes are %d", usage.ResidentBytes)
	}
	if process.Birth(os.Getpid()) == "" || process.Birth(1<<30) != "" {
		t.Error("births do not distinguish existing from missing processes")
	}
}

func TestKillSparesALaterProcessWithTheSameID(t *testing.T) {
	t.Parallel()
	started := start(t, process.Spec{})
	process.Kill(started.Pid, "another program")
	if !process.Alive(started.Pid, process.Birth(started.Pid)) {
		t.Fatal("a process with the same id and another birth was killed")
	}
	process.Kill(started.Pid, process.Birth(started.Pid))
	await(t, "its end", started.Done())
}
