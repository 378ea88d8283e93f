package provisioner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/expand"
	"tenon/internal/expander"
	"tenon/internal/testing/harness"
)

// group is a group in mode native, with room for three of the fixture's pods on each node. It has no instances
// yet.
func group(name string, desired, ceiling int64) *tenonv1alpha1.NodeGroup {
	room := corev1.ResourceList{"cpu": resource.MustParse("3"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("58")}
	g := &tenonv1alpha1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "group-" + name, Mode: tenonv1alpha1.ModeNative},
		Status: tenonv1alpha1.NodeGroupStatus{
			Size: &tenonv1alpha1.NodeGroupSize{Max: ceiling, Desired: desired}, Instances: &tenonv1alpha1.NodeGroupInstances{},
			InstanceTypes: []string{"m5.large"}, Zones: []string{"a"}, CapacityTypes: []string{"on-demand"}, Price: &tenonv1alpha1.NodeGroupPrice{PerNode: "0.096"},
			Template: &tenonv1alpha1.NodeGroupTemplate{Capacity: room, Allocatable: room},
		},
	}
	for _, c := range []string{tenonv1alpha1.ConditionGroupFound, tenonv1alpha1.ConditionSupported, tenonv1alpha1.ConditionTemplateKnown, tenonv1alpha1.ConditionHealthy} {
		g.Status.Conditions = append(g.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c})
	}
	g.Status.Conditions = append(g.Status.Conditions, metav1.Condition{Type: tenonv1alpha1.ConditionForeignAutoscaler, Status: metav1.ConditionFalse, Reason: "NoneSeen"})
	return g
}

// TestPodsWaitForInstancesOfAGroup: nothing is bought for pods that fit on instances which the cloud was asked for, no claim is
// created for them, no nomination is written, and an event names the group.
func TestPodsWaitForInstancesOfAGroup(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"), group("web", 1, 1))
	h.pods("web", 3, judged)
	h.decide()
	h.expect()
	if events := h.Events(); !slices.ContainsFunc(events, func(e string) bool { return strings.HasSuffix(e, "Pod should schedule on: nodegroup/web") }) {
		t.Errorf("no event names the group: %q", events)
	}
	var pods corev1.PodList
	h.Must(h.API.List(context.Background(), &pods))
	for _, p := range pods.Items {
		if p.Status.NominatedNodeName != "" {
			t.Errorf("pod %s is nominated for %s", p.Name, p.Status.NominatedNodeName)
		}
	}
	h.pods("more", 1)
	h.decide()
	h.expect("default 1") // the group has no more room, and may not grow
}

// far returns the cloud's groups that have NodeGroups, without instances yet.
func far(objects ...*tenonv1alpha1.NodeGroup) *memory.Groups {
	var list []cloud.Group
	for _, o := range objects {
		list = append(list, cloud.Group{Name: o.Spec.GroupName, Min: o.Status.Size.Min, Max: o.Status.Size.Max, Desired: o.Status.Size.Desired, Types: o.Status.InstanceTypes, Zones: o.Status.Zones})
	}
	return memory.NewGroups(list...)
}

// growing is a fixture with a group that may grow, and the cloud's side of it.
func growing(t *testing.T, desired, ceiling int64) (*fixture, *memory.Groups) {
	t.Helper()
	object := group("web", desired, ceiling)
	h, groups := newFixture(t, object), far(object)
	h.Kit.Groups = groups
	h.start(h.Kit)
	return h, groups
}

// desired is the size that the cloud keeps, and the one on the object.
func (h *fixture) desired(groups *memory.Groups) (kept, shown int64) {
	h.t.Helper()
	list, err := groups.Groups(context.Background())
	h.Must(err)
	var o tenonv1alpha1.NodeGroup
	h.Get("web", &o)
	return list[0].Desired, o.Status.Size.Desired
}

