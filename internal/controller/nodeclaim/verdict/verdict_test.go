package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/controller/nodeclaim/verdict"
	"tenon/internal/evaluation"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is a rig with a board and the controller.
type fixture struct {
	*harness.Harness
	board *evaluation.Nodes
	c     reconcile.Controller
	pools []snapshot.Pool
}

func build(t *testing.T, claims ...string) *fixture {
	t.Helper()
	h := &fixture{Harness: harness.New(t, memory.Options{}, harness.Pool("web")), board: evaluation.NewNodes()}
	for _, name := range claims {
		h.Settled(name, "web")
	}
	h.c = verdict.New(h.Kit, h.board)
	return h
}

// evaluate publishes prospects with the present time; disruptions are those to which chosen
// prospects refer.
func (h *fixture) evaluate(list []plan.Prospect, disruptions ...plan.Disruption) {
	s := &snapshot.Snapshot{Now: h.Clock.Now(), Pools: h.pools}
	h.board.Put(s, &decide.Decision{Plan: plan.Plan{Prospects: list, Disruptions: disruptions}})
}

func (h *fixture) run() reconcile.Result { return h.Run(h.c, "") }

// writes counts the writes of the API since the last time.
func (h *fixture) writes() int {
	n := 0
	for _, call := range h.Calls() {
		if call.IsWrite() {
			n++
		}
	}
	return n
}

