package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/testing/randomcluster"
)

// fixture is a cluster and a plan for it, made by hand.
type fixture struct {
	c *randomcluster.Cluster
	s *snapshot.Snapshot
	// wants is the node of each pod; claims are bought as offers.
	wants  map[string]string
	claims map[string][]string
}

func newFixture() *fixture {
	st := &fixture{c: &randomcluster.Cluster{}, wants: map[string]string{}, claims: map[string][]string{}}
	for _, name := range []string{"small", "large"} {
		cores := map[string]string{"small": "2", "large": "8"}[name]
		t := randomcluster.Type{
			Name: name, Architecture: "amd64", OperatingSystems: []string{"linux"},
			Capacity: map[string]string{"cpu": cores, "memory": cores + "Gi", "pods": "5"},
		}
		for i, zone := range []string{"a", "b"} {
			t.Offerings = append(t.Offerings, randomcluster.Offering{Zone: zone, CapacityType: "spot", Price: 1 + 0.1*float64(i), Available: true})
		}
		st.c.Types = append(st.c.Types, t)
	}
	st.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	st.pool("default")
	return st
}

func (st *fixture) add(o randomcluster.Object) { st.c.Objects = append(st.c.Objects, o) }

func (st *fixture) pool(name string, taints ...corev1.Taint) {
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "example.com", Kind: "Class", Name: "standard"}
	pool.Spec.Template.Spec.Taints = taints
	pool.Status.Conditions = []metav1.Condition{{Type: condition.Ready, Status: metav1.ConditionTrue}}
	st.add(pool)
}

// node adds a node of no pool with two cores.
func (st *fixture) node(name, zone string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: zone,
	}}}
	n.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"), corev1.ResourcePods: resource.MustParse("5"),
	}
	n.Status.Allocatable = n.Status.Capacity
	st.add(n)
	return n
}

// pod adds a pod of half a core that the plan puts onto a node.
func (st *fixture) pod(name, node string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := newPod(name, changes...)
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	st.add(p)
	st.wants[keyOf(p)] = node
	return p
}

func newPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": strings.TrimRight(name, "0123456789")}}}
	p.Spec.Containers = []corev1.Container{{Name: "main"}}
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	for _, change := range changes {
		change(p)
	}
	return p
}

// running adds a pod that is there already.
func (st *fixture) running(name, node string, changes ...func(*corev1.Pod)) {
	p := newPod(name, changes...)
	p.Spec.NodeName = node
	st.add(p)
}

// claim buys offers, "small/a" first and the others as alternatives.
func (st *fixture) claim(name string, offers ...string) { st.claims[name] = offers }

func (st *fixture) plan(t *testing.T) *plan.Plan {
	t.Helper()
	st.s = st.c.Snapshot()
	var out plan.Plan
	taken := map[string][]snapshot.PodIndex{}
	for i := range st.s.Pods {
		if node, ok := st.wants[st.s.Pods[i].Key()]; ok {
			taken[node] = append(taken[node], snapshot.PodIndex(i))
		}
	}
	for _, node := range slices.Sorted(keys(taken)) {
		offers, bought := st.claims[node]
		if !bought {
			out.Existing = append(out.Existing, plan.Placement{Node: node, Pods: taken[node]})
			continue
		}
		out.Claims = append(out.Claims, st.bought(node, offers, taken[node]))
	}
	return &out
}

func (st *fixture) bought(name string, offers []string, pods []snapshot.PodIndex) plan.Claim {
	var list []plan.Offer
	for _, text := range offers {
		kind, zone, _ := strings.Cut(text, "/")
		list = append(list, plan.Offer{InstanceType: kind, Zone: zone, CapacityType: "spot"})
	}
	pool, _, _ := strings.Cut(name, "-")
	return plan.Claim{
		Name: name, Pool: pool, Offer: list[0], Alternatives: plan.List(list[1:]...), Pods: pods,
		Requirements: requirement.Set{}, Requests: model.Resources{},
	}
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func judged(t *testing.T, st *fixture) []string {
	t.Helper()
	p := st.plan(t)
	refused, err := Judge(context.Background(), st.c.Listing(), st.s, p)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range refused {
		plugin, _, _ := strings.Cut(r.Reason, ":")
		if text := fmt.Sprintf("%s %s %s", r.When, r.Pod, plugin); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

func cpu(text string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(text)
	}
}

func inZone(zone string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone} }
}

func port(p *corev1.Pod) {
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
}

func picks(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func affinity(key, app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: picks(app)}},
		}}
	}
}

func antiAffinity(key, app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: picks(app)}},
		}}
	}
}

func spread(key, app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			TopologyKey: key, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: picks(app),
		}}
	}
}

const testDriver = "disk.csi.example.com"

// disk gives a pod a bound volume in a zone.
func (st *fixture) disk(name, zone string) func(*corev1.Pod) {
	class := "disks"
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: "uid-" + "pvc", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"},
	}}
	claim.Spec.StorageClassName, claim.Spec.VolumeName, claim.Status.Phase = &class, name, corev1.ClaimBound
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: testDriver, VolumeHandle: name}
	volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: name, UID: claim.UID}
	volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
	}}}}
	st.add(claim)
	st.add(volume)
	return uses(name)
}

// toBeMade gives a pod a volume that will be made, in a zone.
func (st *fixture) toBeMade(name, zone string) func(*corev1.Pod) {
	mode, className := storagev1.VolumeBindingWaitForFirstConsumer, "class-"+name
	st.add(&storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: className}, Provisioner: testDriver, VolumeBindingMode: &mode,
		AllowedTopologies: []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{zone}}}}},
	})
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	claim.Spec.StorageClassName, claim.Status.Phase = &className, corev1.ClaimPending
	st.add(claim)
	return uses(name)
}

func uses(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
}

func (st *fixture) attachable(node string, count int32) {
	st.add(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: testDriver, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &count}},
	}}})
}

func (st *fixture) daemon(name string, changes ...func(*corev1.Pod)) {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
	set.Spec.Template.Spec = newPod(name, changes...).Spec
	st.add(set)
}
