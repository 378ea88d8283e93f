package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tenon/lab/labtest"
	"tenon/lab/process"
	"tenon/lab/state"
)

// statusText is the part of `status -o json` that these tests read. It is declared again here, since
// scripts rely on it.
type statusText struct {
	Running       bool            `json:"running"`
	Ready         bool            `json:"ready"`
	Pid           int             `json:"pid"`
	Birth         string          `json:"birth"`
	Server        string          `json:"server"`
	ResidentBytes int64           `json:"residentBytes"`
	Components    []componentText `json:"components"`
}

type componentText struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Pid      int       `json:"pid"`
	Birth    string    `json:"birth"`
	Started  time.Time `json:"started"`
	Restarts int       `json:"restarts"`
	Ports    []struct {
		Name   string `json:"name"`
		Number int    `json:"number"`
	} `json:"ports"`
	ResidentBytes int64 `json:"residentBytes"`
}

// controlPlane are the components that every lab has.
var controlPlane = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "aws"}

// site is a directory for a lab that is driven by its commands.
type site struct {
	program   string
	directory state.Directory
}

func newSite(t *testing.T) site {
	t.Helper()
	program, err := labtest.Program()
	if err != nil {
		t.Fatal(err)
	}
	s := site{program: program, directory: state.Directory(filepath.Join(t.TempDir(), "lab"))}
	// No process that a test started runs on after it.
	t.Cleanup(func() { _, _ = s.run("down") })
	return s
}