// TestAGroupGrows: pods get instances of a group with one write; later decisions and a restart in the middle request none again, and
// late pods use the remaining room.
func TestAGroupGrows(t *testing.T) {
	t.Parallel()
	h, groups := growing(t, 0, 9)
	check := func(when string, want int64, writes int) {
		t.Helper()
		if kept, shown := h.desired(groups); kept != want || shown != want || groups.Writes() != writes {
			t.Errorf("%s: the cloud keeps %d and the object shows %d after %d writes, want %d after %d", when, kept, shown, groups.Writes(), want, writes)
		}
	}
	h.pods("web", 4, judged)
	h.decide()
	check("four pods", 2, 1)
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "Normal ScaledUpGroup web: The desired size is raised from 0 to 2") || !strings.Contains(events, "Pod should schedule on: nodegroup/web") {
		t.Errorf("events:\n%s", events)
	}
	for range 3 {
		h.Clock.Step(11 * time.Second)
		h.decide()
	}
	check("later", 2, 1)
	h.start(h.Kit)
	h.decide()
	check("after a restart", 2, 1)
	h.pods("late", 2)
	h.decide()
	check("two more, for which there is room", 2, 1)
	h.pods("more", 1)
	h.decide()
	check("one more", 3, 2)
	h.expect()
}

// TestASizeIsShownFirst: the size is on the object before the cloud is told, so it counts in any case; if the
// cloud then says that it keeps the former one, that is shown again.
func TestASizeIsShownFirst(t *testing.T) {
	t.Parallel()
	nothing, lost, crash := errors.New("refused"), errors.New("the answer is lost"), errors.New("the process ends")
	unwritten := func(h *fixture) {
		h.Fail(func(c harness.Call) error {
			if c.String() == "patch status NodeGroup" {
				return harness.ErrBroken
			}
			return nil
		})
	}
	for name, tc := range map[string]struct {
		outcome error // of the call that raises the size
		silent  bool  // the cloud does not answer afterwards
		before  func(*fixture)
		kept    int64
		shown   int64
	}{
		"raised":                             {kept: 2, shown: 2},
		"refused":                            {outcome: nothing},
		"refused, and no answer afterwards":  {outcome: nothing, silent: true, shown: 2},
		"the answer is lost":                 {outcome: lost, kept: 2, shown: 2},
		"all answers are lost":               {outcome: lost, silent: true, kept: 2, shown: 2},
		"the process ends":                   {outcome: crash, kept: 2, shown: 2},
		"the object cannot be written":       {before: unwritten},
		"the cloud has been told by another": {outcome: &cloud.GroupChanged{Group: "group-web"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, groups := growing(t, 0, 9)
			h.Kit.Groups = &trying{all: groups, h: h, silent: tc.silent, resize: func(resize func() error) error {
				switch tc.outcome {
				case nil:
					return resize()
				case lost:
					h.Must(resize())
				case crash:
					h.Must(resize())
					panic(crash)
				}
				return tc.outcome
			}}
			h.start(h.Kit)
			h.pods("web", 4)
			h.Clock.Step(time.Second)
			if tc.before != nil {
				tc.before(h)
			}
			func() {
				defer func() { _ = recover() }()                                  // the process ends
				_, _ = h.loop.Reconcile(context.Background(), client.ObjectKey{}) // the outcome is below
			}()
			h.Fail(nil)
			if kept, shown := h.desired(groups); kept != tc.kept || shown != tc.shown {
				t.Errorf("the cloud keeps %d and the object shows %d, want %d and %d", kept, shown, tc.kept, tc.shown)
			}
			if counted, _ := h.world.GroupObject("web"); counted.Status.Size.Desired != tc.shown {
				t.Errorf("decisions count %d, want %d", counted.Status.Size.Desired, tc.shown)
			}
		})
	}
}

// trying are groups whose calls go wrong.
type trying struct {
	unasked
	all    *memory.Groups
	h      *fixture
	silent bool
	resize func(func() error) error
}

