package nodegroup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/internal/controller/nodegroup"
	"tenon/internal/testing/harness"
)

// groups plays a provider.
type groups struct {
	list  []cloud.Group
	named []string
	err   error
}

func (g *groups) Groups(context.Context) ([]cloud.Group, error) { return g.list, g.err }
func (g *groups) Named() []string                               { return g.named }

// web is a group of m5.large in one zone with so many instances.
func web(instances int) cloud.Group {
	g := cloud.Group{
		Name: "web", Min: 1, Max: 9, Desired: int64(instances), Types: []string{"m5.large"}, Zones: []string{"a"}, CapacityTypes: []string{"on-demand"},
		Next: &cloud.GroupTemplate{
			Labels: map[string]string{"team": "shop"}, Taints: []model.Taint{{Key: "only", Value: "web", Effect: model.NoSchedule}}, Chosen: map[string][]string{},
			Capacity: model.Resources{CPU: 2000, Memory: 8 << 30, Pods: 29}, Allocatable: model.Resources{CPU: 1900, Memory: 7 << 30, Pods: 29}, Price: 96_000,
		},
	}
	for i := range instances {
		g.Instances = append(g.Instances, cloud.GroupInstance{ProviderID: fmt.Sprintf("aws:///a/i-%d", i), InstanceType: "m5.large", Zone: "a", State: cloud.Running, Price: 96_000})
	}
	return g
}

// node of the i-th instance, Ready for an hour.
func node(r *harness.Harness, i int, change func(*corev1.Node)) *corev1.Node {
	list := corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("7Gi"), "pods": resource.MustParse("20")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{"team": "live", corev1.LabelHostname: fmt.Sprint(i), corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "a"}},
		Spec:       corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///a/i-%d", i), Taints: []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"}}},
		Status: corev1.NodeStatus{Capacity: list, Allocatable: list, Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(r.Clock.Now().Add(-time.Hour))},
		}},
	}
	if change != nil {
		change(n)
	}
	return n
}

func unready(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }

// look runs the controller and reads an object; nil if there is none.
func look(t *testing.T, r *harness.Harness, g *groups, name string) *tenonv1alpha1.NodeGroup {
	t.Helper()
	r.Run(nodegroup.New(r.Kit, g), "")
	o := &tenonv1alpha1.NodeGroup{}
	if !r.Get(name, o) {
		return nil
	}
	return o
}

func status(o *tenonv1alpha1.NodeGroup) map[string]string {
	out := map[string]string{}
	for _, c := range o.Status.Conditions {
		out[c.Type] = string(c.Status) + " " + c.Reason
	}
	return out
}

// A group gets an object that says what it has, and the second look writes nothing.
func TestShown(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	g := &groups{list: []cloud.Group{web(3)}}
	r.Must(r.API.Create(t.Context(), node(r, 0, nil)))
	r.Must(r.API.Create(t.Context(), node(r, 1, unready)))
	o := look(t, r, g, "web")
	if o == nil || o.Spec.Mode != "observe" || o.Spec.GroupName != "web" {
		t.Fatalf("object %+v", o)
	}
	want := tenonv1alpha1.NodeGroupStatus{
		Size:      &tenonv1alpha1.NodeGroupSize{Min: 1, Max: 9, Desired: 3, Since: o.Status.Size.Since},
		Instances: &tenonv1alpha1.NodeGroupInstances{Total: 3, Ready: 1, Unready: 1, Unregistered: 1},
		Price:     &tenonv1alpha1.NodeGroupPrice{PerNode: "0.096", PerHour: "0.288"},
	}
	got := tenonv1alpha1.NodeGroupStatus{Size: o.Status.Size, Instances: o.Status.Instances, Price: o.Status.Price}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{
		"Ready": "True Ready", "GroupFound": "True GroupFound", "Supported": "True Supported", "TemplateKnown": "True CopiedFromNodes", "Healthy": "True NodesReady", "Unhindered": "True NothingKnown", "BackedOff": "False NoFailure", "ForeignAutoscalerActive": "False NoneSeen",
	}, status(o)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	r.Calls() // from here on
	look(t, r, g, "web")
	for _, c := range r.Calls() {
		if c.IsWrite() {
			t.Errorf("written again: %s", c)
		}
	}
}

