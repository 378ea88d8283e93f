package provisioner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/internal/assembly"
	"tenon/internal/controller/provisioner"
	"tenon/internal/execute"
	"tenon/internal/expander"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/savings"
	"tenon/internal/settings"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// fixture is a provisioner on a rig, with its world. Changes reach the world only through the test,
// which acts as the watch.
type fixture struct {
	*harness.Harness
	t       *testing.T
	world   *world.World
	loop    reconcile.Controller
	names   int
	tracker *registration.Tracker
	stock   *catalog.Catalog // the catalogue; nil means the sample
	told    *decide.Decision // the plan of the last snapshot
	server  expander.Server  // of the expander grpc
}

func newFixture(t *testing.T, objects ...client.Object) *fixture {
	h := &fixture{Harness: harness.New(t, memory.Options{}, objects...), t: t}
	h.Kit.Settings = settings.Settings{
		BatchIdleDuration: time.Second, BatchMaxDuration: 10 * time.Second, PreferencePolicy: settings.PreferenceRespect,
	}
	h.start(h.Kit)
	return h
}

// start starts a process: its world is empty at first, and then receives all existing objects.
func (h *fixture) start(kit reconcile.Kit) {
	h.world, h.tracker = assembly.World(kit), registration.New()
	h.loop = provisioner.New(kit, provisioner.Options{
		World: h.world, Supply: market.NewSupply(kit.Clock, cloudCatalog{h}, h.tracker), Executor: execute.New(kit, h.world, 1), Ledger: savings.New(kit),
		Suffix: func() string { h.names++; return fmt.Sprintf("%05d", h.names) },
		Tell:   h.check, Expander: h.server,
	})
	h.watch()
}

// cloudCatalog returns the cloud's catalogue.
type cloudCatalog struct{ h *fixture }

func (s cloudCatalog) Catalog(context.Context, *karpenterv1.NodePool) (*catalog.Catalog, error) {
	if s.h.stock != nil {
		return s.h.stock, nil
	}
	return memory.Sample(), nil
}

// watch passes all existing objects to the world.
func (h *fixture) watch() {
	h.t.Helper()
	for _, list := range []client.ObjectList{&karpenterv1.NodePoolList{}, &karpenterv1.NodeClaimList{}, &tenonv1alpha1.NodeGroupList{}, &corev1.NodeList{}, &corev1.ResourceQuotaList{}, &corev1.LimitRangeList{},
		&appsv1.DaemonSetList{}, &appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.PodList{}} {
		h.Must(h.API.List(context.Background(), list))
		h.Must(meta.EachListItem(list, func(o runtime.Object) error { h.world.Put(o); return nil }))
	}
}

// decide waits until the burst is over, and reconciles, and once more if the result asks for it at
// once.
func (h *fixture) decide() {
	h.t.Helper()
	h.Clock.Step(50 * time.Millisecond)
	if again := h.Run(h.loop, "").After; again > 0 && again < time.Second {
		h.Clock.Step(again)
		h.Run(h.loop, "")
	}
}

// claims are the claims in the API server, as "pool cpu-request".
func (h *fixture) claims() []string {
	h.t.Helper()
	var list karpenterv1.NodeClaimList
	h.Must(h.API.List(context.Background(), &list))
	var out []string
	for _, c := range list.Items {
		out = append(out, fmt.Sprintf("%s %s", c.Labels[karpenterv1.LabelNodePool], c.Spec.Resources.Requests.Cpu()))
	}
	return out
}

func (h *fixture) expect(want ...string) {
	h.t.Helper()
	if got := h.claims(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		h.t.Errorf("claims: %v, want %v", got, want)
	}
}

// replicaSet creates a set with a number of pods, or changes the number of an existing one.
func (h *fixture) replicaSet(name string, n int, conditions ...appsv1.ReplicaSetCondition) {
	h.t.Helper()
	want := int32(n)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &want}, Status: appsv1.ReplicaSetStatus{Conditions: conditions},
	}
	err := h.API.Create(context.Background(), set)
	if apierrors.IsAlreadyExists(err) {
		err = h.API.Update(context.Background(), set)
	}
	h.Must(err)
}

