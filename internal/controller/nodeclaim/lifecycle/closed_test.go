package lifecycle

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/order"
	"tenon/internal/testing/harness"
)

// places are pods with places on every node, or on none.
type places struct {
	wanted bool
	wait   time.Duration
	opened int
	// together are the nodes that open with one that opens, by claim.
	together  map[string]string
	first     string // the claim whose node opens first
	repeated  []string
	meanwhile func() // is called before each further node opens
}

func (p *places) Wanted(string) bool { return p.wanted }

func (p *places) Prepare(context.Context, string, string) (time.Duration, map[string]string) {
	return p.wait, p.together
}

func (p *places) NextToOpen(_ context.Context, _, closed map[string]string) []string {
	if _, is := closed[p.first]; is {
		return []string{p.first}
	}
	if p.meanwhile != nil {
		p.meanwhile()
	}
	return order.Keys(closed)
}

func (p *places) Repeat(_ context.Context, _, node string) { p.repeated = append(p.repeated, node) }

func (p *places) Opened(string) { p.opened++ }

// A node on which pods have places opens when it is ready and they have been told; after thirty
// seconds it opens as it is. A node that no pod waits for opens at once.
func TestNodesOpenWhenPodsHaveBeenTold(t *testing.T) {
	t.Parallel()
	unready := func(n *corev1.Node) { n.Status.Conditions = nil }
	for name, tc := range map[string]struct {
		places places
		change func(*corev1.Node)
		age    time.Duration
		opens  bool
	}{
		"no pod waits":                 {places{wait: time.Second}, unready, 0, true},
		"not ready":                    {places{wanted: true}, unready, 0, false},
		"not ready for half a minute":  {places{wanted: true}, unready, 30 * time.Second, true},
		"ready, but they are not told": {places{wanted: true, wait: time.Second}, harness.Ready, 0, false},
		"ready, and they are told":     {places{wanted: true}, harness.Ready, 0, true},
		"they are being told":          {places{wanted: true, wait: time.Second}, harness.Ready, 59 * time.Second, false},
		"they could not be told":       {places{wanted: true, wait: time.Second}, harness.Ready, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, memory.Options{})
			s.controller = At(s.Kit, s.tracker, nil, &tc.places, false)
			s.Put(s.Named("web-1", "web"))
			s.run()
			s.join(tc.change, func(n *corev1.Node) {
				n.CreationTimestamp.Time = s.Clock.Now().Add(-tc.age)
			})
			result := s.run()
			var node corev1.Node
			s.Get("node-web-1", &node)
			if open := !tainted(&node, karpenterv1.TaintUnregistered()); open != tc.opens || tc.opens != (tc.places.opened == 1) {
				t.Errorf("open: %t, told of it %d times", open, tc.places.opened)
			}
			if !tc.opens && (result.After <= 0 || result.After > longestClosed) {
				t.Errorf("the node is looked at again after %s", result.After)
			}
			if given := len(node.Finalizers) > 0 && len(node.OwnerReferences) > 0; given != tc.opens {
				t.Errorf("the node has what its claim gives it: %t", given)
			}
		})
	}
}

// A node that opens when nothing stands in its way is initialized by the write that opens it.
func TestOneWriteOpensAndInitializes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*corev1.Node)
		writes int
		is     string
	}{
		"ready":     {harness.Ready, 1, "true"},
		"not ready": {func(n *corev1.Node) { n.Status.Conditions = nil }, 1, ""},
		"has a startup taint": {func(n *corev1.Node) {
			harness.Ready(n)
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
		}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, memory.Options{})
			s.Put(s.Named("web-1", "web"))
			s.run()
			s.join(tc.change)
			s.Calls()
			s.run()
			writes := 0
			for _, call := range s.Calls() {
				if call.IsWrite() && call.Kind == "Node" {
					writes++
				}
			}
			var node corev1.Node
			s.Get("node-web-1", &node)
			if is := node.Labels[karpenterv1.LabelInitialized]; is != tc.is || writes != tc.writes {
				t.Errorf("initialized: %q, after %d writes", is, writes)
			}
		})
	}
}

// A claim says that its node stays closed once it has been so for half a minute: nearly all open earlier.
func TestAClosedNodeIsToldOfLate(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.controller = At(s.Kit, s.tracker, nil, &places{wanted: true, wait: time.Minute}, false)
	s.Put(s.Named("web-1", "web"))
	s.run()
	s.join(harness.Ready)
	if again := s.run().After; again > untold {
		t.Errorf("looks again in %s", again)
	}
	s.expect(karpenterv1.ConditionRegistered, "Unknown", "NodeNotFound", "Node not registered with cluster")
	s.Clock.Step(untold)
	s.run()
	s.expect(karpenterv1.ConditionRegistered, "Unknown", "NodeNotReady", "Pods have places on the node, which opens when it is ready and they have been told")
}

