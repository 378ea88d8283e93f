package counter_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/order"
	"tenon/internal/controller/nodepool/counter"
	"tenon/internal/testing/harness"
)

func amounts(text string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(value)
	}
	return out
}

func text(list corev1.ResourceList) string {
	var parts []string
	for _, name := range order.Keys(list) {
		q := list[name]
		parts = append(parts, string(name)+"="+q.String())
	}
	return strings.Join(parts, " ")
}

// launched makes a claim that has an instance.
func launched(change ...func(*karpenterv1.NodeClaim)) func(*karpenterv1.NodeClaim) {
	return func(c *karpenterv1.NodeClaim) {
		c.Status.ProviderID = "memory:///" + c.Name
		c.Status.Capacity = amounts("cpu=4 memory=16Gi pods=110 gpu=1")
		for _, f := range change {
			f(c)
		}
	}
}

func condition(name string) func(*karpenterv1.NodeClaim) {
	return func(c *karpenterv1.NodeClaim) {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue})
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	node := func(r *harness.Harness, initialized bool, capacity string) {
		labels := map[string]string{karpenterv1.LabelNodePool: "web"}
		if initialized {
			labels[karpenterv1.LabelInitialized] = "true"
		}
		r.Must(r.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: labels},
			Spec: corev1.NodeSpec{ProviderID: "memory:///web-1"}, Status: corev1.NodeStatus{Capacity: amounts(capacity)}}))
	}
	const none = "cpu=0 ephemeral-storage=0 memory=0 nodes=0 pods=0"
	cases := map[string]struct {
		make  func(*harness.Harness)
		want  string
		nodes int64
	}{
		"no claim": {func(*harness.Harness) {}, none, 0},
		"claims count from their launch, others of the cluster never": {func(r *harness.Harness) {
			r.Named("web-1", "web", launched())
			r.Named("web-2", "web")
			r.Named("web-3", "web", launched())
			r.Named("db-1", "db", launched())
			r.Named("hand", "", launched())
		}, "cpu=8 ephemeral-storage=0 gpu=2 memory=32Gi nodes=2 pods=220", 2},
		"what leaves does not count": {func(r *harness.Harness) {
			r.Named("web-1", "web", launched(condition(karpenterv1.ConditionInstanceTerminating)))
			r.Named("web-2", "web", launched(condition(karpenterv1.ConditionDisruptionReason)))
			claim := r.Named("web-3", "web", launched(func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{"x/y"} }))
			r.Must(r.API.Delete(t.Context(), claim))
		}, none, 0},
		"a node that starts is filled up with what is promised": {func(r *harness.Harness) {
			r.Named("web-1", "web", launched())
			node(r, false, "cpu=3 memory=15Gi gpu=0")
		}, "cpu=3 ephemeral-storage=0 gpu=1 memory=15Gi nodes=1 pods=110", 1},
		"a node that has started is what it says": {func(r *harness.Harness) {
			r.Named("web-1", "web", launched())
			node(r, true, "cpu=3 memory=15Gi gpu=0")
		}, "cpu=3 ephemeral-storage=0 gpu=0 memory=15Gi nodes=1 pods=0", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, harness.Pool("web"))
			tc.make(r)
			c := counter.New(r.Kit)
			if again := r.Run(c, "web"); again.After != 30*time.Second {
				t.Errorf("looks again in %s", again.After)
			}
			var got karpenterv1.NodePool
			r.Get("web", &got)
			if text(got.Status.Resources) != tc.want || got.Status.Nodes == nil || *got.Status.Nodes != tc.nodes {
				t.Errorf("got %s, %v nodes\nwant %s, %d", text(got.Status.Resources), got.Status.Nodes, tc.want, tc.nodes)
			}
			r.Calls()
			r.Clock.Step(time.Second)
			r.Run(c, "web")
			for _, call := range r.Calls() {
				if call.IsWrite() {
					t.Errorf("nothing changed, and yet: %s", call)
				}
			}
		})
	}
}

// TestResourceThatIsGone: an extended resource leaves the status with the last node that has it.
func TestResourceThatIsGone(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	claim := r.Named("web-1", "web", launched())
	c := counter.New(r.Kit)
	r.Run(c, "web")
	r.Must(r.API.Delete(t.Context(), claim))
	r.Clock.Step(time.Second)
	r.Run(c, "web")
	var got karpenterv1.NodePool
	r.Get("web", &got)
	if want := "cpu=0 ephemeral-storage=0 memory=0 nodes=0 pods=0"; text(got.Status.Resources) != want {
		t.Errorf("got %s", text(got.Status.Resources))
	}
}

// TestPace: a burst of events is one count, and the last event is not forgotten.
func TestPace(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	c := counter.New(r.Kit)
	r.Run(c, "web")
	r.Calls()
	r.Clock.Step(200 * time.Millisecond)
	if again := r.Run(c, "web"); again.After != 300*time.Millisecond || len(r.Calls()) != 0 {
		t.Errorf("counted again, or looks again in %s", again.After)
	}
	r.Clock.Step(300 * time.Millisecond)
	if again := r.Run(c, "web"); again.After != 30*time.Second {
		t.Errorf("not counted: looks again in %s", again.After)
	}
	r.Run(c, "gone")
}

func TestWakes(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	c := counter.New(r.Kit)
	pools, claims, nodes := c.Watches[0], c.Watches[1], c.Watches[2]
	claim := r.Named("web-1", "web", launched())
	changed := claim.DeepCopy()
	changed.Status.LastPodEventTime = metav1.Now()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{karpenterv1.LabelNodePool: "web"}}}
	beating, grown := node.DeepCopy(), node.DeepCopy()
	beating.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady}}
	grown.Status.Capacity = amounts("cpu=1")
	pending := claim.DeepCopy()
	pending.Status.ProviderID = ""
	for name, tc := range map[string]struct {
		got, want bool
	}{
		"a pool is new":           {pools.Wakes(nil, harness.Pool("web")), true},
		"a pool's own status":     {pools.Wakes(harness.Pool("web"), harness.Pool("web")), false},
		"a claim is new":          {claims.Wakes(nil, claim), true},
		"a claim is gone":         {claims.Wakes(claim, nil), true},
		"a claim is launched":     {claims.Wakes(pending, claim), true},
		"a pod came to its node":  {claims.Wakes(claim, changed), false},
		"a node is new":           {nodes.Wakes(nil, node), true},
		"a node's heart beats":    {nodes.Wakes(node, beating), false},
		"a node reports capacity": {nodes.Wakes(node, grown), true},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %t", name, tc.got)
		}
	}
	for _, object := range []client.Object{claim, node} {
		if keys := claims.KeysOf(t.Context(), object); len(keys) != 1 || keys[0].Name != "web" {
			t.Errorf("%T wakes %v", object, keys)
		}
	}
}