// pods creates pods of a ReplicaSet, or without an owner; existing ones stay.
func (h *fixture) pods(set string, n int, change ...func(*corev1.Pod)) {
	h.t.Helper()
	yes := true
	for i := range n {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: fmt.Sprintf("%s-%d", cmp.Or(set, "single"), i), UID: types.UID(fmt.Sprintf("uid-%s-%d", set, i)),
				CreationTimestamp: metav1.NewTime(h.Clock.Now()), Labels: map[string]string{"app": set},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}},
		}
		if set != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set, UID: types.UID("uid-" + set), Controller: &yes}}
		}
		for _, c := range change {
			c(p)
		}
		if err := h.API.Create(context.Background(), p); !apierrors.IsAlreadyExists(err) {
			h.Must(err)
		}
	}
	h.watch()
}

// judged is a pod that the scheduler could not place.
func judged(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
}

// ready is a pool that can be used.
func ready(name string, change ...func(*karpenterv1.NodePool)) *karpenterv1.NodePool {
	p := harness.Pool(name)
	conditions := p.Conditions(time.Unix(0, 0))
	conditions.SetTrue(karpenterv1.ConditionValidationSucceeded)
	conditions.SetTrue(karpenterv1.ConditionNodeClassReady)
	p.Status.Conditions = conditions.List()
	for _, c := range change {
		c(p)
	}
	return p
}

func limit(cpu string) func(*karpenterv1.NodePool) {
	return func(p *karpenterv1.NodePool) {
		p.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

// TestPodsGetANodeBeforeTheSchedulerSpeaks: no node has room, so there is nothing to wait for.
func TestPodsGetANodeBeforeTheSchedulerSpeaks(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	h.expect("default 3")
}

// TestNothingIsBoughtTwiceWhileWatchesLag: the world has not seen the claim when the next decision
// is made.
func TestNothingIsBoughtTwiceWhileWatchesLag(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	for range 5 {
		h.Clock.Step(11 * time.Second)
		h.decide()
	}
	h.expect("default 3")
}

// TestLateComersUseTheRoomOfNodesToCome: the remaining room of a claim is used before more is
// bought.
func TestLateComersUseTheRoomOfNodesToCome(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	h.pods("late", 5, func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	})
	h.decide()
	h.expect("default 3")
	if pulse := h.world.Pulse(); pulse.Waiting != 0 {
		t.Errorf("%d pods have no place", pulse.Waiting)
	}
}

// TestARestartInTheMiddleBuysNothingAgain: a new process finds the claims and places the pods on
// them.
func TestARestartInTheMiddleBuysNothingAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 50)
	h.decide()
	before := h.claims()
	h.start(h.Restart())
	h.decide()
	h.expect(before...)
}

// TestALostAnswerBuysOnce: the API server created the claim, and the answer was lost.
func TestALostAnswerBuysOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	lost := false
	kit := h.Kit
	kit.Client = &lostAnswer{Client: h.Kit.Client, lost: &lost}
	h.start(kit)
	h.pods("web", 3)
	h.decide()
	h.watch()
	h.Clock.Step(11 * time.Second)
	h.decide()
	if !lost {
		t.Fatal("no answer was lost")
	}
	h.expect("default 3")
}

// lostAnswer loses the answer to the first create request.
type lostAnswer struct {
	client.Client
	lost *bool
}

func (d *lostAnswer) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	err := d.Client.Create(ctx, o, options...)
	if err == nil && !*d.lost {
		*d.lost = true
		return errors.New("connection reset by peer")
	}
	return err
}

// TestAFailedClaimIsDecidedAbout: pods of a deleted claim are pending again.
func TestAFailedClaimIsDecidedAbout(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	h.watch()
	claim := h.Claim("default-00001")
	h.Vanish(claim)
	h.world.Remove(claim)
	h.decide()
	h.expect("default 3")
	if got := h.Claim("default-00002"); got == nil {
		t.Error("no second claim")
	}
}

