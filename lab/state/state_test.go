package state_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tenon/lab/process"
	"tenon/lab/state"
)

func directory(t *testing.T) state.Directory {
	t.Helper()
	d, err := state.Open(filepath.Join(t.TempDir(), "lab"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func acquire(t *testing.T, d state.Directory) *state.Lock {
	t.Helper()
	lock, err := d.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func TestOneLabPerDirectory(t *testing.T) {
	t.Parallel()
	d := directory(t)
	lock := acquire(t, d)

	_, err := d.Acquire()
	var inUse *state.InUse
	if !errors.As(err, &inUse) {
		t.Fatalf("second acquire: %v, want InUse", err)
	}
	if inUse.Pid != os.Getpid() || !strings.Contains(err.Error(), "tenon-lab down --dir "+string(d)) {
		t.Errorf("the message does not say who holds it and how to stop it: %v", err)
	}
	if holder, err := d.Holder(); err != nil || holder != os.Getpid() {
		t.Errorf("holder = %d, %v, want this process", holder, err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if holder, err := d.Holder(); err != nil || holder != 0 {
		t.Errorf("after release holder = %d, %v, want none", holder, err)
	}
	if err := acquire(t, d).Release(); err != nil {
		t.Error(err)
	}
}

func TestCleaningLeavesFilesOfTheUser(t *testing.T) {
	t.Parallel()
	d := directory(t)
	lock := acquire(t, d)
	if err := lock.Layout(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{d.Kubeconfig(), d.Log("etcd"), d.PKI("ca.key"), d.Cloud(), d.Path("notes.txt")} {
		if err := state.WriteFile(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(lock.Clean(), lock.Release()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(string(d))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("left: %v, want notes.txt only", left)
	}
}

func TestAnEmptyDirectoryIsRemoved(t *testing.T) {
	t.Parallel()
	d := directory(t)
	lock := acquire(t, d)
	if err := errors.Join(lock.Layout(), lock.Clean(), lock.Release()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(d)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestOnlyTheOwnerCanReadKeys(t *testing.T) {
	t.Parallel()
	d := directory(t)
	if err := acquire(t, d).Layout(); err != nil {
		t.Fatal(err)
	}
	if err := state.WriteFile(d.PKI("ca.key"), []byte("secret")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{string(d): 0o700, d.PKI(""): 0o700, d.PKI("ca.key"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	d := directory(t)
	acquire(t, d)
	if _, found, err := d.Load(); found || err != nil {
		t.Fatalf("a new directory has a record: %v, %v", found, err)
	}
	want := state.Record{Directory: d, Pid: 7, Components: []state.Component{{Name: "etcd", Pid: 8}}}
	if err := d.Save(want); err != nil {
		t.Fatal(err)
	}
	got, found, err := d.Load()
	if err != nil || !found {
		t.Fatalf("load: %v, %v", found, err)
	}
	if component, ok := got.Find("etcd"); got.Pid != 7 || !ok || component.Pid != 8 {
		t.Errorf("read back %+v", got)
	}
}

func TestOnlyProcessesOfTheRecordAreEnded(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	stranger := state.Record{Components: []state.Component{{Name: "etcd", Pid: cmd.Process.Pid, Birth: "another"}}}
	if ended := stranger.EndLeftovers(); len(ended) != 0 {
		t.Fatalf("ended %v, a later process with the same id", ended)
	}
	own := state.Record{Components: []state.Component{{Name: "etcd", Pid: cmd.Process.Pid, Birth: process.Birth(cmd.Process.Pid)}}}
	if ended := own.EndLeftovers(); len(ended) != 1 || ended[0] != "etcd" {
		t.Fatalf("ended %v, want etcd", ended)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the leftover ended on its own")
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text  string
		lines int
		want  string
	}{
		"fewer lines than asked":        {"a\nb\n", 5, "a\nb\n"},
		"the last two":                  {"a\nb\nc\n", 2, "b\nc\n"},
		"the last is not yet complete":  {"a\nb\nc", 2, "b\nc"},
		"an empty log":                  {"", 3, ""},
		"a single line without its end": {"a", 1, "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := state.Tail(path, tc.lines)
			if err != nil || string(got) != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
	if got, err := state.Tail(filepath.Join(t.TempDir(), "absent"), 3); err != nil || len(got) != 0 {
		t.Errorf("a missing log: %q, %v", got, err)
	}
}