// run runs a command in the site and returns what it printed.
func (s site) run(args ...string) (string, error) {
	cmd := exec.Command(s.program, append(args, "--dir", string(s.directory))...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func (s site) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	output, err := s.run(args...)
	if err != nil {
		t.Fatalf("tenon-lab %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return output
}

// mustFail runs a command that is to fail, and checks that it says why.
func (s site) mustFail(t *testing.T, wants []string, args ...string) {
	t.Helper()
	output, err := s.run(args...)
	if err == nil {
		t.Errorf("tenon-lab %s succeeded:\n%s", strings.Join(args, " "), output)
	}
	for _, want := range wants {
		if !strings.Contains(output, want) {
			t.Errorf("tenon-lab %s does not say %q:\n%s", strings.Join(args, " "), want, output)
		}
	}
}

func (s site) up(t *testing.T, args ...string) string {
	t.Helper()
	return s.mustRun(t, append([]string{"up", "--detach", "--controller", "none", "--boot-delay", "300ms"}, args...)...)
}

func (s site) status(t *testing.T) statusText {
	t.Helper()
	var status statusText
	decoder := json.NewDecoder(strings.NewReader(s.mustRun(t, "status", "-o", "json")))
	if err := decoder.Decode(&status); err != nil {
		t.Fatal(err)
	}
	return status
}

// patience bounds waits for processes.
const patience = 30 * time.Second

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	limit := time.After(patience)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// running names the processes of a lab that still run.
func running(status statusText) []string {
	var names []string
	if process.Alive(status.Pid, status.Birth) {
		names = append(names, "supervisor")
	}
	for _, component := range status.Components {
		if process.Alive(component.Pid, component.Birth) {
			names = append(names, component.Name)
		}
	}
	return names
}

func TestALabFromUpToDown(t *testing.T) {
	t.Parallel()
	first, second := newSite(t), newSite(t)

	said := first.up(t)
	for _, want := range append(controlPlane, "ready in", "export KUBECONFIG="+first.directory.Kubeconfig(), "kubectl get nodes", "down --dir") {
		if !strings.Contains(said, want) {
			t.Errorf("up does not say %q:\n%s", want, said)
		}
	}
	if strings.ContainsAny(said, "\x1b\r") {
		t.Errorf("control characters in the output to a pipe: %q", said)
	}
	environment, err := os.ReadFile(first.directory.Environment())
	if err != nil || !bytes.Contains(environment, []byte("KUBECONFIG="+first.directory.Kubeconfig()+"\n")) {
		t.Errorf("lab.env is %q, %v", environment, err)
	}
	status := first.status(t)
	checkStatus(t, status)

	t.Run("keys are for the owner alone", func(t *testing.T) { checkModes(t, first) })
	t.Run("status for people", func(t *testing.T) {
		text := first.mustRun(t, "status")
		for _, want := range append(controlPlane, "supervisor", "/https", " MiB", "ready") {
			if !strings.Contains(text, want) {
				t.Errorf("status does not say %q:\n%s", want, text)
			}
		}
	})
	t.Run("logs", func(t *testing.T) {
		if text := first.mustRun(t, "logs", "kube-apiserver", "--tail", "3"); strings.Count(text, "\n") != 3 {
			t.Errorf("three lines were asked for:\n%s", text)
		}
		first.mustFail(t, []string{`no log of "coffee"`, "kube-scheduler"}, "logs", "coffee")
		first.mustFail(t, []string{"no log of"}, "logs", "../pki/ca")
	})
	t.Run("machines", func(t *testing.T) {
		first.mustRun(t, "node", "add", "--count", "2", "--wait")
		if text := first.mustRun(t, "node", "delete", "--all"); !strings.Contains(text, "node-1, node-2 deleted") {
			t.Errorf("delete says %q", text)
		}
		first.mustFail(t, []string{"names or, with --count"}, "node", "add")
	})
	t.Run("a directory in use", func(t *testing.T) {
		for _, detach := range []string{"--detach", "--detach=false"} {
			first.mustFail(t, []string{"a lab is running in " + string(first.directory), "pid", "tenon-lab down --dir"}, "up", "--controller", "none", detach)
		}
	})
	t.Run("a port that is taken", func(t *testing.T) {
		port := status.Server[strings.LastIndex(status.Server, ":")+1:]
		second.mustFail(t, []string{"port " + port, "kube-apiserver", "--api-port"}, "up", "--detach", "--api-port", port, "--controller", "none")
		if _, err := os.Stat(second.directory.Path("lock")); err == nil {
			t.Error("the lab that could not start holds its directory")
		}
	})
	t.Run("two labs side by side", func(t *testing.T) {
		second.up(t)
		checkStatus(t, second.status(t))
		second.mustRun(t, "node", "add", "only-here", "--wait")
		if text, err := first.run("node", "delete", "only-here"); err != nil || !strings.Contains(text, "deleted") {
			t.Errorf("deleting a node that is not there: %v\n%s", err, text)
		}
		second.mustRun(t, "down")
		if left := running(status); len(left) != len(controlPlane)+1 {
			t.Errorf("of the first lab run %v after the second was stopped", left)
		}
	})
	first.mustRun(t, "down")
	if left := running(status); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	if _, err := os.Stat(string(first.directory)); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	first.mustFail(t, []string{"no lab is running in", first.program + " up --dir"}, "status")
}

func checkStatus(t *testing.T, status statusText) {
	t.Helper()
	if !status.Running || !status.Ready || status.ResidentBytes < 50<<20 {
		t.Errorf("status is %+v", status)
	}
	if len(status.Components) != len(controlPlane) {
		t.Fatalf("%d components, want %v", len(status.Components), controlPlane)
	}
	for i, component := range status.Components {
		if component.Name != controlPlane[i] || component.State != "ready" || component.ResidentBytes < 10<<20 ||
			!process.Alive(component.Pid, component.Birth) || time.Since(component.Started) > time.Hour {
			t.Errorf("component %d is %+v, want %s, ready", i, component, controlPlane[i])
		}
	}
}

func checkModes(t *testing.T, s site) {
	t.Helper()
	err := filepath.WalkDir(string(s.directory), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if secret := strings.HasSuffix(path, ".key") || strings.Contains(path, "kubeconfig") || path == string(s.directory); secret && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %s", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A new lab cleans up after one whose supervisor was killed. When a component dies, the lab says which
// and why, and ends.
func TestSuddenDeaths(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.up(t)
	status := s.status(t)
	if err := syscall.Kill(status.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of everything after the supervisor was killed", func() bool { return len(running(status)) == 0 })
	s.mustFail(t, []string{"no lab is running"}, "status")

	lab := startInForeground(t, s)
	status = s.status(t)
	for _, component := range status.Components {
		if component.Name == "kube-scheduler" {
			if err := syscall.Kill(component.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	said, err := lab.wait(t)
	if err == nil {
		t.Error("a lab whose scheduler was killed ends with success")
	}
	for _, want := range []string{"kube-scheduler ended with signal: killed", "the last lines of its log", s.directory.Log("kube-scheduler")} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if left := running(status); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	if text := s.mustRun(t, "logs", "kube-scheduler"); text == "" {
		t.Error("the log of the one that died is gone")
	}
	if text := s.mustRun(t, "down"); !strings.Contains(text, "had ended already") {
		t.Errorf("down says %q", text)
	}
	if _, err := os.Stat(string(s.directory)); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestCtrlCEndsTheLab(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lab := startInForeground(t, s)
	status := s.status(t)
	if err := lab.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	said, err := lab.wait(t)
	if err != nil || !strings.Contains(said, "nothing is left running") {
		t.Errorf("it ended with %v:\n%s", err, said)
	}
	if strings.Contains(said, "had to be killed") {
		t.Errorf("it did not end gently:\n%s", said)
	}
	if left := running(status); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	if _, err := os.Stat(string(s.directory)); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// foreground is a lab that is started as in a terminal, without --detach.
type foreground struct {
	cmd    *exec.Cmd
	output *bytes.Buffer // may be read when it has ended
	ended  chan error
}

func startInForeground(t *testing.T, s site) foreground {
	t.Helper()
	lab := foreground{output: &bytes.Buffer{}, ended: make(chan error, 1)}
	lab.cmd = exec.Command(s.program, "up", "--controller", "none", "--dir", string(s.directory))
	lab.cmd.Stdout, lab.cmd.Stderr = lab.output, lab.output
	if err := lab.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { lab.ended <- lab.cmd.Wait() }()
	limit := time.After(2 * time.Minute)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-lab.ended:
			t.Fatalf("the lab ended: %v\n%s", err, lab.output)
		case <-limit:
			t.Fatal("the lab was not ready within two minutes")
		case <-ticker.C:
			record, found, err := s.directory.Load()
			if err == nil && found && record.Ready && record.Pid == lab.cmd.Process.Pid {
				return lab
			}
		}
	}
}

func (f foreground) wait(t *testing.T) (string, error) {
	t.Helper()
	select {
	case err := <-f.ended:
		return f.output.String(), err
	case <-time.After(patience):
		t.Fatalf("the lab did not end within %s", patience)
		return "", nil
	}
}

func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, tc := range []struct {
		args  []string
		wants []string
	}{
		{[]string{"up", "--controller", "karpenter"}, []string{`controller "karpenter" is not known`, "tenon, memory or none"}},
		{[]string{"up", "--api-port", "70000"}, []string{"--api-port 70000"}},
		{[]string{"up", "--boot-delay", "-1s"}, []string{"--boot-delay -1s"}},
		{[]string{"up", "--heartbeat", "1ms"}, []string{"--heartbeat 1ms"}},
		{[]string{"status"}, []string{"no lab is running in"}},
		{[]string{"status", "-o", "yaml"}, []string{`output "yaml" is not known`}},
		{[]string{"logs", "etcd"}, []string{"there are no logs in"}},
		{[]string{"node", "add", "x"}, []string{"no lab is running in"}},
		{[]string{"coffee"}, []string{`unknown command "coffee"`}},
		{[]string{"node", "coffee"}, []string{`unknown command "coffee"`}},
		{[]string{"up", "coffee"}, []string{`unknown command "coffee"`}},
	} {
		s.mustFail(t, tc.wants, tc.args...)
	}
	if text := s.mustRun(t, "down"); !strings.Contains(text, "no lab is running") {
		t.Errorf("down without a lab says %q", text)
	}
	if _, err := os.Stat(string(s.directory)); !os.IsNotExist(err) {
		t.Errorf("a mistake left a directory: %v", err)
	}
}
