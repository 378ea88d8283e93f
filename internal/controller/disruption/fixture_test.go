package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
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
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/assembly"
	"tenon/internal/controller/disruption"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/rolloutpace"
	"tenon/internal/savings"
	"tenon/internal/settings"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// fixture is the disruption controllers on a rig, with their world. Changes reach the world only
// through the test, which acts as the watch.
type fixture struct {
	*harness.Harness
	t                 *testing.T
	world             *world.World
	evaluate, conduct reconcile.Controller
	names             int
	known             map[string]client.Object
	gates             settings.FeatureGates
	parallel          int                      // writes at a time
	closed            bool                     // the offers of pools are unknown
	prospects         map[string]plan.Prospect // of the last evaluation, by node
}

func newFixture(t *testing.T, objects ...client.Object) *fixture {
	h := &fixture{Harness: harness.New(t, memory.Options{}, objects...), t: t}
	h.Kit.Settings = settings.Settings{PreferencePolicy: settings.PreferenceRespect}
	h.start()
	return h
}

// start starts a process, which knows only what is on the objects.
func (h *fixture) start() {
	h.Kit.Settings.FeatureGates = h.gates
	h.world, h.known = assembly.World(h.Kit), map[string]client.Object{}
	list := disruption.New(h.Kit, disruption.Options{
		World: h.world, Supply: market.NewSupply(h.Kit.Clock, cloudCatalog{h}, nil), Executor: execute.New(h.Kit, h.world, h.parallel),
		Rollouts: rolloutpace.New(h.Kit), Ledger: savings.New(h.Kit),
		Suffix: func() string { h.names++; return fmt.Sprintf("%05d", h.names) },
		Tell: func(s *snapshot.Snapshot, d *decide.Decision) {
			h.prospects = map[string]plan.Prospect{}
			for _, o := range d.Plan.Prospects {
				h.prospects[o.Node] = o
			}
			h.Replay(s, decide.Budget{Disrupt: true, Unadvised: true, Unproven: true}, d)
		},
	})
	h.evaluate, h.conduct = list[0], list[1]
	h.watch()
}

// cloudCatalog returns the cloud's catalogue.
type cloudCatalog struct{ of *fixture }

func (s cloudCatalog) Catalog(context.Context, *karpenterv1.NodePool) (*catalog.Catalog, error) {
	if s.of.closed {
		return nil, errors.New("no instance types found")
	}
	return memory.Sample(), nil
}

// watch passes all existing and deleted objects to the world.
func (h *fixture) watch() {
	h.t.Helper()
	seen := map[string]client.Object{}
	for _, list := range []client.ObjectList{&karpenterv1.NodePoolList{}, &tenonv1alpha1.NodeGroupList{}, &karpenterv1.NodeClaimList{}, &corev1.NodeList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.PodList{}} {
		h.Must(h.API.List(context.Background(), list))
		h.Must(meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			seen[fmt.Sprintf("%T %s/%s", o, object.GetNamespace(), object.GetName())] = object
			h.world.Put(o)
			return nil
		}))
	}
	for key, object := range h.known {
		if seen[key] == nil {
			h.world.Remove(object)
		}
	}
	h.known = seen
}

// pass lets time pass, while the watches keep up; both controllers run every second.
func (h *fixture) pass(d time.Duration) {
	h.t.Helper()
	for range int(d / time.Second) {
		h.lookAgain()
		h.Run(h.conduct, "")
		h.watch()
	}
}

// lookAgain lets a second pass in which only the evaluator looks.
func (h *fixture) lookAgain() {
	h.t.Helper()
	h.Clock.Step(time.Second)
	h.watch()
	h.Run(h.evaluate, "")
	h.watch()
}

// machine is a node in service.
type machine struct {
	name, kind, capacity string
	pods                 int    // of one core each
	pool                 string // "web" if empty
}

