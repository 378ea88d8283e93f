package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"tenon/lab/labtest"
	"tenon/lab/machine"
)

// site is a lab with the checkout from which its user works.
type site struct {
	*testing.T
	lab   *labtest.Lab
	root  string
	ports [2]string // of the controller: metrics and probes
}

// critical keeps pods of users off the machines of the controller.
var critical = v1.Taint{Key: "CriticalAddonsOnly", Value: "true", Effect: v1.TaintEffectNoSchedule}

// newSite starts an empty cluster with two machines in two zones, on which the controller's pods may run.
func newSite(t *testing.T, options labtest.Options) *site {
	t.Helper()
	root, err := labtest.Repository()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, lab: bare(t, options), root: root, ports: [2]string{freePort(t), freePort(t)}}
	for name, zone := range map[string]string{"system-a": "us-west-2a", "system-b": "us-west-2b"} {
		s.lab.Nodes(t, machine.Form{CPU: "4", Memory: "16Gi", Pods: "110", Zone: zone, Taints: []v1.Taint{critical}}, name)
	}
	return s
}

// page returns the text of the page with the commands.
func (s *site) page() string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, "docs", "install.md"))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// commands returns the lines of the page that begin with words, each as one line and once.
func (s *site) commands(words string) []string {
	s.Helper()
	var found []string
	for line := range strings.Lines(strings.ReplaceAll(s.page(), "\\\n", "")) {
		command := strings.Join(strings.Fields(line), " ")
		if strings.HasPrefix(line, "    ") && strings.HasPrefix(command, words) && !slices.Contains(found, command) {
			found = append(found, command)
		}
	}
	if len(found) == 0 {
		s.Fatalf("docs/install.md has no command %q", words)
	}
	return found
}

// documented checks that the page contains a command that a test performs in its own code.
func (s *site) documented(command string) {
	s.Helper()
	if !strings.Contains(s.page(), command) {
		s.Errorf("docs/install.md does not say %q", command)
	}
}

// install runs the page's commands that install and upgrade, with the charts of a folder.
func (s *site) install(from string) {
	s.Helper()
	for _, command := range s.commands("helm upgrade --install") {
		command = strings.NewReplacer("REGISTRY", "registry.example", "TAG", "v0").Replace(command)
		s.helm(from, command)
	}
}

// helm runs a command line of Helm.
func (s *site) helm(folder, command string) {
	s.Helper()
	helm, err := labtest.Helm()
	if err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(s.Context(), helm, strings.Fields(command)[1:]...)
	c.Dir = folder
	home := s.TempDir()
	c.Env = append(os.Environ(), "KUBECONFIG="+s.lab.Directory.Kubeconfig(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	output, err := c.CombinedOutput()
	s.Logf("%s\n%s", command, output)
	if err != nil {
		s.Fatalf("%s: %v", command, err)
	}
}

// formerCharts returns a folder with the charts before their last change, or today's charts if git does not
// have that change, as in a shallow clone.
func (s *site) formerCharts() string {
	s.Helper()
	commits, err := s.git("rev-list", "--max-count=2", "HEAD", "--", "charts/tenon", "charts/tenon-crd", "api/crds")
	list := strings.Fields(commits)
	if err != nil || len(list) < 2 {
		s.Logf("git knows no former charts: %v", err)
		return s.root
	}
	folder := s.TempDir()
	if _, err := s.git("--work-tree="+folder, "restore", "--source="+list[1], "--worktree", "--", "charts", "api/crds"); err != nil {
		s.Fatal(err)
	}
	return folder
}

func (s *site) git(args ...string) (string, error) {
	c := exec.CommandContext(s.Context(), "git", args...)
	c.Dir = s.root
	output, err := c.Output()
	return string(output), err
}
