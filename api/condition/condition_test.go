package condition_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
)

var (
	claim   = condition.Kind{Root: condition.Ready, Dependents: []string{"Launched", "Registered", "Initialized"}}
	created = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
)

func at(minutes int) time.Time { return created.Add(time.Duration(minutes) * time.Minute) }

// text writes a list with one line for each condition: type, status, reason, message, generation, minutes.
func text(list []metav1.Condition) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%s=%s %s %q g%d +%v\n", c.Type, c.Status, c.Reason, c.Message,
			c.ObservedGeneration, c.LastTransitionTime.Sub(created))
	}
	return b.String()
}

func expect(t *testing.T, s condition.Set, lines ...string) {
	t.Helper()
	if got, want := text(s.List()), strings.Join(lines, "\n")+"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func read(list []metav1.Condition, generation int64, minutes int) condition.Set {
	return claim.Read(list, condition.Subject{Generation: generation, Created: created}, at(minutes))
}

func TestReadOfNewObject(t *testing.T) {
	t.Parallel()
	s := read(nil, 1, 7)
	expect(t, s,
		`Initialized=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
		`Launched=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
		`Registered=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
		`Ready=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
	)
	if s.IsReady() || s.IsTrue("Launched") {
		t.Error("a new object is ready")
	}
}

func TestReadOfKindWithoutDependents(t *testing.T) {
	t.Parallel()
	s := condition.Kind{Root: condition.Ready}.Read(nil, condition.Subject{Generation: 1}, at(0))
	if s.SetTrueBecause("Provisioning", "Fits", ""); len(s.List()) != 1 {
		t.Errorf("got\n%s, want the one condition that was set", text(s.List()))
	}
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	s := read(nil, 1, 1)
	s.SetUnknown("Launched", "LaunchFailed", "no capacity")
	expect(t, s,
		`Initialized=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
		`Launched=Unknown LaunchFailed "no capacity" g1 +0s`, // since creation: the status did not change
		`Registered=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
		`Ready=Unknown ReconcilingDependents "Initialized=Unknown, Registered=Unknown, Launched=Unknown" g1 +0s`,
	)
	s = read(s.List(), 1, 2)
	s.SetTrue("Launched")
	s = read(s.List(), 1, 3)
	s.SetFalse("Registered", "MultipleNodesFound", "two nodes")
	expect(t, s,
		`Initialized=Unknown AwaitingReconciliation "object is awaiting reconciliation" g1 +0s`,
		`Launched=True Launched "" g1 +2m0s`,
		`Registered=False MultipleNodesFound "two nodes" g1 +3m0s`,
		`Ready=False UnhealthyDependents "Registered=False, Initialized=Unknown" g1 +3m0s`,
	)
	s = read(s.List(), 1, 4)
	s.SetTrue("Registered")
	s.SetTrue("Initialized")
	expect(t, s,
		`Launched=True Launched "" g1 +2m0s`,
		`Initialized=True Initialized "" g1 +4m0s`,
		`Registered=True Registered "" g1 +4m0s`,
		`Ready=True Ready "" g1 +4m0s`,
	)
	if !s.IsReady() || !s.IsTrue("Launched", "Registered", "Initialized") {
		t.Error("not ready although every dependent is True")
	}
}

func ready(t *testing.T) []metav1.Condition {
	t.Helper()
	s := read(nil, 1, 1)
	for _, name := range claim.Dependents {
		s.SetTrue(name)
	}
	return s.List()
}

// TestNewGeneration follows "after a spec change that bumps generation, Ready goes Unknown until
// dependents are re-evaluated".
func TestNewGeneration(t *testing.T) {
	t.Parallel()
	s := read(ready(t), 2, 5)
	if s.IsReady() {
		t.Error("ready although no dependent has seen the new generation")
	}
	s.SetTrue("Launched")
	expect(t, s,
		`Initialized=True Initialized "" g1 +1m0s`,
		`Launched=True Launched "" g2 +1m0s`,
		`Registered=True Registered "" g1 +1m0s`,
		`Ready=Unknown ReconcilingDependents "Initialized=True, Registered=True" g2 +5m0s`,
	)
	s.SetTrue("Registered")
	s.SetTrue("Initialized")
	if !s.IsReady() {
		t.Error("not ready although every dependent has seen the new generation")
	}
}

// TestFalseOfOldGeneration checks that a False condition of an older generation makes the root Unknown, and not False:
// it may be True for the new spec.
func TestFalseOfOldGeneration(t *testing.T) {
	t.Parallel()
	s := read(nil, 1, 1)
	s.SetFalse("Launched", "Broken", "")
	s = read(s.List(), 2, 2)
	s.SetTrue("Registered")
	if root := s.Root(); root.Status != metav1.ConditionUnknown || root.Reason != condition.ReconcilingDependents {
		t.Errorf("root is %s %s, want Unknown ReconcilingDependents", root.Status, root.Reason)
	}
}