// A template is what all nodes have in common and the least that one has; settings show where no node does.
func TestTemplates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*cloud.Group)
		nodes  []func(*corev1.Node)
		source string
		labels map[string]string
		pods   string
		taints int
	}{
		"no node":   {source: "the group's settings", labels: map[string]string{"team": "shop"}, pods: "29", taints: 1},
		"a node":    {nodes: []func(*corev1.Node){nil}, source: "1 nodes, such as node-0", labels: map[string]string{"team": "live", corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "a"}, pods: "20"},
		"not ready": {nodes: []func(*corev1.Node){unready}, source: "the group's settings", labels: map[string]string{"team": "shop"}, pods: "29", taints: 1},
		"of a former type": {nodes: []func(*corev1.Node){func(n *corev1.Node) { n.Labels[corev1.LabelInstanceTypeStable] = "t3.large" }},
			source: "the group's settings", labels: map[string]string{"team": "shop"}, pods: "29", taints: 1},
		"nodes that differ": {nodes: []func(*corev1.Node){nil, func(n *corev1.Node) {
			n.Labels["team"], n.Status.Allocatable, n.Spec.Taints = "other", corev1.ResourceList{"cpu": resource.MustParse("2"), "pods": resource.MustParse("11")}, []corev1.Taint{{Key: "own", Effect: "NoExecute"}}
		}}, source: "2 nodes, such as node-0", labels: map[string]string{corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "a"}, pods: "11", taints: 1},
		"several types and zones": {change: func(g *cloud.Group) {
			g.Types, g.Next.Chosen = []string{"m5.large", "m4.large"}, map[string][]string{corev1.LabelInstanceTypeStable: g.Types, corev1.LabelTopologyZone: {"a", "b"}}
			g.Next.Allocatable.Pods = 15
		}, nodes: []func(*corev1.Node){nil}, source: "1 nodes, such as node-0", labels: map[string]string{"team": "live"}, pods: "15"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{})
			g := web(2)
			if tc.change != nil {
				tc.change(&g)
			}
			for i, change := range tc.nodes {
				r.Must(r.API.Create(t.Context(), node(r, i, change)))
			}
			got := look(t, r, &groups{list: []cloud.Group{g}}, "web").Status.Template
			if diff := cmp.Diff(tc.labels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if pods := got.Allocatable["pods"]; got.Source != tc.source || pods.String() != tc.pods || len(got.Taints) != tc.taints {
				t.Errorf("from %q, %s pods, taints %v", got.Source, pods.String(), got.Taints)
			}
		})
	}
}

// A problem with a group is reported with a remedy, and the other group is shown as before.
func TestProblemsAreTold(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*cloud.Group)
		nodes  int
		want   map[string]string
	}{
		"unsupported": {change: func(g *cloud.Group) {
			g.Problems = []cloud.GroupProblem{{Effect: cloud.Unsupported, Reason: "WeightedCapacity", Message: "weights", Remedy: "mend-it"}}
		},
			want: map[string]string{"Supported": "False WeightedCapacity", "Ready": "False UnhealthyDependents"}},
		"unknown": {change: func(g *cloud.Group) {
			g.Next, g.Problems = nil, []cloud.GroupProblem{{Effect: cloud.Unknown, Reason: "NoInstanceType", Message: "no type", Remedy: "mend-it"}}
		}, want: map[string]string{"TemplateKnown": "False NoInstanceType", "Ready": "False UnhealthyDependents"}},
		"unknown, and a node shows it": {change: func(g *cloud.Group) {
			g.Problems = []cloud.GroupProblem{{Effect: cloud.Unknown, Reason: "TemplateNotRead", Message: "denied", Remedy: "mend-it"}}
		}, nodes: 1, want: map[string]string{"TemplateKnown": "True CopiedFromNodes", "Unhindered": "False TemplateNotRead", "Ready": "True Ready"}},
		"not looked up yet": {change: func(g *cloud.Group) {
			g.Next, g.Problems = nil, []cloud.GroupProblem{{Effect: cloud.Unknown, Reason: "NotLookedUp", Message: "later", Remedy: "mend-it"}}
		}, want: map[string]string{"TemplateKnown": "Unknown NotLookedUp", "Ready": "Unknown ReconcilingDependents"}},
		"hindered": {change: func(g *cloud.Group) {
			g.Problems = []cloud.GroupProblem{{Effect: cloud.Hindered, Reason: "InvalidTag", Message: "a tag", Remedy: "mend-it"}}
		},
			want: map[string]string{"Unhindered": "False InvalidTag", "Ready": "True Ready"}},
		"many nodes start": {change: func(g *cloud.Group) { *g = web(8) }, nodes: 4, want: map[string]string{"Healthy": "True NodesReady", "Ready": "True Ready"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{})
			g, other := web(2), web(0)
			other.Name = "other"
			tc.change(&g)
			for i := range tc.nodes {
				r.Must(r.API.Create(t.Context(), node(r, i, nil)))
			}
			o := look(t, r, &groups{list: []cloud.Group{g, other}}, "web")
			got := status(o)
			for condition, want := range tc.want {
				if got[condition] != want {
					t.Errorf("%s is %q, want %q", condition, got[condition], want)
				}
				if c := meta.FindStatusCondition(o.Status.Conditions, condition); condition != "Ready" && condition != "Healthy" && c.Status != "True" && !strings.Contains(c.Message, "mend-it") {
					t.Errorf("%s has no remedy: %q", condition, c.Message)
				}
			}
			sound := &tenonv1alpha1.NodeGroup{}
			if !r.Get("other", sound) || status(sound)["Ready"] != "True Ready" {
				t.Errorf("the other group: %v", status(sound))
			}
		})
	}
}

