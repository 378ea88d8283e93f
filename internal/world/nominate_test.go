package world_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// bought is a world in which pods of two templates have their places on a claim whose node is not
// open yet. Each pod is the first of its ReplicaSet.
type bought struct {
	*world.World
	clock *testclock.FakePassiveClock
	pods  []*corev1.Pod
}

func newBought(t *testing.T, numbers ...int) *bought {
	t.Helper()
	b := &bought{clock: testclock.NewFakePassiveClock(noon)}
	b.World = world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, b.clock)
	b.Put(pool(0))
	var refs []world.PodRef
	for _, i := range numbers {
		p := pod(i, "")
		p.Status = corev1.PodStatus{Phase: corev1.PodPending}
		b.pods = append(b.pods, p)
		b.Put(p)
		refs = append(refs, refOf(p))
	}
	if cause := b.Assume(claim(0), model.Resources{}, refs); cause.Code != reason.None {
		t.Fatal(cause.Text())
	}
	b.Put(claim(0))
	b.Put(shut(node(0)))
	return b
}

func refOf(p *corev1.Pod) world.PodRef {
	return world.PodRef{UID: p.UID, Namespace: p.Namespace, Name: p.Name}
}

func shut(n *corev1.Node) *corev1.Node {
	n.Spec.Taints = []corev1.Taint{karpenterv1.TaintUnregistered()}
	delete(n.Labels, karpenterv1.LabelRegistered)
	return n
}

// open opens the node of the claim for pods.
func (b *bought) open() {
	n := node(0)
	n.ResourceVersion = "2"
	b.Put(n)
}

// tell has a watch report a pod's status.
func (b *bought) tell(i int, nominated, bound string) {
	p := b.pods[i].DeepCopy()
	p.Status.NominatedNodeName, p.Spec.NodeName = nominated, bound
	b.pods[i] = p
	b.Put(p)
}

// told writes nominations as pod number and node.
func (b *bought) told(list []world.Nomination) string {
	var out []string
	for _, n := range list {
		for i, p := range b.pods {
			if p.UID == n.UID {
				out = append(out, fmt.Sprintf("%d:%s", i, n.Node))
			}
		}
	}
	return strings.Join(out, " ")
}

// Pods of one template fit in each other's places, so pods are nominated only where templates differ. A node without places opens
// with the others then.
func TestNominationsAreForPodsThatCompete(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pods []int
		want string
	}{
		"two templates":     {[]int{1, 2}, "1:node-0 0:node-0"},
		"two of one":        {[]int{1, 1 + manySets}, ""},
		"a pod by itself":   {[]int{1}, ""},
		"no pod has places": {nil, ""},
	} {
		b := newBought(t, c.pods...)
		for _, claim := range []string{"claim-0", "without places"} {
			if waits := b.OpensWithOthers(claim); waits != (c.want != "") {
				t.Errorf("%s: the node of %s opens with others: %t", name, claim, waits)
			}
		}
		if got := b.told(b.NominationsFor(map[string]string{"claim-0": "node-0"})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if again := b.told(b.NominationsFor(map[string]string{"claim-0": "node-0"})); again != "" {
			t.Errorf("%s: said twice: %q", name, again)
		}
	}
}