// said is the condition of a claim.
func (h *fixture) said(claim string) string {
	for _, c := range h.Claim(claim).Status.Conditions {
		if c.Type == karpenterv1.ConditionDisruptable {
			return fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

func (h *fixture) gauge(g prometheus.Gauge) float64 {
	var metric dto.Metric
	h.Must(g.Write(&metric))
	return metric.GetGauge().GetValue()
}

func kept(claim string, cause reason.Cause) plan.Prospect {
	return plan.Prospect{Node: "node-" + claim, Claim: claim, Pool: "web", Kind: plan.Kept, Reason: plan.Underutilized, Cause: cause}
}

func blocked(claim string, code reason.Code, where string) plan.Prospect {
	return plan.Prospect{Node: "node-" + claim, Claim: claim, Pool: "web", Kind: plan.Blocked, Cause: reason.Cause{Code: code, Where: where}}
}

func waiting(claim string, until time.Time) plan.Prospect {
	return plan.Prospect{Node: "node-" + claim, Claim: claim, Pool: "web", Kind: plan.Waiting, Cause: reason.Cause{Code: reason.RecentActivity}, Until: until}
}

func chosen(claim string, disruption int) plan.Prospect {
	return plan.Prospect{Node: "node-" + claim, Claim: claim, Pool: "web", Kind: plan.Chosen, Reason: plan.Underutilized, Disruption: disruption}
}

const dearText = "Can't replace with a cheaper node"

var dear = reason.Cause{Code: reason.NotCheaper}

// Each sort of answer is a condition that reads well beside the others, and none of them
// makes a claim less ready.
func TestCondition(t *testing.T) {
	t.Parallel()
	h := build(t, "a", "b", "c", "d")
	until := h.Clock.Now().Add(time.Hour)
	one := plan.Disruption{Nodes: make([]plan.Removal, 1), Moves: []plan.Placement{{Pods: []snapshot.PodIndex{1, 2}}}, Savings: 120_000}
	h.evaluate([]plan.Prospect{
		kept("a", dear), blocked("b", reason.PodDisruptionBudget, "default/web"),
		waiting("c", until), chosen("d", 0),
	}, one)
	h.run()
	if got, want := h.said("d"), "True Underutilized Will be deleted: 2 pods move, saves 0.12 an hour"; got != want {
		t.Errorf("told late what will be done:\n got %s\nwant %s", got, want)
	}
	if got := h.said("a"); got != "" {
		t.Errorf("%s: told before it has stood", got)
	}
	h.Clock.Step(10 * time.Second)
	h.run()
	for claim, want := range map[string]string{
		"a": "False Kept " + dearText,
		"b": "False Blocked Pdb prevents pod evictions (PodDisruptionBudget=[default/web])",
		"c": "Unknown Waiting A pod has come or gone within consolidateAfter; looked at again after " + until.UTC().Format(time.RFC3339),
	} {
		if got := h.said(claim); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		if conditions := h.Claim(claim).Conditions(h.Clock.Now()); !conditions.IsTrue("Ready") {
			t.Errorf("%s is no longer ready", claim)
		}
	}
}

// Nothing is written that is there already, however often the fleet is evaluated; after a
// restart neither, but for a time that has moved meanwhile.
func TestWhatIsSaidIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	h := build(t, "a", "b")
	until := h.Clock.Now().Add(time.Minute)
	for round := range 20 {
		// A busy node: consolidateAfter begins anew all the time.
		h.evaluate([]plan.Prospect{kept("a", dear), waiting("b", until.Add(time.Duration(round)*time.Second))})
		h.run()
		h.Clock.Step(2 * time.Second)
	}
	if n := h.writes(); n != 2 {
		t.Errorf("%d writes", n)
	}
	h.c = verdict.New(h.Restart(), h.board)
	for round, want := range []int{1, 0} {
		h.run()
		if n := h.writes(); n != want {
			t.Errorf("%d writes in round %d after a restart", n, round)
		}
	}
	h.Clock.Step(time.Minute) // what was said of b is over
	h.evaluate([]plan.Prospect{kept("a", dear), waiting("b", until.Add(5*time.Minute))})
	h.run()
	if got := h.said("b"); !strings.HasSuffix(got, until.Add(5*time.Minute).UTC().Format(time.RFC3339)) {
		t.Errorf("%s: out of date", got)
	}
	h.evaluate([]plan.Prospect{kept("a", dear), waiting("b", until.Add(3*time.Minute))})
	h.Clock.Step(time.Minute)
	h.run()
	if got := h.said("b"); !strings.HasSuffix(got, until.Add(3*time.Minute).UTC().Format(time.RFC3339)) {
		t.Errorf("%s: it may be sooner", got)
	}
}

// An answer that changes with every evaluation is written once a minute.
func TestFlipping(t *testing.T) {
	t.Parallel()
	h := build(t, "a")
	one := plan.Disruption{Nodes: make([]plan.Removal, 1)}
	for round := range 60 { // ten minutes
		if round%2 == 0 {
			h.evaluate([]plan.Prospect{chosen("a", 0)}, one)
		} else {
			h.evaluate([]plan.Prospect{kept("a", dear)})
		}
		h.run()
		h.Clock.Step(10 * time.Second)
	}
	if n := h.writes(); n > 11 {
		t.Errorf("%d writes in ten minutes", n)
	}
}

// While many nodes are being removed, what keeps the others is told once it has been the same for a minute; of those that go it is told at once.
func TestManyLeaving(t *testing.T) {
	t.Parallel()
	for leaving, wait := range map[int]time.Duration{10: 10 * time.Second, 11: time.Minute} {
		names := []string{"stays", "goes"}
		for i := range leaving {
			names = append(names, fmt.Sprintf("leaving-%02d", i))
		}
		h := build(t, names...)
		for _, name := range names[2:] {
			claim := h.Claim(name)
			conditions := claim.Conditions(h.Clock.Now())
			conditions.SetTrueBecause(karpenterv1.ConditionDisruptionReason, "Empty", "Empty")
			claim.Status.Conditions = conditions.List()
			h.Put(claim)
		}
		h.evaluate([]plan.Prospect{kept("stays", dear), chosen("goes", 0)}, plan.Disruption{Nodes: make([]plan.Removal, 1)})
		h.Clock.Step(wait - time.Second)
		h.run()
		if h.said("stays") != "" || h.said("goes") == "" {
			t.Errorf("%d leave: too soon, %q stays and %q goes", leaving, h.said("stays"), h.said("goes"))
		}
		h.Clock.Step(time.Second)
		h.run()
		if h.said("stays") == "" {
			t.Errorf("%d leave: nothing is told after %s", leaving, wait)
		}
	}
}

// Verdicts of a large fleet are written for twenty claims a second, first for those that will be
// disrupted, and once for each.
func TestManyClaims(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 45 {
		names = append(names, fmt.Sprintf("claim-%02d", i))
	}
	h := build(t, names...)
	var list []plan.Prospect
	for _, name := range names[:44] {
		list = append(list, kept(name, dear))
	}
	h.evaluate(append(list, chosen("claim-44", 0)), plan.Disruption{Nodes: make([]plan.Removal, 1)})
	h.Clock.Step(10 * time.Second)
	h.writes()
	var rounds []int
	for len(rounds) < 4 {
		result := h.run()
		rounds = append(rounds, h.writes())
		if len(rounds) == 1 && h.said("claim-44") == "" {
			t.Error("the node that will go was not told first")
		}
		if len(rounds) < 3 && result.After > time.Second {
			t.Errorf("looks again in %s", result.After)
		}
		h.Clock.Step(time.Second)
	}
	if diff := cmp.Diff([]int{20, 20, 5, 0}, rounds); diff != "" {
		t.Errorf("writes by turn (-want +got):\n%s", diff)
	}
}

// Who is faster wins; the condition comes in a later turn, and nothing of theirs is lost.
func TestConflict(t *testing.T) {
	t.Parallel()
	h := build(t, "a")
	h.evaluate([]plan.Prospect{kept("a", dear)})
	h.Clock.Step(10 * time.Second)
	h.Hold(h.Claim("a"))
	claim := h.Claim("a")
	claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: karpenterv1.ConditionDrifted, Status: metav1.ConditionTrue,
		ObservedGeneration: 1, Reason: "NodePoolDrifted", LastTransitionTime: metav1.NewTime(h.Clock.Now())})
	h.Must(h.API.Status().Update(t.Context(), claim))
	h.Fail(func(c harness.Call) error {
		if c.Verb == "patch status" {
			return harness.Conflict(c)
		}
		return nil
	})
	if result := h.run(); result.After > time.Second || h.said("a") != "" {
		t.Errorf("looks again in %s, said %q", result.After, h.said("a"))
	}
	h.Release()
	h.Fail(nil)
	h.Clock.Step(time.Second)
	h.run()
	if conditions := h.Claim("a").Conditions(h.Clock.Now()); h.said("a") != "False Kept "+dearText || !conditions.IsTrue(karpenterv1.ConditionDrifted) {
		t.Errorf("said %q: %v", h.said("a"), conditions.List())
	}
}

