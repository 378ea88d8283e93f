package disruption_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/internal/command"
	"tenon/internal/savings"
	"tenon/internal/testing/harness"
)

// An unneeded node is closed, looked at again, and deleted.
func TestAnEmptyNodeIsDeleted(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
	h.pass(time.Second)
	h.expect("a: closed Empty recorded")
	h.pass(4 * time.Second)
	h.expect("a: deleted closed Empty recorded")
}

// Commands that run side by side each begin and end, and their pool's account has the savings of all.
func TestCommandsRunSideBySide(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	h.parallel = 10
	h.start()
	for _, name := range []string{"a", "b", "c", "d"} {
		h.machine(machine{name: name, kind: "general-4", capacity: catalog.OnDemand})
	}
	h.pass(5 * time.Second)
	h.expect("a: deleted closed Empty recorded", "b: deleted closed Empty recorded", "c: deleted closed Empty recorded", "d: deleted closed Empty recorded")
	var pool karpenterv1.NodePool
	h.Get("web", &pool)
	if noted := len(savings.Of(&pool).Open); noted != 4 {
		t.Errorf("the account of the pool has %d of 4 commands", noted)
	}
}

// A pod that comes between the decision and the removal keeps its node, and no marks are left.
func TestAPodThatComesInBetweenKeepsItsNode(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
	h.pass(2 * time.Second)
	h.pod("late", "node-a", func(p *corev1.Pod) {
		p.Status.Conditions[0].LastTransitionTime.Time = h.Clock.Now()
		p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
	})
	h.pass(5 * time.Second)
	h.expect("a: ")
}

// Half-empty nodes are replaced: the new node is ready before the old ones are removed.
func TestReplacementsAreReadyFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b", "c"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.pass(5 * time.Second)
	h.expect("a: closed Underutilized recorded", "b: closed Underutilized recorded", "c: closed Underutilized recorded", "web-00003: recorded rearranged", "web-00004: recorded rearranged")
	h.initialize()
	h.pass(3 * time.Second)
	h.expect("a: deleted closed Underutilized recorded", "b: deleted closed Underutilized recorded", "c: deleted closed Underutilized recorded", "web-00003: rearranged", "web-00004: rearranged")
}

// Moves that wait for pods that end are looked for as soon as these have ended, even if a node that was empty is still being removed.
func TestMovesBeginWhenPodsHaveEnded(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.machine(machine{name: "c", kind: "general-8", capacity: catalog.OnDemand})
	h.watch()
	ending := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "ending", UID: "uid-ending", DeletionTimestamp: new(metav1.NewTime(h.Clock.Now()))}, Spec: corev1.PodSpec{NodeName: "node-a"}}
	h.world.Put(ending)
	for range 5 {
		h.lookAgain()
	}
	h.expect("a: ", "b: ", "c: closed Empty recorded")
	h.world.Remove(ending)
	h.lookAgain()
	h.expect("a: closed Underutilized recorded", "b: closed Underutilized recorded", "c: closed Empty recorded", "web-00005: recorded rearranged")
}

// halfway is a fixture in which nodes a, b and c, of a kind and with so many pods each, are being replaced: b and c have been deleted, a could not be.
func halfway(t *testing.T, kind string, pods int) *fixture {
	t.Helper()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b", "c"} {
		h.machine(machine{name: name, kind: kind, capacity: catalog.OnDemand, pods: pods})
	}
	h.pass(2 * time.Second)
	h.initialize()
	h.Fail(func(c harness.Call) error {
		if c.Verb == "delete" && c.Name == "a" {
			return harness.ErrBroken
		}
		return nil
	})
	h.pass(3 * time.Second)
	return h
}

// When only some of the nodes could be deleted, the others follow: their pods, too, have the replacements.
func TestARemovalThatFailedHalfwayGoesOn(t *testing.T) {
	t.Parallel()
	h := halfway(t, "memory-8", 8)
	var replacements []string
	for i := 3; i <= 10; i++ { // together they cost more than a, and less than all three
		replacements = append(replacements, fmt.Sprintf("web-%05d:", i))
	}
	h.expect(append([]string{"a: closed Underutilized recorded", "b: deleted closed Underutilized recorded", "c: deleted closed Underutilized recorded"},
		each(replacements, " recorded rearranged")...)...)
	h.Fail(nil)
	h.pass(2 * time.Second)
	h.expect(append([]string{"a: deleted closed Underutilized recorded", "b: deleted closed Underutilized recorded", "c: deleted closed Underutilized recorded"}, each(replacements, " rearranged")...)...)
}

func each(texts []string, end string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, text+end)
	}
	return out
}

// When nodes go already and the others have to stay, the replacements stay too: pods are on their way to them.
func TestNodesThatGoKeepTheirReplacements(t *testing.T) {
	t.Parallel()
	h := halfway(t, "general-8", 1)
	h.Fail(nil)
	h.pod("late", "node-a", func(p *corev1.Pod) {
		p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
	})
	h.watch()
	h.Run(h.conduct, "")
	h.expect("a: ", "b: deleted closed Underutilized recorded", "c: deleted closed Underutilized recorded", "web-00003: rearranged", "web-00004: rearranged")
}

// When a replacement is lost, everything is taken back.
func TestALostReplacementTakesEverythingBack(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	for _, name := range []string{"a", "b", "c"} {
		h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
	}
	h.pass(2 * time.Second)
	h.Vanish(h.Claim("web-00003"))
	h.watch()
	h.Clock.Step(command.Settle)
	h.Run(h.conduct, "")
	h.expect("a: ", "b: ", "c: ", "web-00004: deleted recorded rearranged") // the other replacement was bought for nothing
}

// The second look comes two seconds after the nodes were closed, to the moment.
func TestTheSecondLookComesInTime(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
	h.pass(time.Second)
	h.expect("a: closed Empty recorded")
	h.Clock.Step(command.Settle - 300*time.Millisecond)
	if next := h.Run(h.conduct, ""); next.After != 300*time.Millisecond {
		t.Errorf("it looks again after %s, the nodes will have been closed for %s after 300ms", next.After, command.Settle)
	}
	h.Clock.Step(300 * time.Millisecond)
	h.Run(h.conduct, "")
	h.expect("a: deleted closed Empty recorded")
}

// Another writer's change of a claim does not keep a command from beginning.
func TestOtherWritersDoNotMatter(t *testing.T) {
	t.Parallel()
	h := newFixture(t, web())
	h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
	written := false
	h.Fail(func(c harness.Call) error {
		if c.String() == "patch NodeClaim" && !written {
			written = true
			other := h.Claim("a")
			other.Annotations = map[string]string{"example.com/note": "seen"}
			h.Put(other)
		}
		return nil
	})
	h.pass(time.Second)
	h.expect("a: closed Empty recorded")
}
