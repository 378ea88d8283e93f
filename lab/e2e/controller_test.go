package e2e

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tenon/lab/labtest"
)

// besideTenon is a site whose tenon-lab has the given program beside it as tenon; without one, none.
func besideTenon(t *testing.T, tenon string) site {
	t.Helper()
	s := newSite(t)
	folder := t.TempDir()
	copyProgram(t, s.program, filepath.Join(folder, "tenon-lab"))
	if tenon != "" {
		copyProgram(t, tenon, filepath.Join(folder, "tenon"))
	}
	s.program = filepath.Join(folder, "tenon-lab")
	return s
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	if os.Link(from, to) == nil {
		return
	}
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTenonRunsInTheLabAndComesBack(t *testing.T) {
	t.Parallel()
	tenon, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	s := besideTenon(t, tenon)
	s.mustRun(t, "up", "--detach", "--controller", "tenon")
	first := s.tenon(t)
	if first.State != "ready" || len(first.Ports) != 2 {
		t.Errorf("tenon is %+v, want ready with two ports", first)
	}
	if err := syscall.Kill(first.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "tenon runs again", func() bool {
		// The test reads the record: starting a program at every look would keep Tenon from coming back.
		record, _, err := s.directory.Load()
		now, found := record.Find("tenon")
		return err == nil && found && now.Pid != first.Pid && now.Restarts == 1 && now.State == "ready"
	})
	if text := s.mustRun(t, "logs", "supervisor"); !strings.Contains(text, "tenon ended (signal: killed), starting it again") {
		t.Errorf("the supervisor's log says %q", text)
	}
	status := s.status(t)
	s.mustRun(t, "down")
	if left := running(status); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

func (s site) tenon(t *testing.T) componentText {
	t.Helper()
	for _, component := range s.status(t).Components {
		if component.Name == "tenon" {
			return component
		}
	}
	t.Fatal("tenon is not among the components")
	return componentText{}
}

func TestALabWithoutTenonIsStillALab(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "tenon")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no cloud today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("not built, asked for", func(t *testing.T) {
		besideTenon(t, "").mustFail(t, []string{"there is no program", "make build"}, "up", "--detach", "--controller", "tenon")
	})
	t.Run("broken, not asked for", func(t *testing.T) {
		s := besideTenon(t, broken)
		said := s.mustRun(t, "up", "--detach")
		for _, want := range []string{"tenon ended with exit status 1", "| no cloud today", "the lab goes on without tenon", "ready in"} {
			if !strings.Contains(said, want) {
				t.Errorf("up does not say %q:\n%s", want, said)
			}
		}
		checkStatus(t, s.status(t))
	})
}
