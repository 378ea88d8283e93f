package disruption_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/core/catalog"
	"tenon/internal/reconcile"
)

// logged collects the lines of a controller.
func logged(c *reconcile.Controller, lines *[]string) {
	log := funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{})
	next := c.Reconcile
	c.Reconcile = func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
		return next(logr.NewContext(ctx, log), key)
	}
}

func count(lines []string, text string) (n int) {
	for _, line := range lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// Operators look for the line that says that a disruption was carried out. There is one for each.
func TestACommandThatSucceededIsLogged(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	var lines []string
	logged(&h.conduct, &lines)
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
	h.pass(10 * time.Second)
	if n := count(lines, `"command succeeded" "command-id"=`); n != 1 || count(lines, `"decision"="delete"`) == 0 {
		t.Errorf("said %d times: %v", n, lines)
	}
}

// A budget that cannot be read stops the disruption of its pool, and the log says which pool.
func TestABrokenBudgetIsLogged(t *testing.T) {
	t.Parallel()
	pool, nonsense := web(), "every now and then"
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "1", Schedule: &nonsense, Duration: &scalar.Duration{Duration: time.Hour}}}
	h := newFixture(t, pool)
	var lines []string
	logged(&h.evaluate, &lines)
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
	h.pass(10 * time.Second)
	h.expect("a: ")
	if count(lines, "detected disruption budget errors") == 0 || count(lines, `"NodePool"="web"`) == 0 {
		t.Errorf("log: %v", lines)
	}
}