func (h *fixture) machine(m machine) {
	h.t.Helper()
	if m.pool == "" {
		m.pool = "web"
	}
	kind := catalogue(m.kind)
	at := metav1.NewTime(h.Clock.Now().Add(-time.Hour))
	labels := map[string]string{
		karpenterv1.LabelNodePool: m.pool, corev1.LabelInstanceTypeStable: m.kind, karpenterv1.LabelCapacityType: m.capacity,
		corev1.LabelTopologyZone: memory.Zones()[0], corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass"): "default",
	}
	claim := h.Named(m.name, m.pool, func(c *karpenterv1.NodeClaim) {
		c.Labels, c.CreationTimestamp = labels, at
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
		c.Status.NodeName, c.Status.ProviderID = "node-"+m.name, "memory:///"+m.name
		c.Status.LastPodEventTime = at
		for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: name, LastTransitionTime: at})
		}
	})
	own := map[string]string{karpenterv1.LabelRegistered: "true", karpenterv1.LabelInitialized: "true", corev1.LabelHostname: "node-" + m.name}
	for key, value := range labels {
		own[key] = value
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-" + m.name, UID: types.UID("uid-node-" + m.name), Labels: own, CreationTimestamp: at, Finalizers: []string{karpenterv1.FinalizerTermination}},
		Spec:       corev1.NodeSpec{ProviderID: claim.Status.ProviderID},
	}
	harness.Ready(node)
	node.Status.Capacity = corev1.ResourceList{}
	for _, a := range kind.FullCapacity(&kind.Offerings[0]).Amounts() {
		node.Status.Capacity[corev1.ResourceName(a.Name)] = *resource.NewQuantity(a.Value, resource.DecimalSI)
		if a.Name == "cpu" {
			node.Status.Capacity[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.Value, resource.DecimalSI)
		}
	}
	node.Status.Allocatable = node.Status.Capacity.DeepCopy()
	h.Must(h.API.Create(context.Background(), node))
	for i := range m.pods {
		h.pod(fmt.Sprintf("%s-%d", m.name, i), node.Name)
	}
}

func catalogue(name string) *catalog.Type {
	sample := memory.Sample()
	at := slices.IndexFunc(sample.Types, func(t catalog.Type) bool { return t.Name == name })
	return &sample.Types[at]
}

// pod is a pod of a ReplicaSet, bound long ago.
func (h *fixture) pod(name, node string, change ...func(*corev1.Pod)) {
	h.t.Helper()
	yes := true
	at := metav1.NewTime(h.Clock.Now().Add(-time.Hour))
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: at, Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-rs", Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("900m")}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at}}},
	}
	for _, c := range change {
		c(p)
	}
	h.Must(h.API.Create(context.Background(), p))
}

// initialize makes claims that were made by a disruption ready, with their nodes.
func (h *fixture) initialize() {
	h.t.Helper()
	var list karpenterv1.NodeClaimList
	h.Must(h.API.List(context.Background(), &list))
	for i := range list.Items {
		c := &list.Items[i]
		if len(c.Status.Conditions) > 0 {
			continue
		}
		c.Status.ProviderID = "memory:///" + c.Name
		for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: name, LastTransitionTime: metav1.NewTime(h.Clock.Now())})
		}
		h.Put(c)
	}
}

// picture describes the objects: "claim [type]: marks".
func (h *fixture) picture() []string {
	h.t.Helper()
	var claims karpenterv1.NodeClaimList
	h.Must(h.API.List(context.Background(), &claims))
	var out []string
	for i := range claims.Items {
		c := &claims.Items[i]
		var marks []string
		if c.DeletionTimestamp != nil {
			marks = append(marks, "deleted")
		}
		var node corev1.Node
		if c.Status.NodeName != "" && h.Get(c.Status.NodeName, &node) && slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == karpenterv1.TaintDisrupted().Key }) {
			marks = append(marks, "closed")
		}
		for _, condition := range c.Status.Conditions {
			if condition.Type == karpenterv1.ConditionDisruptionReason && condition.Status == metav1.ConditionTrue {
				marks = append(marks, condition.Reason)
			}
		}
		if c.Annotations[karpenterv1.AnnotationDisruption] != "" {
			marks = append(marks, "recorded")
		}
		if c.Annotations[ingest.AnnotationRearranged] != "" {
			marks = append(marks, "rearranged")
		}
		out = append(out, c.Name+": "+strings.Join(marks, " "))
	}
	return out
}

func (h *fixture) expect(want ...string) {
	h.t.Helper()
	if got := h.picture(); !slices.Equal(got, want) {
		h.t.Errorf("claims are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// web is a pool whose nodes may all be removed at once.
func web(change ...func(*karpenterv1.NodePool)) *karpenterv1.NodePool {
	pool := harness.Pool("web")
	pool.Spec.Disruption.ConsolidateAfter = karpenterv1.NillableDuration{Duration: new(time.Duration)}
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "100%"}}
	pool.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement(requirement.KeyCapacityType, catalog.OnDemand)}
	pool.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", ObservedGeneration: 1}}
	for _, c := range change {
		c(pool)
	}
	return pool
}

// mark closes a node and states the reason, as another process would have done.
func (h *fixture) mark(name string) {
	h.t.Helper()
	claim := h.Claim(name)
	claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{
		Type: karpenterv1.ConditionDisruptionReason, Status: metav1.ConditionTrue, Reason: "Drifted", LastTransitionTime: metav1.NewTime(h.Clock.Now())})
	h.Put(claim)
	var node corev1.Node
	h.Get(claim.Status.NodeName, &node)
	node.Spec.Taints = append(node.Spec.Taints, karpenterv1.TaintDisrupted())
	h.Put(&node)
}

// noKey is the key of singletons.
var noKey = reconcile.Key{}