// TestNewPodsTakeThePlaceOfEndingOnes: in a roll-out no node is bought for a pod whose predecessor
// is about to make room.
func TestNewPodsTakeThePlaceOfEndingOnes(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	node.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	node.Status.Allocatable = node.Status.Capacity
	h := newFixture(t, ready("default"), node)
	h.pods("web", 1, func(p *corev1.Pod) {
		p.Name, p.Spec.NodeName = "web-old", "n"
		p.Finalizers = []string{"test/hold"}
	})
	old := &corev1.Pod{}
	h.Must(h.API.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: "web-old"}, old))
	h.Must(h.API.Delete(context.Background(), old))
	h.pods("web", 1, judged)
	h.decide()
	h.expect()
	h.Clock.Step(11 * time.Second) // the predecessor does not end: the pod has waited long enough
	h.decide()
	h.expect("default 1")
}

// TestAPodThatLosesItsPlaceIsDecidedAbout: the scheduler binds an unexpected pod to a node on which
// another has its place; the other is pending again at once.
func TestAPodThatLosesItsPlaceIsDecidedAbout(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	h.watch()
	lifecycle(h, "default-00001")
	h.pods("running", 1, func(p *corev1.Pod) { p.Spec.NodeName = "node-default-00001" })
	h.decide() // the loss is noticed
	h.decide()
	h.expect("default 3", "default 1")
}

// TestALateComerWaitsForTheOthers: no node is bought for a pod that has lost its place while other
// pods still take theirs; if they leave no room for it, it gets its node in the end.
func TestALateComerWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	h.watch()
	lifecycle(h, "default-00001")
	p := &corev1.Pod{}
	h.Must(h.API.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: "web-0"}, p))
	p.Spec.NodeName = "node-default-00001"
	h.Must(h.API.Update(context.Background(), p))
	h.watch()
	h.pods("running", 1, func(p *corev1.Pod) { p.Spec.NodeName = "node-default-00001" })
	h.decide() // the loss is noticed
	h.decide()
	h.expect("default 3")
	h.world.Reprice()
	if again := h.Run(h.loop, "").After; again < 500*time.Millisecond {
		t.Errorf("while the pod waits for others, the next look is after %v, although only prices have changed", again)
	}
	h.Clock.Step(3 * time.Second)
	h.decide()
	h.expect("default 3", "default 1")
}

// TestPlacesAreSwapped: the scheduler binds the second of two equal pods, each of which needs its
// own node, to the node that was meant for the first; the first gets the other node.
func TestPlacesAreSwapped(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	alone := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	h.pods("web", 2, alone)
	h.decide()
	h.expect("default 1", "default 1")
	h.watch()
	lifecycle(h, "default-00001")
	for _, name := range []string{"web-0", "web-1"} {
		p := &corev1.Pod{}
		h.Must(h.API.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: name}, p))
		if claim, _ := h.world.PlaceOf(p.UID); claim == "default-00002" {
			p.Spec.NodeName = "node-default-00001"
			h.world.Put(p)
		}
	}
	h.decide()
	h.expect("default 1", "default 1")
	if pulse := h.world.Pulse(); pulse.Waiting != 0 {
		t.Errorf("%d pods wait", pulse.Waiting)
	}
	seats := map[string]int{}
	for _, uid := range []types.UID{"uid-web-0", "uid-web-1"} {
		if claim, ok := h.world.PlaceOf(uid); ok {
			seats[claim]++
		}
	}
	if len(seats) != 1 || seats["default-00002"] != 1 {
		t.Errorf("places %v, want one on default-00002", seats)
	}
}

// lifecycle gives a claim an instance and a node with room for exactly three pods.
func lifecycle(h *fixture, name string) {
	h.t.Helper()
	claim := h.Claim(name)
	claim.Status.ProviderID, claim.Status.NodeName = "memory:///"+name, "node-"+name
	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourcePods: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	claim.Status.Allocatable = claim.Status.Capacity
	h.Must(h.API.Status().Update(context.Background(), claim))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name, Labels: map[string]string{
		karpenterv1.LabelNodePool: "default", karpenterv1.LabelRegistered: "true", corev1.LabelInstanceTypeStable: "general-4",
	}}, Spec: corev1.NodeSpec{ProviderID: "memory:///" + name}}
	node.Status.Capacity, node.Status.Allocatable = claim.Status.Capacity, claim.Status.Capacity
	h.Must(h.API.Create(context.Background(), node))
	h.watch()
	h.decide()
}

