package world_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/order"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// guided is a world in which a disruption moves some pods, each to another node.
type guided struct {
	*world.World
	clock  *testclock.FakePassiveClock
	pods   []*corev1.Pod
	marked map[string]bool
	woken  []string // the pods whose turn has come since the last step
}

func newGuided(pods int) *guided {
	return guidedTo(pods, func(i int) int { return i })
}

// guidedTo is a world in which a disruption moves some pods, in order, each to the node with a number.
func guidedTo(pods int, receiver func(i int) int) *guided {
	g := &guided{clock: testclock.NewFakePassiveClock(noon), marked: map[string]bool{}}
	g.World = world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, g.clock)
	leaving := node(0)
	leaving.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
	g.Put(leaving)
	var u world.Underway
	yes := true
	for i := 1; i <= pods; i++ {
		g.Put(node(i))
		p := pod(i, leaving.Name)
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprint("set-", i), UID: types.UID(fmt.Sprint("set", i)), Controller: &yes}}
		g.Put(p)
		g.pods = append(g.pods, p)
		u.Places = append(u.Places, world.Place{On: node(receiver(i)).Name, Pods: []world.PodRef{refOf(p)}})
		u.Evict = append(u.Evict, p.UID)
	}
	g.Put(node(pods + 1))
	for i := 1; i <= pods+1; i++ {
		u.Guide = append(u.Guide, node(i).Name)
	}
	g.Disruptions().Begin(u)
	g.SubscribeTurns(func(pods ...types.NamespacedName) {
		for _, p := range pods {
			g.woken = append(g.woken, p.Name)
		}
	})
	return g
}

// step guides, has the marks written, and returns the nodes with one.
func (g *guided) step() string {
	g.clock.SetTime(g.clock.Now().Add(50 * time.Millisecond))
	g.woken = nil
	g.marked, _ = g.Guide(g.marked)
	return fmt.Sprint(order.Keys(g.marked))
}

// evict has a pod evicted, and its successor bound to a node.
func (g *guided) evict(i int, bound string) {
	ending := g.pods[i].DeepCopy()
	ending.DeletionTimestamp = &metav1.Time{Time: g.clock.Now()}
	g.Put(ending)
	heir := pod(10+i, bound)
	heir.OwnerReferences, heir.CreationTimestamp = ending.OwnerReferences, metav1.Time{Time: g.clock.Now()}
	g.Put(heir)
}

func (g *guided) turns() string {
	return fmt.Sprint(g.Turn(g.pods[0].UID), " ", g.Turn(g.pods[1].UID))
}