// Claims that start are left to those who start them, those that are deleted to those who
// drain them; those that go already keep what was said when they were chosen.
func TestClaimsThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := build(t, "deleted", "chosen", "going")
	h.Named("young", "web")
	h.Delete(h.Claim("deleted"))
	h.evaluate([]plan.Prospect{chosen("chosen", 0)}, plan.Disruption{Nodes: make([]plan.Removal, 1)})
	h.run()
	said := h.said("chosen")
	for _, name := range []string{"chosen", "going"} {
		claim := h.Claim(name)
		conditions := claim.Conditions(h.Clock.Now())
		conditions.SetTrueBecause(karpenterv1.ConditionDisruptionReason, "Underutilized", "Underutilized")
		claim.Status.Conditions = conditions.List()
		h.Must(h.API.Status().Update(t.Context(), claim))
	}
	going := func(claim string) plan.Prospect {
		return plan.Prospect{Node: "node-" + claim, Claim: claim, Kind: plan.Blocked, Cause: reason.Cause{Code: reason.BeingDisrupted, Where: "Underutilized"}}
	}
	list := []plan.Prospect{blocked("young", reason.NotInitialized, ""), blocked("deleted", reason.NodeLeaving, ""), going("chosen"), going("going")}
	h.evaluate(list)
	h.Clock.Step(time.Minute)
	h.run()
	for claim, want := range map[string]string{
		"young": "", "deleted": "", "chosen": said, "going": "True Underutilized Node is being disrupted: Underutilized",
	} {
		if got := h.said(claim); got != want {
			t.Errorf("%s:\n got %s\nwant %s", claim, got, want)
		}
	}
	if events := h.Events(); len(events) > 0 {
		t.Errorf("events: %v", events)
	}
	h.Clock.Step(5 * time.Minute)
	h.run()
	if got := h.said("young"); got != "False Blocked Node isn't initialized" {
		t.Errorf("five minutes later it is %q", got)
	}
	if want := []string{"Normal DisruptionBlocked young: Node isn't initialized"}; !slices.Equal(h.Events(), want) {
		t.Errorf("events: %v", h.Events())
	}
}