// A pod that is spread over zones is bound in turn with others, and the scheduler removes a nomination
// ahead of its turn: such a pod gets none, and a node for such pods alone waits for none.
func TestNoNominationAheadOfATurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
		want string
	}{
		"over zones":                 {corev1.LabelTopologyZone, corev1.DoNotSchedule, ""},
		"over zones as a preference": {corev1.LabelTopologyZone, corev1.ScheduleAnyway, "1:node-0 0:node-0"},
		"over nodes":                 {corev1.LabelHostname, corev1.DoNotSchedule, "1:node-0 0:node-0"},
	} {
		b := newBought(t, 1, 2)
		for _, p := range b.pods {
			p.ResourceVersion = "2"
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: c.key, WhenUnsatisfiable: c.when}}
			b.Put(p)
		}
		if waits := b.OpensWithOthers("claim-0"); waits != (c.want != "") {
			t.Errorf("%s: the node opens with others: %t", name, waits)
		}
		if got := b.told(b.NominationsFor(map[string]string{"claim-0": "node-0"})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Our nominations are distinguished from the scheduler's: the pod keeps its place and does not count as
// one that preempts others. A nomination by the scheduler stays unchanged.
func TestNominationsAreToldApart(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	b.tell(1, "node-7", "")
	if got := b.told(b.NominationsFor(map[string]string{"claim-0": "node-0"})); got != "0:node-0" {
		t.Errorf("nominated are %q", got)
	}
	if b.Heard("claim-0", "node-0") {
		t.Error("the nomination is heard of before a watch has told")
	}
	b.tell(0, "node-0", "")
	if !b.Heard("claim-0", "node-0") {
		t.Error("the nomination is not heard of")
	}
	if p, _ := b.Pod(b.pods[0].Namespace, b.pods[0].Name); p.Status.NominatedNodeName != "" {
		t.Errorf("the pod has room on %s reserved", p.Status.NominatedNodeName)
	}
	if p, _ := b.Pod(b.pods[1].Namespace, b.pods[1].Name); p.Status.NominatedNodeName != "node-7" {
		t.Errorf("what the scheduler said is %q", p.Status.NominatedNodeName)
	}
	b.open()
	b.Remove(claim(0)) // the places are lost
	if got := b.told(b.Corrections()); got != "0:" {
		t.Errorf("taken back: %q", got)
	}
	if got := b.told(b.Corrections()); got != "" {
		t.Errorf("taken back twice: %q", got)
	}
}

// After a restart a nomination counts as ours if no pod on the node could make room for the pod, which
// then waits for a place. If the next decision gives it none, the nomination is taken back, because it keeps
// the room from other pods. A nomination by which the scheduler drives others away is respected.
func TestNominationsOfAnEarlierProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		priority  int32
		waits     bool
		takenBack int
	}{
		"no pod can be driven away": {0, true, 1},
		"one can be driven away":    {-1, false, 0},
	} {
		w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))
		nominated, resident := pod(1, ""), pod(2, "node-0")
		nominated.Status = corev1.PodStatus{Phase: corev1.PodPending, NominatedNodeName: "node-0"}
		resident.Spec.Priority = &c.priority
		for _, o := range []any{pool(0), claim(0), nominated, node(0), resident} { // in an unfortunate order
			w.Put(o)
		}
		w.Settle(noon)
		if _, waits := w.WaitingSince(nominated.Namespace, nominated.Name); waits != c.waits {
			t.Errorf("%s: the pod waits: %t", name, waits)
		}
		if early := w.Corrections(); len(early) > 0 {
			t.Errorf("%s: taken back before a decision: %v", name, early)
		}
		w.Settle(noon)
		if got := w.Corrections(); len(got) != c.takenBack || len(got) > 0 && got[0].Node != "" {
			t.Errorf("%s: nominations are corrected: %v", name, got)
		}
	}
}

// A pod that finds a place on a node that is open is nominated, so that it takes no room that the plan keeps
// for others; of a burst of equal pods none is.
func TestLatePlacesAreNominatedUnlessAllRoomIsForThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pods, want int }{"one pod": {1, 1}, "a hundred": {100, 100}, "a burst": {101, 0}} {
		b := newBought(t)
		b.open()
		var late []world.PodRef
		for i := range c.pods {
			p := pod(1+i*manySets, "")
			p.Status = corev1.PodStatus{Phase: corev1.PodPending}
			b.pods = append(b.pods, p)
			b.Put(p)
			late = append(late, refOf(p))
		}
		b.Commit("claim-0", late)
		if got := len(b.Corrections()); got != c.want {
			t.Errorf("%s: %d nominations, want %d", name, got, c.want)
		}
	}
}

