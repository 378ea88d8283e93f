package disruption_test

import (
	"context"
	"strings"
	"testing"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// every is 1, or, with -short, larger: make race tries some of the writes, since the race detector finds in one what it finds in
// another, and make test tries all.
func every(larger int) int {
	if testing.Short() {
		return larger
	}
	return 1
}

// Wherever the process dies, before a write or after it, the next one brings the nodes to the same
// end: no node is closed without need, and nothing is bought twice.
func TestACrashAtAnyWrite(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for at := 1; ; at += every(5) {
			if !crashAt(t, at, after) {
				if at < 10 {
					t.Fatalf("there are only %d writes: nothing was disrupted", at-1)
				}
				break
			}
		}
	}
}

// crashAt makes the process die at a write; it reports whether there were that many writes.
func crashAt(t *testing.T, at int, after bool) bool {
	t.Helper()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	writes, dead := 0, false
	h.Fail(func(c harness.Call) error {
		if c.IsWrite() {
			writes++
		}
		if dead = dead || writes > at || writes == at && !after; dead {
			return harness.ErrBroken
		}
		return nil
	})
	for range 12 {
		h.Clock.Step(time.Second)
		h.initialize()
		h.watch()
		_, _ = h.evaluate.Reconcile(context.Background(), noKey)
		h.watch()
		_, _ = h.conduct.Reconcile(context.Background(), noKey)
	}
	h.Fail(nil)
	h.start()
	for range 6 {
		h.pass(5 * time.Second)
		h.initialize()
	}
	h.pass(5 * time.Second)
	gone, alive := 0, 0
	for _, line := range h.picture() {
		switch {
		case strings.Contains(line, "deleted"):
			gone++
		case strings.HasPrefix(line, "web-"):
			alive++
		}
		if !strings.Contains(line, "deleted") && (strings.Contains(line, "recorded") || strings.Contains(line, "closed")) {
			t.Errorf("write %d: something is left: %s", at, line)
		}
	}
	if gone != 2 || alive != 1 {
		t.Errorf("write %d (after it: %t): %d nodes went for %d\n%s", at, after, gone, alive, strings.Join(h.picture(), "\n"))
	}
	return dead
}

// A pool in which nothing can be bought, or a node that cannot be tainted, does not block other
// disruptions.
func TestOneStuckCommandBlocksNoOther(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.pass(2 * time.Second) // both wait for their replacement, which never comes
	h.machine(machine{name: "later", kind: "general-4", capacity: catalog.OnDemand})
	h.pass(15 * time.Second)
	if claim := h.Claim("later"); claim.DeletionTimestamp == nil {
		t.Errorf("the empty node waits for the others: %v", h.picture())
	}
	if claim := h.Claim("a"); claim.DeletionTimestamp != nil || claim.Annotations[karpenterv1.AnnotationDisruption] == "" {
		t.Errorf("the node with a pod does not wait any more: %v", h.picture())
	}
}

// Replacements that are not ready in time are abandoned, and the nodes take pods again.
func TestReplacementsThatNeverCome(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.pass(2 * time.Second)
	h.Clock.Step(11 * time.Minute)
	h.watch()
	h.Run(h.conduct, "")
	h.expect("a: ", "b: ", "web-00003: deleted recorded rearranged")
}

// A process that starts does not know yet what pools can buy. When it does, it decides again at once:
// nothing else may change for long.
func TestPoolsThatCannotBuyYet(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	h.closed = true
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.pass(12 * time.Second)
	h.expect("a: ", "b: ")
	h.closed = false
	h.pass(2 * time.Second)
	h.expect("a: closed Underutilized recorded", "b: closed Underutilized recorded", "web-00003: recorded rearranged")
}

// A disruption that was taken back before it was visible is decided again soon.
func TestWhatWasTakenBackIsDecidedAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.Fail(func(c harness.Call) error {
		if c.IsWrite() && c.Name == "b" {
			return harness.ErrBroken
		}
		return nil
	})
	h.watch()
	_, _ = h.evaluate.Reconcile(context.Background(), noKey)
	h.expect("a: ", "b: ")
	h.Fail(nil)
	h.pass(11 * time.Second)
	h.expect("a: closed Underutilized recorded", "b: closed Underutilized recorded", "web-00006: recorded rearranged")
}

// A claim that is being deleted keeps its record: a process that starts takes the command up, unless that was over long ago.
func TestClaimsThatDrainForLongTellOfNoCommand(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{time.Minute: 2, world.PastFor: 1} {
		h := newFixture(t, web())
		h.machine(machine{name: "a", kind: "general-8", capacity: catalog.OnDemand})
		h.pass(5 * time.Second)
		h.expect("a: deleted closed Empty recorded")
		ended := h.world.Disruptions().Ended()
		h.Clock.Step(wait)
		h.start()
		h.watch()
		h.Run(h.conduct, "")
		if ended += h.world.Disruptions().Ended(); ended != want {
			t.Errorf("restarted after %s: a command ended %d times, want %d", wait, ended, want)
		}
	}
}

// Commands of another process count in budgets as soon as they are seen, before the node is closed:
// when leaders change, two may be alive for a moment.
func TestWhatOthersHaveBegunCountsInBudgets(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web(func(p *karpenterv1.NodePool) { p.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "1"}} }))
	h.closed = true // nothing is begun until there is something to buy
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.watch()
	h.Run(h.evaluate, "")
	claim := h.Claim("a")
	claim.Annotations = map[string]string{karpenterv1.AnnotationDisruption: (&command.Record{
		ID: "theirs", Reason: plan.Underutilized, Begun: h.Clock.Now(), Claims: []command.Member{{Claim: "a", Pool: "web"}},
	}).String()}
	h.Put(claim)
	h.closed = false
	h.Clock.Step(11 * time.Second)
	h.watch()
	h.Run(h.evaluate, "")
	h.expect("a: recorded", "b: ")
}

// An empty node that cannot be written does not keep other nodes.
func TestEmptyNodesGoByThemselves(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-4", capacity: catalog.OnDemand})
	}
	h.Fail(func(c harness.Call) error {
		if c.IsWrite() && (c.Name == "b" || c.Name == "node-b") {
			return harness.ErrBroken
		}
		return nil
	})
	h.watch()
	_, _ = h.evaluate.Reconcile(context.Background(), noKey)
	h.expect("a: closed Empty recorded", "b: ")
}

// Marks that belong to no command are removed: an earlier process set them.
func TestMarksWithoutACommandAreTakenBack(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web(func(p *karpenterv1.NodePool) { p.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "0"}} }))
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand, pods: 2})
	h.mark("a")
	h.pass(2 * time.Second)
	h.expect("a: ")
}