func (t *trying) Resize(ctx context.Context, name string, from, to int64) error {
	var o tenonv1alpha1.NodeGroup
	if t.h.Get("web", &o); o.Status.Size.Desired != to {
		t.h.t.Errorf("the object shows %d when the cloud is told %d", o.Status.Size.Desired, to)
	}
	return t.resize(func() error { return t.all.Resize(ctx, name, from, to) })
}

func (t *trying) Groups(ctx context.Context) ([]cloud.Group, error) {
	if t.silent {
		return nil, errors.New("no answer")
	}
	return t.all.Groups(ctx)
}

// TestAForeignSizeIsRespected: no size is written while the cloud has another size than the decision saw. That size is shown and told at once, so
// the next decision starts from it.
func TestAForeignSizeIsRespected(t *testing.T) {
	t.Parallel()
	h, groups := growing(t, 0, 9)
	groups.Set("group-web", 5)
	h.pods("web", 1)
	h.decide()
	if kept, shown := h.desired(groups); kept != 5 || shown != 5 || groups.Writes() != 0 {
		t.Errorf("the cloud keeps %d and the object shows %d after %d writes", kept, shown, groups.Writes())
	}
	if counted, _ := h.world.GroupObject("web"); counted.Status.Size.Desired != 5 {
		t.Errorf("decisions count %d, want 5", counted.Status.Size.Desired)
	}
	if want, events := "Normal SizeChanged web: The desired size was 0 and is 5 now: it was changed elsewhere, or Tenon stopped while it changed the size, and is kept", h.Events(); !slices.Contains(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

// TestAGroupThatDoesNotGrow: a group in mode observe is not written, and a provider's refusal is published on the
// group.
func TestAGroupThatDoesNotGrow(t *testing.T) {
	t.Parallel()
	h, groups := growing(t, 0, 9)
	h.Kit.Groups = refusing{}
	h.start(h.Kit)
	h.pods("", 1)
	h.Clock.Step(time.Second)
	if _, err := h.loop.Reconcile(context.Background(), client.ObjectKey{}); err == nil || !strings.Contains(err.Error(), "raise node group web from 0 to 1: denied") {
		t.Errorf("error %v", err)
	}
	if events := h.Events(); !slices.Contains(events, "Warning FailedToScaleUpGroup web: denied") {
		t.Errorf("events %q", events)
	}
	var o tenonv1alpha1.NodeGroup
	h.Get("web", &o)
	o.Spec.Mode = tenonv1alpha1.ModeObserve
	h.Must(h.API.Update(context.Background(), &o))
	h.Kit.Groups = groups
	h.start(h.Kit)
	h.decide()
	if groups.Writes() != 0 {
		t.Error("a group in mode observe was written to")
	}
}

// refusing is a cloud that refuses every change of a size.
type refusing struct{ unasked }

// unasked are groups whose other methods are not called.
type unasked interface{ cloud.Groups }

func (refusing) Resize(context.Context, string, int64, int64) error { return errors.New("denied") }

func (refusing) Groups(context.Context) ([]cloud.Group, error) { return nil, errors.New("denied") }

// TestAGroupBesideAClusterAutoscaler: a group does not grow while a Cluster Autoscaler manages it, nor before that is known.
func TestAGroupBesideAClusterAutoscaler(t *testing.T) {
	t.Parallel()
	for name, condition := range map[string]*metav1.Condition{
		"alive":         {Type: tenonv1alpha1.ConditionForeignAutoscaler, Status: metav1.ConditionTrue, Reason: "LeaseRenewed", Message: "ca-7d4 renews the Lease"},
		"not known":     {Type: tenonv1alpha1.ConditionForeignAutoscaler, Status: metav1.ConditionUnknown, Reason: "AutoscalersNotRead"},
		"not looked at": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := group("web", 0, 9)
			object.Status.Conditions = slices.DeleteFunc(object.Status.Conditions, func(c metav1.Condition) bool { return c.Type == tenonv1alpha1.ConditionForeignAutoscaler })
			if condition != nil {
				object.Status.Conditions = append(object.Status.Conditions, *condition)
			}
			h, groups := newFixture(t, object), far(object)
			h.Kit.Groups = groups
			h.start(h.Kit)
			h.pods("web", 1)
			h.decide()
			if kept, shown := h.desired(groups); kept != 0 || shown != 0 || groups.Writes() != 0 {
				t.Errorf("the cloud keeps %d and the object shows %d after %d writes", kept, shown, groups.Writes())
			}
		})
	}
}