func names(numbers ...int) string {
	out := []string{}
	for _, i := range numbers {
		out = append(out, node(i).Name)
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

// A receiver opens once for each run of pods that go there one after the other.
func TestAReceiverOpensForEachRunOfPods(t *testing.T) {
	t.Parallel()
	g := guidedTo(3, func(i int) int { return 2 - i%2 }) // to 1, 2 and 1
	for _, p := range g.pods {
		g.Turn(p.UID)
	}
	g.marked, _ = g.Guide(g.marked)
	for i, want := range []string{names(2, 3, 4), names(1, 3, 4), names(2, 3, 4)} {
		if got := g.step(); got != want {
			t.Errorf("before pod %d: %s have the mark, want %s", i, got, want)
		}
		g.evict(i, node(1+i%2).Name)
	}
	if got := g.step(); got != "[]" {
		t.Errorf("%s have the mark when all pods have moved", got)
	}
}

// Nodes are marked when a pod asks for its turn; then one receiver after the other opens, until the successors are bound. One gets its mark
// back while the next one loses it. Its pods are woken at the same time.
func TestPodsAreGuided(t *testing.T) {
	t.Parallel()
	g := newGuided(2)
	expect := func(when, marks, turns string, woken ...string) {
		t.Helper()
		if got := g.step(); got != marks {
			t.Errorf("%s: %s have the mark, want %s", when, got, marks)
		}
		if got := g.turns(); got != turns {
			t.Errorf("%s: the pods wait for %s, want %s", when, got, turns)
		}
		if !slices.Equal(g.woken, woken) {
			t.Errorf("%s: %q are woken, want %q", when, g.woken, woken)
		}
	}
	if got := g.step(); got != "[]" {
		t.Errorf("%s have the mark before a pod leaves", got)
	}
	g.turns()
	g.marked, _ = g.Guide(g.marked)
	if len(g.marked) != 3 || g.turns() != "3s 3s" {
		t.Errorf("pods want to leave: %d nodes are marked, the pods wait for %s", len(g.marked), g.turns())
	}
	expect("the marks are written", names(2, 3), "0s 3s", g.pods[0].Name)
	expect("the pod is not evicted yet", names(2, 3), "0s 3s")
	g.evict(0, "")
	expect("its successor is not bound", names(2, 3), "0s 3s")
	g.evict(0, node(1).Name)
	expect("it is bound", names(1, 3), "0s 0s", g.pods[1].Name)
	g.evict(1, node(3).Name)
	expect("the last one is bound, elsewhere", "[]", "0s 0s")
	if _, guiding := g.Guide(g.marked); guiding {
		t.Error("there is nothing left to guide")
	}
}

// A receiver awaits no successor of a pod whose workload has been scaled down: the next one opens at once.
func TestAPodThatIsScaledDownHasNoSuccessor(t *testing.T) {
	t.Parallel()
	for replicas, want := range map[int32]string{0: names(1, 3), 1: names(2, 3)} {
		g := newGuided(2)
		scaled := set(1)
		scaled.Spec.Replicas = &replicas
		g.Put(scaled)
		g.turns()
		g.marked, _ = g.Guide(g.marked)
		g.step()
		ending := g.pods[0].DeepCopy()
		ending.DeletionTimestamp = &metav1.Time{Time: g.clock.Now()}
		g.Put(ending)
		if got := g.step(); got != want {
			t.Errorf("the ReplicaSet wants %d pods: %s have the mark, want %s", replicas, got, want)
		}
	}
}

// Guidance ends: a receiver waits three seconds for a pod that is not evicted, twice, and half a minute without a receiver that opens is the end.
func TestGuidanceEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asks []int // the pods that ask for their turn
		most time.Duration
	}{
		"no pod can be evicted":         {[]int{0, 1}, 13 * time.Second},
		"a pod never asks for its turn": {[]int{1}, 37 * time.Second},
	} {
		g := newGuided(2)
		for _, i := range c.asks {
			g.Turn(g.pods[i].UID)
		}
		begun := g.clock.Now()
		for guiding := true; guiding && g.clock.Now().Sub(begun) < time.Minute; {
			g.clock.SetTime(g.clock.Now().Add(50 * time.Millisecond))
			g.marked, guiding = g.Guide(g.marked)
		}
		if took := g.clock.Now().Sub(begun); took > c.most || took < time.Second {
			t.Errorf("%s: guided for %s, want at most %s", name, took, c.most)
		}
		if got := g.turns(); got != "0s 0s" {
			t.Errorf("%s: the pods still wait for %s", name, got)
		}
	}
}

// A node that is bought for moved pods has the mark from the time when it joins, and the other receivers of its disruption
// have it while pods of another one are guided: otherwise other pods would take their room. Marks stay until the later one begins, but not for long.
func TestReceiversOfALaterDisruptionAreMarked(t *testing.T) {
	t.Parallel()
	g := newGuided(1)
	later := pod(9, node(0).Name)
	g.Put(later)
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "bought"}}
	claim.Status.ProviderID = "aws:///us-west-2a/i-9"
	g.Put(claim)
	g.Disruptions().Begin(world.Underway{Evict: []types.UID{later.UID}, Guide: []string{node(1).Name},
		Places: []world.Place{{On: claim.Name, Pods: []world.PodRef{refOf(later)}}}})
	if got := g.step(); got != "[]" {
		t.Errorf("%s have the mark before a pod leaves", got)
	}
	woken := 0
	g.SubscribeGuidance(func() { woken++ })
	joined := node(9)
	joined.Spec.ProviderID = claim.Status.ProviderID
	g.Put(joined)
	if got := g.step(); got != names(9) || woken != 1 {
		t.Errorf("%s have the mark when the node has joined, want %s; guidance was woken %d times", got, names(9), woken)
	}
	g.Turn(g.pods[0].UID)
	g.step() // all are marked
	if got := g.step(); got != names(2, 9) {
		t.Errorf("%s have the mark when a pod leaves, want %s", got, names(2, 9))
	}
	g.evict(0, node(1).Name)
	if got := g.step(); got != names(1, 2, 9) {
		t.Errorf("%s have the mark when only the later disruption is left, want %s", got, names(1, 2, 9))
	}
	g.clock.SetTime(g.clock.Now().Add(30 * time.Second))
	if got := g.step(); got != names(9) {
		t.Errorf("%s have the mark when it has not begun for half a minute, want %s", got, names(9))
	}
	g.Disruptions().Abandon("")
	if got := g.step(); got != "[]" {
		t.Errorf("%s have the mark when no pod is guided any more", got)
	}
}

// If nothing writes the marks, pods leave without guidance.
func TestPodsDoNotWaitForMarks(t *testing.T) {
	t.Parallel()
	g := newGuided(2)
	g.turns()
	g.clock.SetTime(noon.Add(31 * time.Second))
	if got := g.turns(); got != "0s 0s" {
		t.Errorf("the pods wait for %s", got)
	}
}