// TestPodsThatAreAnnouncedHaveTheirNodes: 20 of the 100 pods of a ReplicaSet exist, and the nodes
// for all of them are bought; later pods find their places.
func TestPodsThatAreAnnouncedHaveTheirNodes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.replicaSet("web", 100)
	h.pods("web", 20)
	h.decide()
	claims := h.claims()
	if strings.Join(claims, ", ") != "default 31, default 31, default 31, default 7" {
		t.Errorf("claims %v, want room for a hundred pods", claims)
	}
	h.pods("web", 100)
	h.decide()
	h.expect(claims...)
	if pulse := h.world.Pulse(); pulse.Waiting != 0 {
		t.Errorf("%d pods have no place", pulse.Waiting)
	}
}

// TestRoomIsKeptForAnnouncedPods: all pods of a ReplicaSet that exist have their places, and the next ones have yet to be made. Pods
// of another workload that come meanwhile do not get their room.
func TestRoomIsKeptForAnnouncedPods(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.replicaSet("web", 100)
	h.pods("web", 20)
	h.decide()
	h.pods("other", 31)
	h.decide()
	claims := h.claims()
	h.expect("default 31", "default 31", "default 31", "default 7", "default 31")
	h.pods("web", 100)
	h.decide()
	h.expect(claims...)
	if pulse := h.world.Pulse(); pulse.Waiting != 0 {
		t.Errorf("%d pods have no place", pulse.Waiting)
	}
}

// TestWhatFailsIsNotBought: a ReplicaSet that cannot create its pods announces none.
func TestWhatFailsIsNotBought(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.replicaSet("web", 100, appsv1.ReplicaSetCondition{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue})
	h.pods("web", 1)
	h.decide()
	h.expect("default 1")
}

// TestAScaledDownDeploymentAnnouncesNoMore: its ReplicaSet has yet to hear that fewer pods are wanted.
func TestAScaledDownDeploymentAnnouncesNoMore(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.replicaSet("web", 100)
	want := int32(20)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-deployment"}, Spec: appsv1.DeploymentSpec{Replicas: &want}}
	set := &appsv1.ReplicaSet{}
	h.Must(h.API.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, set))
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	h.Must(h.API.Update(t.Context(), set))
	h.world.Put(d)
	h.pods("web", 20)
	h.decide()
	h.expect("default 15", "default 3", "default 1", "default 1") // for twenty pods
}

// TestABurstIsBoughtInFullNodes: while unannounced pods keep coming, full nodes are bought, and the
// remaining pods wait for more.
func TestABurstIsBoughtInFullNodes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("", 100)
	h.Clock.Step(time.Second - time.Millisecond)
	h.pods("other", 1)
	h.Clock.Step(time.Millisecond)
	h.Run(h.loop, "")
	pulse := h.world.Pulse()
	if len(h.claims()) == 0 || pulse.Waiting == 0 {
		t.Errorf("claims %v and %d pods waiting: want some full nodes and some pods left", h.claims(), pulse.Waiting)
	}
	h.Clock.Step(time.Second)
	h.Run(h.loop, "")
	if pulse := h.world.Pulse(); pulse.Waiting != 0 {
		t.Errorf("%d pods still wait after the burst", pulse.Waiting)
	}
}

// TestThePoolThatAPodIsMeantForIsTold: it is not ready, and thirty pools of other teams would not
// take the pod anyway; the event says why the one pool is not ready.
func TestThePoolThatAPodIsMeantForIsTold(t *testing.T) {
	t.Parallel()
	pools := []client.Object{ready("own-team", func(p *karpenterv1.NodePool) {
		p.Spec.Template.Labels = map[string]string{"team": "own"}
		conditions := p.Conditions(time.Unix(0, 0))
		conditions.SetFalse(karpenterv1.ConditionNodeClassReady, "SubnetsNotFound", "the class finds no subnets")
		p.Status.Conditions = conditions.List()
	})}
	for i := range 30 {
		pools = append(pools, ready(fmt.Sprintf("a-team-%02d", i), func(p *karpenterv1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": fmt.Sprint("other-", i)}
		}))
	}
	h := newFixture(t, pools...)
	h.pods("web", 1, judged, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"team": "own"} })
	h.decide()
	events := strings.Join(h.Events(), "\n")
	if !strings.Contains(events, "pool own-team: not ready: the class finds no subnets") {
		t.Errorf("the event does not tell of the pod's own pool:\n%s", events)
	}
}