// TestAGroupInModeCASGrows: events on pods use the words of Cluster Autoscaler, and its metric counts the
// nodes.
func TestAGroupInModeCASGrows(t *testing.T) {
	t.Parallel()
	object := group("web", 0, 9)
	object.Spec.Mode = tenonv1alpha1.ModeCAS
	h, groups := newFixture(t, object), far(object)
	h.Kit.Groups = groups
	h.start(h.Kit)
	h.pods("web", 4, judged)
	h.decide()
	if events := strings.Join(h.Events(), "\n"); strings.Count(events, "Normal TriggeredScaleUp") != 4 || !strings.Contains(events, "pod triggered scale-up: [{group-web 0->2 (max: 9)}]") {
		t.Errorf("events:\n%s", events)
	}
	if got := h.Count(h.Kit.Metrics.ClusterAutoscalerScaledUpNodesTotal); got != 2 {
		t.Errorf("%v nodes are counted, want 2", got)
	}
}

// TestAGroupInModeCASThatDoesNotGrow: a pod that no group helps has an event with the reasons, in the form that tools for
// Cluster Autoscaler read.
func TestAGroupInModeCASThatDoesNotGrow(t *testing.T) {
	t.Parallel()
	object := group("web", 0, 0)
	object.Spec.Mode = tenonv1alpha1.ModeCAS
	h, groups := newFixture(t, object), far(object)
	h.Kit.Groups, h.Kit.Settings.FeatureGates.NodeGroups = groups, true
	h.start(h.Kit)
	h.pods("web", 1, judged)
	h.decide()
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "pod didn't trigger scale-up: 1 max node group size reached") {
		t.Errorf("events:\n%s", events)
	}
	if got := h.Series("cluster_autoscaler_", h.Kit.Metrics.ClusterAutoscalerUnschedulablePodsCount); !slices.Equal(got, []string{"unschedulable_pods_count{type=unschedulable} 1"}) {
		t.Errorf("%q", got)
	}
	if got := h.Series("cluster_autoscaler_", h.Kit.Metrics.ClusterAutoscalerFunctionDurationSeconds); len(got) == 0 || !strings.Contains(got[0], "function=scaleUp") {
		t.Errorf("durations of decisions: %q", got)
	}
}

// TestNodesInTotal: with as many nodes as the cluster may have, no group grows, and tools for Cluster Autoscaler find its reason on the pod and
// its event.
func TestNodesInTotal(t *testing.T) {
	t.Parallel()
	object := group("web", 0, 9)
	object.Spec.Mode = tenonv1alpha1.ModeCAS
	status := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-status"}}
	h, groups := newFixture(t, object, status), far(object)
	h.Kit.Groups, h.Kit.Settings.FeatureGates.NodeGroups, h.Kit.Settings.WriteStatusConfigMap, h.Kit.Settings.Totals.Nodes = groups, true, true, 1
	h.start(h.Kit)
	h.pods("web", 4, judged) // for two nodes
	h.decide()
	if kept, shown := h.desired(groups); kept != 1 || shown != 1 {
		t.Errorf("the group has %d nodes and shows %d, want 1", kept, shown)
	}
	h.decide()
	events := strings.Join(h.Events(), "\n")
	for _, want := range []string{`pod didn't trigger scale-up: 1 exceeded quota: "cluster-wide", resources: nodes`, "Warning MaxNodesTotalReached", "raise the limits of the cluster, --max-nodes-total: nodes 1 → 2"} {
		if !strings.Contains(events, want) {
			t.Errorf("no %q in the events:\n%s", want, events)
		}
	}
}

