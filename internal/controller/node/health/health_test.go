package health_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/controller/node/health"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is a pool of nodes in a rig, and the controller. The cloud tolerates a node that is
// not ready for ten minutes, and a broken network for one.
type fixture struct {
	*harness.Harness
	t *testing.T
	c reconcile.Controller
}

type policies struct{ cloud.Provider }

func (p policies) Describe() cloud.Description {
	d := p.Provider.Describe()
	d.Repairs = append(d.Repairs, cloud.RepairPolicy{Condition: "NetworkingReady", Status: "False", Toleration: time.Minute})
	return d
}

func newFixture(t *testing.T, pool string, nodes int) *fixture {
	w := &fixture{Harness: harness.New(t, memory.Options{}, harness.Pool("general")), t: t}
	w.Kit.Settings.FeatureGates.NodeRepair = true
	w.Cloud(func(p cloud.Provider) cloud.Provider { return policies{p} })
	for i := range nodes {
		w.Settled(fmt.Sprint(i), pool)
	}
	w.c = health.New(w.Kit)[0]
	return w
}

// falls makes a node ill since some time ago.
func (w *fixture) falls(name string, condition corev1.NodeConditionType, status corev1.ConditionStatus, ago time.Duration) *corev1.Node {
	w.t.Helper()
	var node corev1.Node
	if !w.Get("node-"+name, &node) {
		w.t.Fatalf("node %s is gone", name)
	}
	node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == condition })
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{
		Type: condition, Status: status, LastTransitionTime: metav1.NewTime(w.Clock.Now().Add(-ago))})
	w.Put(&node)
	return &node
}

func (w *fixture) deleted(name string) bool { return w.Claim(name).DeletionTimestamp != nil }

// Which nodes are replaced, and when the others are looked at again.
func TestNodesThatAreReplaced(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fall  func(*fixture)
		want  bool
		again time.Duration
	}{
		"healthy":                      {func(*fixture) {}, false, 0},
		"not ready for long":           {func(w *fixture) { w.falls("0", "Ready", "False", 10*time.Minute) }, true, 0},
		"silent for long":              {func(w *fixture) { w.falls("0", "Ready", "Unknown", time.Hour) }, true, 0},
		"not ready for a while":        {func(w *fixture) { w.falls("0", "Ready", "False", 4*time.Minute) }, false, 6 * time.Minute},
		"a condition without a policy": {func(w *fixture) { w.falls("0", "Sunny", "False", time.Hour) }, false, 0},
		"a condition in good status":   {func(w *fixture) { w.falls("0", "NetworkingReady", "True", time.Hour) }, false, 0},
		"two illnesses, one for long": {func(w *fixture) {
			w.falls("0", "Ready", "False", time.Minute)
			w.falls("0", "NetworkingReady", "False", time.Minute)
		}, true, 0},
		"two illnesses, neither for long": {func(w *fixture) {
			w.falls("0", "Ready", "False", time.Minute)
			w.falls("0", "NetworkingReady", "False", 20*time.Second)
		},
			false, 40 * time.Second},
		"leaves already": {func(w *fixture) { w.Delete(w.falls("0", "Ready", "False", time.Hour)) }, false, 0},
		"not ours": {func(w *fixture) {
			node := w.falls("0", "Ready", "False", time.Hour)
			delete(node.Labels, karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass"))
			w.Put(node)
		}, false, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, "general", 1)
			tc.fall(w)
			if again := w.Run(w.c, "node-0").After; w.deleted("0") != tc.want || again != tc.again {
				t.Errorf("replaced %t, looks again after %s; want %t and %s", w.deleted("0"), again, tc.want, tc.again)
			}
		})
	}
}

// A replaced node's pods get no time, and it is counted once.
func TestReplacement(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "general", 1)
	w.falls("0", "NetworkingReady", "False", time.Hour)
	w.Run(w.c, "node-0")
	w.Run(w.c, "node-0")
	claim := w.Claim("0")
	if got, want := claim.Annotations[karpenterv1.AnnotationTerminationTimestamp], w.Clock.Now().UTC().Format(time.RFC3339); got != want {
		t.Errorf("pods have until %q, want %s", got, want)
	}
	if w.Count(w.Kit.Metrics.NodeclaimsUnhealthyDisruptedTotal.WithLabelValues("networking_ready", "general", "", "")) != 1 ||
		w.Count(w.Kit.Metrics.NodeclaimsUnhealthyDisruptedTotal) != 1 || w.Count(w.Kit.Metrics.NodeclaimsDisruptedTotal) != 1 {
		t.Error("not counted once")
	}
}

// A deadline that is over is kept, one that is not is brought forward.
func TestEarlierDeadlines(t *testing.T) {
	t.Parallel()
	for offset, kept := range map[time.Duration]bool{-time.Minute: true, time.Minute: false} {
		w := newFixture(t, "general", 1)
		claim := w.Claim("0")
		said := w.Clock.Now().Add(offset).UTC().Format(time.RFC3339)
		claim.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: said}
		w.Put(claim)
		w.falls("0", "Ready", "False", time.Hour)
		w.Run(w.c, "node-0")
		if got := w.Claim("0").Annotations[karpenterv1.AnnotationTerminationTimestamp]; (got == said) != kept {
			t.Errorf("deadline %s from now became %s", offset, got)
		}
	}
}