// Nodes that take no pods are not marked, and not waited for, even if there are no others.
func TestClosedNodesAreNotMarked(t *testing.T) {
	t.Parallel()
	g := newGuided(2)
	closed := func(i int) {
		n := node(i)
		n.ResourceVersion = "2"
		n.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
		g.Put(n)
	}
	closed(3)
	g.turns()
	if got := g.step(); got != names(1, 2) {
		t.Errorf("%s have the mark, want %s", got, names(1, 2))
	}
	if got := g.step(); got != names(2) {
		t.Errorf("%s have the mark when the first receiver is open, want %s", got, names(2))
	}
	g.evict(0, node(1).Name)
	closed(1)
	closed(2)
	if got := g.step(); got != "[]" || g.turns() != "0s 0s" {
		t.Errorf("%s have the mark when all nodes are closed, and the pods wait for %s", got, g.turns())
	}
}

// A disruption that is taken back guides no pods.
func TestGuidanceIsTakenBack(t *testing.T) {
	t.Parallel()
	g := newGuided(2)
	g.turns()
	g.step()
	g.Disruptions().Abandon("")
	if got := g.step(); got != "[]" {
		t.Errorf("%s have the mark", got)
	}
}

// A mark alone changes nothing for decisions.
func TestMarksAreNoChange(t *testing.T) {
	t.Parallel()
	g := newGuided(2)
	before := g.Pulse().Changes
	marked := node(1)
	marked.ResourceVersion = "marked"
	ingest.SetReceives(marked, false)
	g.Put(marked)
	if after := g.Pulse().Changes; after != before {
		t.Errorf("%d changes, want %d", after, before)
	}
	labelled := marked.DeepCopy()
	labelled.ResourceVersion, labelled.Labels["new"] = "labelled", "yes"
	g.Put(labelled)
	if after := g.Pulse().Changes; after == before {
		t.Error("another change together with the mark does not count")
	}
}

// Guidance goes on as long as pods move, however slowly.
func TestSlowGuidance(t *testing.T) {
	t.Parallel()
	const pods = 40
	g := newGuided(pods)
	for _, p := range g.pods {
		g.Turn(p.UID)
	}
	g.marked, _ = g.Guide(g.marked)
	for i := range pods {
		g.step()
		if !slices.Equal(g.woken, []string{g.pods[i].Name}) {
			t.Fatalf("%q are evicted for node %d, want %s", g.woken, i+1, g.pods[i].Name)
		}
		g.clock.SetTime(g.clock.Now().Add(1500 * time.Millisecond))
		g.evict(i, "")
		g.step()
		g.clock.SetTime(g.clock.Now().Add(1500 * time.Millisecond))
		g.evict(i, node(i+1).Name)
	}
	if marked := g.step(); marked != "[]" {
		t.Errorf("%s have the mark at the end", marked)
	}
}

// Guidance is woken when the marks are to be written, when all pods of a receiver can be evicted, and when their successors are bound.
func TestGuidanceIsWoken(t *testing.T) {
	t.Parallel()
	g := guidedTo(2, func(int) int { return 1 })
	woken := 0
	g.SubscribeGuidance(func() { woken++ })
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"the first pod can be evicted", func() { g.Turn(g.pods[0].UID) }, true},
		{"it asks again", func() { g.Turn(g.pods[0].UID) }, false},
		{"all pods of the receiver can be evicted", func() { g.Turn(g.pods[1].UID) }, true},
		{"the receiver opens", func() { g.step(); g.step() }, false},
		{"a pod is evicted", func() { g.evict(0, "") }, false},
		{"its successor is bound", func() { g.evict(0, node(1).Name) }, true},
	} {
		woken = 0
		if step.do(); (woken > 0) != step.want {
			t.Errorf("%s: guidance was woken %d times", step.name, woken)
		}
	}
}

// Nodes are marked as soon as the leaving ones are closed, unless the disruption waits for nodes that it buys.
func TestNodesAreMarkedBeforePodsLeave(t *testing.T) {
	t.Parallel()
	for want, replacements := range map[string][]command.Member{names(1, 2, 3): nil, "[]": {{Claim: "bought"}}} {
		g := newGuided(2)
		u := world.Underway{Record: command.Record{ID: "second", Replacements: replacements}, Guide: []string{node(3).Name}, Evict: []types.UID{g.pods[1].UID},
			Places: []world.Place{{On: node(1).Name, Pods: []world.PodRef{refOf(g.pods[1])}}}}
		g.Disruptions().Begin(u)
		if got := g.step(); got != "[]" {
			t.Errorf("%s have the mark while the nodes are open", got)
		}
		g.Disruptions().Begun("second", noon)
		if got := g.step(); got != want {
			t.Errorf("with %d replacements %s have the mark when the nodes are closed, want %s", len(replacements), got, want)
		}
	}
}