// A nomination that the scheduler removed is written again while the node is open, three times in all.
func TestNominationsAreRepeated(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	b.NominationsFor(map[string]string{"claim-0": "node-0"})
	b.open()
	for round, want := range []string{"0:node-0", "0:node-0", ""} {
		b.tell(0, "node-0", "")
		if got := b.told(b.Corrections()); got != "" {
			t.Errorf("round %d: %q although it stands", round, got)
		}
		b.tell(0, "", "")
		if got := b.told(b.Corrections()); got != want {
			t.Errorf("round %d: %q, want %q", round, got, want)
		}
	}
}

// Nominations that the scheduler removes while the node is closed do not count: it may try a pod again and again before the node opens.
func TestRemovalsBeforeTheNodeOpensDoNotCount(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	for round := range 5 {
		if got := b.told(b.NominationsFor(map[string]string{"claim-0": "node-0"})); !strings.Contains(got, "0:node-0") {
			t.Errorf("round %d: %q", round, got)
		}
		b.tell(0, "node-0", "")
		b.tell(0, "", "")
	}
}

// A nomination that the scheduler removed while the node was closed is written again when the node opens, which is before its claim names it.
func TestNominationsAreRepeatedWhenANodeOpens(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	young := claim(0)
	young.ResourceVersion, young.Status.NodeName = "2", ""
	b.Put(young)
	b.NominationsFor(map[string]string{"claim-0": "node-0"})
	for i, named := range []string{"node-0", ""} { // told, and removed
		b.tell(0, named, "")
		if got := b.told(b.Corrections()); got != "" {
			t.Errorf("step %d: %q on a closed node", i, got)
		}
	}
	b.open()
	if got := b.told(b.Corrections()); got != "0:node-0" {
		t.Errorf("the node is open: %q", got)
	}
}

// A nomination that is written again before the node opens stands, also if the pod has changed its place meanwhile. It is taken back
// when the pod loses its place.
func TestNominationsForClosedNodesStand(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	b.NominationsFor(map[string]string{"claim-0": "node-0"})
	b.tell(0, "node-0", "")
	b.tell(0, "", "")
	if got := b.told(b.NominationsFor(map[string]string{"claim-0": "node-0"})); got != "0:node-0" {
		t.Fatalf("the pod is nominated again: %q", got)
	}
	if got := b.told(b.Corrections()); got != "" {
		t.Errorf("the nomination is corrected: %q", got)
	}
	b.Remove(claim(0))
	if got := b.told(b.Corrections()); got != "0: 1:" {
		t.Errorf("the claim is gone: %q", got)
	}
}

// When a pod takes the room of others, the smallest of them lose their places: they find room elsewhere.
func TestSmallPodsLoseTheirPlaces(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2, 3)
	b.open()
	for i, cpu := range []string{"1", "10", "4"} {
		p := b.pods[i].DeepCopy()
		p.ResourceVersion = "2"
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		b.pods[i] = p
		b.Put(p)
	}
	stray := pod(4, "node-0")
	stray.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1500m")
	b.Put(stray)
	b.Settle(noon)
	for i, want := range []bool{false, true, true} {
		if _, keeps := b.PlaceOf(b.pods[i].UID); keeps != want {
			t.Errorf("pod %d keeps its place: %t", i, keeps)
		}
	}
}

// ReplicaSets are making pods while the last one that they have announced came less than two seconds ago.
func TestPodsThatAreComing(t *testing.T) {
	t.Parallel()
	b := newBought(t)
	b.Put(set(1)) // of many pods
	coming := func() bool { return b.Unopened().Coming }
	for _, step := range []struct {
		at    time.Duration
		comes int
		want  bool
	}{{0, 1, true}, {1900 * time.Millisecond, 1 + manySets, true}, {3800 * time.Millisecond, 0, true}, {3900 * time.Millisecond, 0, false}, {4 * time.Second, 1 + 2*manySets, true}} {
		b.clock.SetTime(noon.Add(step.at))
		if step.comes > 0 {
			p := pod(step.comes, "")
			p.Status = corev1.PodStatus{Phase: corev1.PodPending}
			b.Put(p)
			b.Picture(world.Moment{Now: b.clock.Now()})
		}
		if coming() != step.want {
			t.Errorf("after %s: coming is %t", step.at, !step.want)
		}
	}
}