// What a registered node waits for is told with its registration, and what it waits for then only if that lasts.
func TestAnObstacleIsToldOfLate(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Put(s.Named("web-1", "web"))
	s.run()
	s.join(func(n *corev1.Node) { n.Status.Conditions = nil })
	s.run()
	s.expect(karpenterv1.ConditionInitialized, "Unknown", "NodeNotReady", "Node status is NotReady")
	var node corev1.Node
	s.Get("node-web-1", &node)
	harness.Ready(&node)
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	s.Put(&node)
	if again := s.run().After; again <= 0 || again > untold {
		t.Errorf("looks again in %s", again)
	}
	s.expect(karpenterv1.ConditionInitialized, "Unknown", "NodeNotReady", "Node status is NotReady")
	s.Clock.Step(untold)
	s.run()
	s.expect(karpenterv1.ConditionInitialized, "Unknown", "KnownEphemeralTaintsExist", `KnownEphemeralTaint "node.kubernetes.io/not-ready:NoSchedule" still exists`)
}

// A node that opens opens the others of its group, but not those that are not ready or whose claim is going.
func TestNodesOpenTogether(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	all := &places{wanted: true, wait: time.Second}
	s.controller = At(s.Kit, s.tracker, nil, all, false)
	names := []string{"web-1", "web-2", "web-3", "web-4"}
	for _, name := range names {
		s.Put(s.Named(name, "web"))
		s.Run(s.controller, name)
		s.join()
		s.Run(s.controller, name)
	}
	var node corev1.Node
	s.Get("node-web-3", &node)
	node.Status.Conditions = nil
	s.Put(&node)
	var claim karpenterv1.NodeClaim
	s.Get("web-4", &claim)
	s.Delete(&claim)
	all.wait, all.together = 0, map[string]string{"web-1": "node-web-1", "web-2": "node-web-2", "web-3": "node-web-3", "web-4": "node-web-4"}
	s.Run(s.controller, "web-1")
	for i, want := range []bool{true, true, false, false} {
		s.Get("node-"+names[i], &node)
		if open := !tainted(&node, karpenterv1.TaintUnregistered()); open != want {
			t.Errorf("%s is open: %t", node.Name, open)
		}
	}
}

// The nodes of a group open in the order in which kube-scheduler comes to their pods.
func TestNodesOpenInOrder(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	all := &places{wanted: true, wait: time.Second, first: "web-2"}
	s.controller = At(s.Kit, s.tracker, nil, all, false)
	for _, name := range []string{"web-1", "web-2", "web-3"} {
		s.Put(s.Named(name, "web"))
		s.Run(s.controller, name)
		s.join()
		s.Run(s.controller, name)
	}
	all.wait, all.together = 0, map[string]string{"web-1": "node-web-1", "web-2": "node-web-2", "web-3": "node-web-3"}
	s.Calls()
	s.Run(s.controller, "web-1")
	var opened []string
	for _, call := range s.Calls() {
		if call.IsWrite() && call.Kind == "Node" {
			opened = append(opened, call.Name)
		}
	}
	if want := []string{"node-web-2", "node-web-1", "node-web-3"}; !slices.Equal(opened, want) || !slices.Equal(all.repeated, want) {
		t.Errorf("opened are %q, want %q", opened, want)
	}
}

// The claim of a node that has been opened is written when all others of its group are open, or after five seconds.
func TestClaimsAreWrittenWhenAllNodesAreOpen(t *testing.T) {
	t.Parallel()
	for waited, want := range map[time.Duration]string{0: "Unknown", longestOthers: "True"} {
		s := newStory(t, memory.Options{})
		all := &places{wanted: true, wait: time.Second, first: "web-2"}
		s.controller = At(s.Kit, s.tracker, nil, all, false)
		for _, name := range []string{"web-1", "web-2"} {
			s.Put(s.Named(name, "web"))
			s.Run(s.controller, name)
			s.join()
			s.Run(s.controller, name)
		}
		all.wait, all.together = 0, map[string]string{"web-1": "node-web-1", "web-2": "node-web-2"}
		registered := func() string {
			claim := s.Claim("web-2")
			c, _ := claim.Conditions(s.Clock.Now()).Get(karpenterv1.ConditionRegistered)
			return string(c.Status)
		}
		all.meanwhile = func() {
			s.Clock.Step(waited)
			all.together = nil
			s.Run(s.controller, "web-2")
			if got := registered(); got != want {
				t.Errorf("%s after the first node has opened, its claim is registered: %s, want %s", waited, got, want)
			}
		}
		s.Run(s.controller, "web-1")
		s.Run(s.controller, "web-2")
		if got := registered(); got != "True" {
			t.Errorf("when all nodes are open, the claim is registered: %s", got)
		}
	}
}
