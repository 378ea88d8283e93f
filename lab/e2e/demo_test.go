package e2e

import (
	"strings"
	"testing"

	"tenon/lab/labtest"
)

// The demo says what to watch and to type, buys a machine for its workload, says what it costs, and
// ends without leaving anything.
func TestDemo(t *testing.T) {
	t.Parallel()
	tenon, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	s := besideTenon(t, tenon)
	s.mustFail(t, []string{"--demo shows --controller tenon"}, "up", "--demo", "--controller", "none")
	said := s.mustRun(t, "up", "--detach", "--demo", "--boot-delay", "300ms")
	for _, want := range []string{"export KUBECONFIG=", "kubectl get nodeclaims -w", "http://127.0.0.1:", "the fleet as it grows and shrinks", "/lab/faults", "tenon plan --kubeconfig", "down --dir"} {
		if !strings.Contains(said, want) {
			t.Errorf("up does not say %q:\n%s", want, said)
		}
	}
	for _, want := range []string{"inflate is scaled to 3 pods", "on-demand, $", "machines: 1, together $", "3 pods of inflate run"} {
		until(t, "the demo says "+want, func() bool {
			text, err := s.run("logs", "supervisor", "--tail", "20")
			return err == nil && strings.Contains(text, want)
		})
	}
	status := s.status(t)
	s.mustRun(t, "down")
	until(t, "nothing is left running", func() bool { return len(running(status)) == 0 }) // the supervisor ends last
}
