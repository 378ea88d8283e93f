package release

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"tenon/lab/labtest"
	"tenon/lab/pages"
)

// The page about shadow mode: its Helm command installs a second release beside a release of Karpenter, which goes on buying
// nodes alone; the report compares them.
func TestShadowBesideKarpenter(t *testing.T) {
	t.Parallel()
	s := newSite(t, labtest.Options{})
	s.installKarpenter()
	s.run("karpenter")
	steps, err := pages.Read("docs/reference/shadow.md")
	if err != nil {
		t.Fatal(err)
	}
	s.helm(s.root, strings.Join(strings.Fields(strings.ReplaceAll(steps[0].Command, "\\\n", " ")), " "))
	s.ports = [2]string{freePort(t), freePort(t)}
	s.run("shadow-tenon")
	s.use(3)

	program, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	s.lab.Eventually(t, "the report has compared", func(ctx context.Context) (bool, string) {
		printed, err := exec.CommandContext(ctx, program, "shadow", "report", "--url", "http://127.0.0.1:"+s.ports[0]).CombinedOutput()
		return err == nil && strings.Contains(string(printed), "3 pods waited for a node and got one"), fmt.Sprintf("%v: %s", err, printed)
	})
	if claims := s.claims(); len(claims) != len(s.machines()) {
		t.Errorf("%d claims and %d machines", len(claims), len(s.machines()))
	}
}