// server keeps one group, and notes how often it is asked about how many pods.
type server struct {
	keeps string
	asked []int
}

// BestOptions implements expander.Server.
func (s *server) BestOptions(_ context.Context, r expander.Request) ([]string, error) {
	s.asked = append(s.asked, len(r.Options[0].Pods))
	return []string{s.keeps}, nil
}

// The server of the expander grpc is asked once about pods that wait, and the group that it keeps grows, although another one is cheaper.
func TestServerOfTheExpanderIsAsked(t *testing.T) {
	t.Parallel()
	cheap, dear := group("cheap", 0, 5), group("dear", 0, 5)
	cheap.Spec.Mode, dear.Spec.Mode = tenonv1alpha1.ModeCAS, tenonv1alpha1.ModeCAS
	dear.Status.Price.PerNode = "0.5"
	h, groups, chooses := newFixture(t, cheap, dear), far(cheap, dear), &server{keeps: "group-dear"}
	h.Kit.Groups, h.server = groups, chooses
	h.Kit.Settings.Expander, h.Kit.Settings.FeatureGates.NodeGroups = expand.GRPC, true
	h.start(h.Kit)
	h.pods("web", 2)
	h.decide()
	list, err := groups.Groups(context.Background())
	h.Must(err)
	for _, g := range list {
		want := int64(0)
		if g.Name == chooses.keeps {
			want = 1
		}
		if g.Desired != want {
			t.Errorf("%s has size %d, want %d", g.Name, g.Desired, want)
		}
	}
	if !slices.Equal(chooses.asked, []int{2}) {
		t.Errorf("asked about %v pods, want once about 2", chooses.asked)
	}
}

// TestGroupsBecomeFreeTogether: when a Cluster Autoscaler is stopped, its groups become free one after the other. None grows before all are, so the
// one with the highest priority gets the nodes.
func TestGroupsBecomeFreeTogether(t *testing.T) {
	t.Parallel()
	low, high := group("low", 0, 5), group("high", 0, 5)
	for o, priority := range map[*tenonv1alpha1.NodeGroup]int64{low: 10, high: 50} {
		o.Spec.Mode, o.Status.Priority = tenonv1alpha1.ModeCAS, &priority
		active(o, metav1.ConditionTrue, time.Time{})
	}
	h, groups := newFixture(t, low, high), far(low, high)
	h.Kit.Groups, h.Kit.Settings.Expander, h.Kit.Settings.FeatureGates.NodeGroups = groups, "priority", true
	h.start(h.Kit)
	h.pods("web", 2, judged)
	h.decide()
	for _, o := range []*tenonv1alpha1.NodeGroup{low, high} {
		h.Get(o.Name, o)
		active(o, metav1.ConditionFalse, h.Clock.Now())
		h.Must(h.API.Status().Update(context.Background(), o))
		h.watch()
		h.decide()
		if groups.Writes() != 0 {
			t.Fatalf("a group grew right after %s became free", o.Name)
		}
	}
	h.Clock.Step(2 * time.Second)
	h.decide()
	list, err := groups.Groups(context.Background())
	h.Must(err)
	for _, g := range list {
		if want := map[string]int64{"group-low": 0, "group-high": 1}[g.Name]; g.Desired != want {
			t.Errorf("%s has size %d, want %d", g.Name, g.Desired, want)
		}
	}
}

// active says on a group since when a Cluster Autoscaler changes it, or none does.
func active(o *tenonv1alpha1.NodeGroup, status metav1.ConditionStatus, since time.Time) {
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == tenonv1alpha1.ConditionForeignAutoscaler {
			c.Status, c.LastTransitionTime = status, metav1.NewTime(since)
		}
	}
}