// A group is unhealthy when many of its instances have had their time and are not in service. Those that start are not missing: else a group that has
// just grown could not grow for the pods that come next.
func TestHealth(t *testing.T) {
	t.Parallel()
	young := func(r *harness.Harness) func(*corev1.Node) {
		return func(n *corev1.Node) {
			unready(n)
			n.CreationTimestamp = metav1.NewTime(r.Clock.Now())
		}
	}
	cases := map[string]struct {
		change func(*harness.Harness) func(*corev1.Node) // of the nodes from the fifth on; the group has eight instances
		nodes  int
		after  time.Duration
		want   string
	}{
		"four instances boot":                          {nodes: 4, want: "True NodesReady"},
		"four have not come":                           {nodes: 4, after: 15 * time.Minute, want: "False NodesMissing"},
		"four nodes become Ready":                      {change: young, nodes: 8, want: "True NodesReady"},
		"four nodes have not become Ready":             {change: young, nodes: 8, after: 15 * time.Minute, want: "False NodesMissing"},
		"four nodes are not Ready any more":            {change: func(*harness.Harness) func(*corev1.Node) { return unready }, nodes: 8, want: "False NodesMissing"},
		"three nodes are not Ready, and some come":     {change: func(*harness.Harness) func(*corev1.Node) { return unready }, nodes: 7, want: "True NodesReady"},
		"three nodes are not Ready, and one is absent": {change: func(*harness.Harness) func(*corev1.Node) { return unready }, nodes: 7, after: 15 * time.Minute, want: "False NodesMissing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{})
			g := web(8)
			for i := range tc.nodes {
				change := func(*corev1.Node) {}
				if i >= 4 {
					change = tc.change(r)
				}
				r.Must(r.API.Create(t.Context(), node(r, i, change)))
			}
			o := look(t, r, &groups{list: []cloud.Group{g}}, "web")
			if tc.after > 0 {
				r.Clock.Step(tc.after)
				o = look(t, r, &groups{list: []cloud.Group{g}}, "web")
			}
			if got := status(o)["Healthy"]; got != tc.want {
				t.Errorf("Healthy is %q, want %q", got, tc.want)
			}
		})
	}
}

// Objects follow their groups: those made here go with them, a named group that is gone and one that a user made stay, and
// while the cloud does not answer nothing goes.
func TestGroupsComeAndGo(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Must(r.API.Create(t.Context(), &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "Mine", Mode: "observe"}}))
	g := &groups{list: []cloud.Group{{Name: "gone", Missing: true, Min: 1, Max: 2}, web(1)}, named: []string{"gone", "new"}}
	if o := look(t, r, g, "web"); o == nil || status(o)["Ready"] != "True Ready" {
		t.Fatalf("object %+v", o)
	}
	for name, want := range map[string]string{"gone": "False GroupNotFound", "mine": "False GroupNotFound"} {
		if got := status(look(t, r, g, name))["GroupFound"]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	g.err = errors.New("denied")
	for _, name := range []string{"web", "gone", "mine", "new"} {
		o := look(t, r, g, name)
		if o == nil || status(o)["GroupFound"] != "Unknown GroupsNotRead" {
			t.Errorf("%s while AWS does not answer: %+v", name, o)
		}
	}
	if o := look(t, r, g, "web"); o.Status.Size == nil {
		t.Error("what was seen is forgotten")
	}
	g.err, g.list = nil, nil
	if look(t, r, g, "web") != nil || look(t, r, g, "mine") == nil {
		t.Error("the wrong objects are gone")
	}
}

// A write that fails for one object is tried again, and the others are written.
func TestOneFailureKeepsNoOther(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	other := web(0)
	other.Name = "zeta"
	g := &groups{list: []cloud.Group{web(1), other}}
	r.Fail(func(c harness.Call) error {
		if c.Verb == "create" && c.Name == "web" {
			return errors.New("refused")
		}
		return nil
	})
	c := nodegroup.New(r.Kit, g)
	if _, err := c.Reconcile(t.Context(), client.ObjectKey{}); err == nil {
		t.Error("no error")
	}
	if !r.Get("zeta", &tenonv1alpha1.NodeGroup{}) {
		t.Error("the other object was not made")
	}
}