// Of the pods whose place a pod of their template takes, one without a nomination gets the place that was left: the nominations of the
// others keep their room.
func TestPodsWithNominationsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	b := newBoughtTwo(t)
	b.NominationsFor(map[string]string{"claim-0": "node-0"})
	for i := range b.pods {
		b.tell(i, map[int]string{0: "node-0", 1: "node-0", 2: "node-0", 4: "node-0"}[i], "")
	}
	b.tell(2, "", "")
	b.Corrections()
	b.tell(5, "", "node-0")
	if place, _ := b.PlaceOf(b.pods[2].UID); place != "claim-1" {
		t.Errorf("the pod without a nomination has its place on %s", place)
	}
	if got := b.told(b.Corrections()); got != "" {
		t.Errorf("nominations are corrected: %q", got)
	}
}

// Landed pods are in their own places or in those of like pods; all others have strayed.
func TestPlacementsAreCounted(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2, 3)
	count := map[bool]int{}
	b.SubscribePlacements(func(landed bool) { count[landed]++ })
	b.open()
	b.Put(node(1))
	b.tell(0, "", "node-0")
	b.tell(1, "", "node-1")
	like := pod(3+manySets, "node-0") // of the template of the third, which loses its place to it
	b.Put(like)
	if count[true] != 1 || count[false] != 1 {
		t.Errorf("%d landed and %d strayed", count[true], count[false])
	}
	if _, placed := b.PlaceOf(b.pods[2].UID); placed {
		t.Error("a place that is taken is still kept")
	}
}

// A place on a ready node is kept for fifteen seconds after a pod last took its own, and never for
// more than two minutes.
func TestPatience(t *testing.T) {
	t.Parallel()
	b := newBought(t, 1, 2)
	b.open()
	ready := claim(0)
	ready.ResourceVersion = "2"
	meta.SetStatusCondition(&ready.Status.Conditions, metav1.Condition{
		Type: karpenterv1.ConditionInitialized, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)})
	b.Put(ready)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	if next := b.Settle(at(10)); !next.Equal(at(15)) {
		t.Errorf("places are looked at again at %s", next)
	}
	b.clock.SetTime(at(12))
	b.tell(0, "", "node-0")
	if next := b.Settle(at(20)); !next.Equal(at(27)) {
		t.Errorf("after a pod was bound they are looked at again at %s", next)
	}
	b.clock.SetTime(at(119))
	like := pod(4, "")
	like.Status = corev1.PodStatus{Phase: corev1.PodPending}
	b.Put(like)
	b.Commit("claim-0", []world.PodRef{refOf(like)})
	bound := like.DeepCopy()
	bound.Spec.NodeName = "node-0"
	b.Put(bound)
	if next := b.Settle(at(119)); !next.Equal(at(120)) {
		t.Errorf("in a burst without end places are given up at %s", next)
	}
	b.Settle(at(120))
	if _, placed := b.PlaceOf(b.pods[1].UID); placed {
		t.Error("the place is kept for more than two minutes")
	}
}

// More than a hundred pods on their way are a burst, until fewer are left, or for two minutes.
func TestBurst(t *testing.T) {
	t.Parallel()
	numbers := make([]int, 101)
	for i := range numbers {
		numbers[i] = i
	}
	if b := newBought(t, numbers[:100]...); b.Bursting() {
		t.Error("a hundred pods are a burst")
	}
	b := newBought(t, numbers...)
	if !b.Bursting() {
		t.Error("101 pods are none")
	}
	b.clock.SetTime(noon.Add(2 * time.Minute))
	if b.Bursting() {
		t.Error("it lasts for two minutes")
	}
	b.clock.SetTime(noon)
	b.Remove(b.pods[0])
	if b.Bursting() {
		t.Error("a hundred are left")
	}
}