// TestAPodOvertakesItsReplicaSet: nothing is bought for the first pod of a set that has zero
// replicas or is unknown, until the watch shows its replicas; but the pod does not wait for ever.
func TestAPodOvertakesItsReplicaSet(t *testing.T) {
	t.Parallel()
	for name, heard := range map[string]bool{"wants none, as far as is known": true, "is unheard of": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			if heard {
				h.replicaSet("web", 0)
			}
			h.pods("web", 1)
			h.Clock.Step(100 * time.Millisecond)
			h.Run(h.loop, "")
			h.expect()
			woken := false
			h.world.Subscribe(func() { woken = true })
			h.replicaSet("web", 3)
			h.watch()
			if !woken {
				t.Error("the controller was not woken when the set was heard of")
			}
			h.Run(h.loop, "")
			h.expect("default 3")
		})
	}
	t.Run("and the set is never heard of", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, ready("default"))
		h.pods("web", 1)
		h.Clock.Step(time.Second)
		h.Run(h.loop, "")
		h.expect("default 1")
	})
}

// TestAPodWithoutAPlaceDoesNotEndABurst: the longest window counts from the first pod that is new
// to all decisions, however long other pods wait for offers that do not exist.
func TestAPodWithoutAPlaceDoesNotEndABurst(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("hopeless", 1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"no": "such"} })
	h.decide()
	h.expect()
	h.Clock.Step(time.Hour)
	h.Run(h.loop, "")
	h.pods("", 1)
	h.Clock.Step(20 * time.Millisecond)
	h.Run(h.loop, "")
	h.expect() // more pods may come
	h.pods("", 2)
	h.decide()
	h.expect("default 2")
}

// TestANewPoolIsWaitedFor: people apply pools, classes and workloads with one command. The pool
// with more weight is not passed over because it is judged last, and a pool that is never judged is
// not waited for long.
func TestANewPoolIsWaitedFor(t *testing.T) {
	t.Parallel()
	unjudged := func(p *karpenterv1.NodePool) {
		weight := int32(10)
		p.Spec.Weight, p.Status.Conditions = &weight, nil
	}
	h := newFixture(t, ready("light"), ready("heavy", unjudged))
	h.pods("", 1)
	h.Clock.Step(4 * time.Second)
	h.Run(h.loop, "")
	h.expect()
	h.world.Put(ready("heavy", func(p *karpenterv1.NodePool) { unjudged(p); p.Status.Conditions = ready("").Status.Conditions }))
	h.Run(h.loop, "")
	h.expect("heavy 1")
}

// TestANewPoolIsWaitedForByPodsThatCameBefore: a decision was made about them when there was no pool yet.
func TestANewPoolIsWaitedForByPodsThatCameBefore(t *testing.T) {
	t.Parallel()
	weight := int32(10)
	heavy := ready("heavy", func(p *karpenterv1.NodePool) { p.Spec.Weight = &weight })
	unjudged := heavy.DeepCopy()
	unjudged.Status.Conditions = nil
	h := newFixture(t)
	h.pods("", 1, judged)
	h.decide()
	h.world.Put(unjudged)
	h.world.Put(ready("light"))
	h.Clock.Step(4 * time.Second)
	h.Run(h.loop, "")
	h.expect()
	h.world.Put(heavy)
	h.Run(h.loop, "")
	h.expect("heavy 1")
}

// TestAPoolThatIsNeverJudged: pods wait for it a few seconds, once.
func TestAPoolThatIsNeverJudged(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("light"), ready("heavy", func(p *karpenterv1.NodePool) { p.Status.Conditions = nil }))
	h.pods("", 1)
	h.Clock.Step(5 * time.Second)
	h.Run(h.loop, "")
	h.expect("light 1")
}
