package release

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/lab/labtest"
	"tenon/lab/pki"
	"tenon/lab/state"
)

const namespace = "kube-system"

// controllerKey is the access key on which the lab enforces the policies of the CloudFormation template.
const controllerKey = "AKIATENON"

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// run starts the controller as the Deployment of this name in the cluster specifies, and returns a function that ends
// it.
func (s *site) run(name string) (stop func()) {
	s.Helper()
	program, err := labtest.Product()
	if err != nil {
		s.Fatal(err)
	}
	d, err := s.lab.Clients.AppsV1().Deployments(namespace).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	log, err := os.Create(filepath.Join(s.TempDir(), "tenon.log"))
	if err != nil {
		s.Fatal(err)
	}
	c := exec.Command(program, d.Spec.Template.Spec.Containers[0].Args...)
	c.Env, c.Stdout, c.Stderr = s.environment(d), log, log
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended already; the error below says how
		select {
		case err := <-ended:
			if err != nil {
				s.Errorf("the controller ended with %v", err)
			}
		case <-time.After(labtest.Within):
			_ = c.Process.Kill()
			s.Error("the controller does not end")
		}
		if text, err := os.ReadFile(log.Name()); err == nil && s.Failed() {
			lines := strings.Split(string(text), "\n")
			s.Logf("the end of the controller's log:\n%s", strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
	}
	s.Cleanup(stop)
	return stop
}

// environment returns the container's environment, as a kubelet resolves it, with the variables that EKS
// and the emulated AWS add.
func (s *site) environment(d *appsv1.Deployment) []string {
	s.Helper()
	container := d.Spec.Template.Spec.Containers[0]
	// In a pod the credentials and the namespace are files.
	all := []string{"KUBECONFIG=" + s.credentials(d.Spec.Template.Spec.ServiceAccountName), "LEADER_ELECTION_NAMESPACE=" + namespace}
	for _, e := range container.Env {
		all = append(all, e.Name+"="+resolved(e, container))
	}
	// A pod has its ports for itself.
	all = append(all, "METRICS_PORT="+s.ports[0], "HEALTH_PROBE_PORT="+s.ports[1])
	return append(append(all, s.inAccount()...), "AWS_ACCESS_KEY_ID="+controllerKey)
}

func resolved(e v1.EnvVar, c v1.Container) string {
	switch from := e.ValueFrom; {
	case from == nil:
		return e.Value
	case from.FieldRef != nil:
		return namespace // the chart asks for no other field
	case from.ResourceFieldRef.Resource == "limits.memory":
		return strconv.FormatInt(c.Resources.Limits.Memory().Value(), 10)
	default:
		return strconv.FormatInt(c.Resources.Requests.Cpu().MilliValue(), 10)
	}
}

// credentials returns a kubeconfig with a token of the ServiceAccount, as the kubelet would mount it.
func (s *site) credentials(account string) string {
	s.Helper()
	answer, err := s.lab.Clients.CoreV1().ServiceAccounts(namespace).CreateToken(s.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	path := filepath.Join(s.TempDir(), "kubeconfig")
	text := pki.TokenKubeconfig(s.lab.Config.Host, s.lab.Config.CAData, fmt.Sprintf("system:serviceaccount:%s:%s", namespace, account), answer.Status.Token)
	if err := state.WriteFile(path, text); err != nil {
		s.Fatal(err)
	}
	return path
}