// Coverage has an age, and grows older when evaluations stop; eligible nodes are counted.
func TestGauges(t *testing.T) {
	t.Parallel()
	h := build(t, "a", "b")
	age := func() float64 {
		h.run()
		return h.gauge(h.Kit.Metrics.VoluntaryDisruptionCoverageAgeSeconds.WithLabelValues())
	}
	if got := age(); got != 0 {
		t.Errorf("before the first evaluation: %v", got)
	}
	h.evaluate([]plan.Prospect{kept("a", dear), kept("b", dear)})
	h.Clock.Step(30 * time.Second)
	skipped := kept("b", reason.Cause{Code: reason.NotLookedAt})
	skipped.Kind = plan.Waiting
	h.evaluate([]plan.Prospect{kept("a", dear), skipped})
	if got := age(); got != 30 {
		t.Errorf("b was looked at 30 seconds ago, and not %v", got)
	}
	h.evaluate([]plan.Prospect{kept("a", dear), kept("b", dear)})
	h.Clock.Step(40 * time.Second)
	if got := age(); got != 40 {
		t.Errorf("no evaluation for 40 seconds: %v", got)
	}
	if got := h.gauge(h.Kit.Metrics.VoluntaryDisruptionEligibleNodes.WithLabelValues("underutilized")); got != 2 {
		t.Errorf("%v eligible", got)
	}
	if result := h.run(); result.After == 0 || result.After > 10*time.Second {
		t.Errorf("looks again in %s", result.After)
	}
}

// The condition never speaks of a time that is over, even if no evaluation has come since, and a
// claim that is deleted does not say that it stays.
func TestTimesThatAreOver(t *testing.T) {
	t.Parallel()
	h := build(t, "a", "b", "c")
	one := plan.Disruption{Nodes: make([]plan.Removal, 1)}
	h.evaluate([]plan.Prospect{waiting("a", h.Clock.Now().Add(25*time.Second)), kept("b", dear), chosen("c", 0)}, one)
	h.Clock.Step(10 * time.Second)
	h.run()
	if got := h.said("a"); !strings.Contains(got, "; looked at again after ") {
		t.Fatalf("said %q", got)
	}
	chosenText := h.said("c")
	h.Clock.Step(15 * time.Second)
	h.run()
	if got, want := h.said("a"), "Unknown Waiting A pod has come or gone within consolidateAfter; looked at again with the next evaluation"; got != want {
		t.Errorf("when the time is over:\n got %s\nwant %s", got, want)
	}
	h.Clock.Step(10 * time.Second)
	for _, name := range []string{"b", "c"} {
		claim := h.Claim(name)
		claim.Finalizers = []string{"karpenter.sh/termination"}
		h.Put(claim)
		h.Must(h.API.Delete(t.Context(), h.Claim(name)))
	}
	h.run()
	if got, want := h.said("b"), "True Deleting Is being deleted"; got != want {
		t.Errorf("while it is deleted:\n got %s\nwant %s", got, want)
	}
	if got := h.said("c"); got != chosenText {
		t.Errorf("what was chosen says no more why: %s", got)
	}
	h.Calls()
	h.run()
	if n := h.writes(); n != 0 {
		t.Errorf("%d writes although nothing has changed", n)
	}
}
