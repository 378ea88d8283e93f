package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/lab/labtest"
	"tenon/lab/pages"
)

// The page for EKS, from top to bottom: an empty cluster gets Tenon from the charts alone, and nodes, and is empty again. What makes the
// account and the cluster is played, and so are the controller's pods; Helm, kubectl, the API server, the controller and its policies are real.
func TestGettingStartedOnEKS(t *testing.T) {
	t.Parallel()
	s := newSite(t, labtest.Options{NodeRole: "KarpenterNodeRole-demo"})
	before := s.everything()
	steps, err := pages.Read("docs/getting-started-eks.md")
	if err != nil {
		t.Fatal(err)
	}
	controller := filepath.Join(t.TempDir(), "controller.env")
	shell := pages.NewShell(t, append(s.inAccount(), "KUBECONFIG="+s.lab.Directory.Kubeconfig(), pages.ControllerEnv+"="+controller)...)
	stop := func() {}
	start := func() {
		d, err := s.lab.Clients.AppsV1().Deployments(namespace).Get(t.Context(), "tenon", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(controller, []byte(strings.Join(s.environment(d), "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		stop = s.run("tenon")
	}
	shell.Run(steps,
		pages.Want{Command: "helm upgrade --install tenon charts/tenon ", Prints: "STATUS: deployed", After: start},
		pages.Want{Command: "kubectl exec", Prints: " 0 warnings, 0 failed"},
		pages.Want{Command: "bin/tenon validate", Prints: "0 errors, 0 warnings"},
		pages.Want{Command: "kubectl get nodeclaims -w", Prints: `(?m)^default-\w+ .* True `},
		pages.Want{Command: "kubectl get nodeclaims -w", Prints: "No resources found"},
		pages.Want{Command: "helm uninstall tenon --namespace", After: func() { stop() }},
	)
	left, err := pages.Left(shell.Account())
	if err != nil || len(left) > 0 {
		t.Errorf("the page leaves %v in the account: %v", left, err)
	}
	s.forget()
	s.asBefore(before)
}

// inAccount is the environment of an administrator of the emulated AWS.
func (s *site) inAccount() []string {
	s.Helper()
	text, err := os.ReadFile(s.lab.Directory.Environment())
	if err != nil {
		s.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "AWS_") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