// How many ill nodes of how many open the breaker: a fifth, rounded up.
func TestBreaker(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		nodes, ill int
		want       bool
	}{
		"the only one":     {1, 1, true},
		"one of three":     {3, 1, true},
		"two of three":     {3, 2, false},
		"one of five":      {5, 1, true},
		"two of five":      {5, 2, false},
		"two of six":       {6, 2, true},
		"two of ten":       {10, 2, true},
		"three of ten":     {10, 3, false},
		"all of ten":       {10, 10, false},
		"three of eleven":  {11, 3, true},
		"four of eleven":   {11, 4, false},
		"five of twenty":   {20, 5, false},
		"a fifth of fifty": {50, 10, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, "general", tc.nodes)
			for i := range tc.ill { // the others only a moment ago: they count all the same
				w.falls(fmt.Sprint(i), "Ready", "False", map[bool]time.Duration{true: time.Hour, false: time.Second}[i == 0])
			}
			again := w.Run(w.c, "node-0").After
			if w.deleted("0") != tc.want || (again == 5*time.Minute) == tc.want {
				t.Errorf("replaced %t, looks again after %s", w.deleted("0"), again)
			}
			told := strings.Count(strings.Join(w.Events(), "\n"), "Warning NodeRepairBlocked")
			if want := map[bool]int{true: 0, false: 3}[tc.want]; told != want {
				t.Errorf("%d events: %q", told, w.Events())
			}
		})
	}
}

// Without a pool the cluster is what counts, and the text is the other one.
func TestBreakerOfCluster(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "", 2)
	w.falls("0", "Ready", "False", time.Hour)
	w.falls("1", "Ready", "False", time.Hour)
	w.Run(w.c, "node-0")
	want := []string{"Warning NodeRepairBlocked node-0: more then 20% nodes are unhealthy in the cluster",
		"Warning NodeRepairBlocked 0: more then 20% nodes are unhealthy in the cluster"}
	if w.deleted("0") || !slices.Equal(w.Events(), want) {
		t.Errorf("events %q", w.Events())
	}
}

// A cache that still shows an illness that is over costs no node.
func TestRecoveredUnseen(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "general", 1)
	w.Hold(w.falls("0", "Ready", "False", time.Hour))
	w.falls("0", "Ready", "True", 0)
	w.Run(w.c, "node-0")
	if w.deleted("0") {
		t.Error("a healthy node is replaced")
	}
	w.Release()
	w.falls("0", "Ready", "False", 0)
	if again := w.Run(w.c, "node-0").After; again != 10*time.Minute || w.deleted("0") {
		t.Errorf("looks again after %s", again)
	}
}

// Only news about illnesses of our nodes wakes the controller.
func TestWakes(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "general", 1)
	var healthy corev1.Node
	w.Get("node-0", &healthy)
	ill := w.falls("0", "Ready", "False", time.Minute)
	beating := ill.DeepCopy()
	beating.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(w.Clock.Now())
	watch := w.c.Watches[0]
	for name, got := range map[string]bool{
		"a healthy node at the start": !watch.Wakes(nil, &healthy),
		"an ill node at the start":    watch.Wakes(nil, ill),
		"falling ill":                 watch.Wakes(&healthy, ill),
		"a heartbeat":                 !watch.Wakes(ill, beating),
		"recovering":                  !watch.Wakes(ill, &healthy),
		"the end":                     !watch.Wakes(ill, nil),
	} {
		if !got {
			t.Errorf("%s: wrong", name)
		}
	}
}

// The gate and the provider both have a say in whether there is a controller.
func TestGate(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	if len(health.New(r.Kit)) != 0 {
		t.Error("runs although it is off")
	}
	r.Kit.Settings.FeatureGates.NodeRepair = true
	if len(health.New(r.Kit)) != 1 {
		t.Error("does not run although it is on")
	}
	r.Cloud(func(p cloud.Provider) cloud.Provider { return nothingIsIll{p} })
	if len(health.New(r.Kit)) != 0 {
		t.Error("runs although nothing is an illness")
	}
}

type nothingIsIll struct{ cloud.Provider }

func (p nothingIsIll) Describe() cloud.Description {
	d := p.Provider.Describe()
	d.Repairs = nil
	return d
}

// A kubelet that writes another machine's provider ID on its Node, and then that it is ill, has nothing
// replaced.
func TestANodeWithAnothersProviderIDIsNotRepaired(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "general", 3)
	var node corev1.Node
	w.Get("node-0", &node)
	forged := node.DeepCopy()
	forged.Name, forged.UID, forged.ResourceVersion = "node-forged", "", ""
	w.Must(w.API.Create(t.Context(), forged))
	w.falls("forged", "Ready", corev1.ConditionFalse, time.Hour)
	if w.Run(w.c, "node-forged"); w.Claim("0").DeletionTimestamp != nil {
		t.Error("the claim of the other node goes")
	}
}