func TestDeletingObjectRefreshesAll(t *testing.T) {
	t.Parallel()
	s := claim.Read(ready(t), condition.Subject{Generation: 2, Created: created, Deleting: true}, at(9))
	if !s.SetTrue("InstanceTerminating") {
		t.Error("the change was not reported")
	}
	expect(t, s,
		`Initialized=True Initialized "" g2 +1m0s`,
		`Launched=True Launched "" g2 +1m0s`,
		`Registered=True Registered "" g2 +1m0s`,
		`InstanceTerminating=True InstanceTerminating "" g2 +9m0s`,
		`Ready=True Ready "" g2 +1m0s`,
	)
}

func TestInformationalConditionDoesNotTouchReadiness(t *testing.T) {
	t.Parallel()
	s := read(ready(t), 1, 3)
	s.SetFalse("ConsistentStateFound", "ConsistencyCheckFailed", "Consistency Check Failed")
	if !s.IsReady() || s.IsTrue("ConsistentStateFound") || !s.HasStatus("ConsistentStateFound", metav1.ConditionFalse) {
		t.Errorf("got\n%s", text(s.List()))
	}
}

func TestClear(t *testing.T) {
	t.Parallel()
	s := read(ready(t), 1, 3)
	s.SetTrue("Drifted")
	for _, name := range []string{"Launched", condition.Ready, "Absent"} {
		if s.Clear(name) {
			t.Errorf("%s was cleared", name)
		}
	}
	if !s.Clear("Drifted") {
		t.Error("Drifted was not cleared")
	}
	expect(t, s,
		`Initialized=True Initialized "" g1 +1m0s`,
		`Launched=True Launched "" g1 +1m0s`,
		`Ready=True Ready "" g1 +1m0s`,
		`Registered=True Registered "" g1 +1m0s`,
	)
	if again := read(s.List(), 1, 4); !slices.Equal(again.List(), s.List()) {
		t.Errorf("reading changed the list to\n%s", text(again.List()))
	}
}

func TestNewDependentVoidsReadiness(t *testing.T) {
	t.Parallel()
	more := condition.Kind{Root: condition.Ready, Dependents: append(slices.Clone(claim.Dependents), "Licensed")}
	s := more.Read(ready(t), condition.Subject{Generation: 1, Created: created}, at(6))
	if root := s.Root(); root.Status != metav1.ConditionUnknown || root.Message != "Licensed=Unknown" {
		t.Errorf("root is %s %q, want Unknown because of Licensed", root.Status, root.Message)
	}
}

func TestRootCannotBeSet(t *testing.T) {
	t.Parallel()
	s := read(nil, 1, 1)
	if s.SetTrue(condition.Ready) || s.IsReady() {
		t.Error("the root was set by hand")
	}
}

func TestUnchangedIsReported(t *testing.T) {
	t.Parallel()
	s := read(ready(t), 1, 8)
	if s.SetTrue("Launched") {
		t.Error("setting what already holds reports a change")
	}
	if !s.SetTrueBecause("Launched", "Other", "") {
		t.Error("a change of reason is not reported")
	}
	if c, _ := s.Get("Launched"); !c.LastTransitionTime.Time.Equal(at(1)) {
		t.Errorf("transition time moved to %v with the reason", c.LastTransitionTime)
	}
	if !s.SetAwaiting("Launched") || s.IsReady() {
		t.Error("awaiting again does not void readiness")
	}
}

// TestRandomHistories checks at every step of random histories that the caller's list is not
// changed, that the root is last and follows from the dependents, and that no type occurs twice.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(3))
	names := append(slices.Clone(claim.Dependents), "Drifted")
	for history := range 200 {
		var list []metav1.Condition
		generation := int64(1)
		for step := range 12 {
			before := slices.Clone(list)
			generation += int64(random.Intn(4) / 3)
			s := read(list, generation, step)
			name := names[random.Intn(len(names))]
			switch random.Intn(4) {
			case 0:
				s.SetTrue(name)
			case 1:
				s.SetFalse(name, "No", "")
			case 2:
				s.SetUnknown(name, "Perhaps", "")
			default:
				continue
			}
			if !slices.Equal(before, list) {
				t.Fatalf("history %d step %d: the list that was read changed", history, step)
			}
			list = s.List()
			checkLaws(t, s, generation)
		}
	}
}

func checkLaws(t *testing.T, s condition.Set, generation int64) {
	t.Helper()
	list := s.List()
	if list[len(list)-1].Type != condition.Ready {
		t.Fatalf("root is not last:\n%s", text(list))
	}
	want, seen := metav1.ConditionTrue, map[string]bool{}
	for _, c := range list {
		if seen[c.Type] {
			t.Fatalf("%s occurs twice:\n%s", c.Type, text(list))
		}
		seen[c.Type] = true
		switch current := c.ObservedGeneration == generation; {
		case !slices.Contains(claim.Dependents, c.Type):
		case current && c.Status == metav1.ConditionFalse:
			want = metav1.ConditionFalse
		case (!current || c.Status != metav1.ConditionTrue) && want == metav1.ConditionTrue:
			want = metav1.ConditionUnknown
		}
	}
	if got := s.Root(); got.Status != want || got.ObservedGeneration != generation {
		t.Fatalf("root is %s at %d, want %s at %d:\n%s", got.Status, got.ObservedGeneration, want, generation, text(list))
	}
}
