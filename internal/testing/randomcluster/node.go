package randomcluster

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// nodePlan holds what placing pods on a node needs to know of it.
type nodePlan struct {
	name    string
	cpu     int64 // milli-cores that are free
	memory  int64
	pods    int64
	leaving bool
}

func (w *world) addNodes() {
	for i := range w.d.between(0, 5) {
		pool := one(w.d, w.pools...)
		t := one(w.d, w.out.Types...)
		if pool.arch != "" && t.Architecture != pool.arch || t.Capacity[gpuResource] != "" {
			continue
		}
		w.addNode(fmt.Sprintf("node-%d", i), pool, t)
	}
}

// addNode makes a claim, and also a Node unless it has yet to come. The Node may be in service, starting
// or leaving, and a few belong to no pool.
func (w *world) addNode(name string, pool poolPlan, t Type) {
	labels := w.nodeLabels(pool, t)
	switch n := w.d.IntN(100); {
	case n < 12:
		w.addClaim(name, pool, t, labels, false)
	case n < 22: // a node of another cluster
		for key := range maps.Clone(labels) {
			if key == requirement.KeyNodePool || key == karpenterv1.NodeClassLabel(classReference.Group, classReference.Kind) {
				delete(labels, key)
			}
		}
		w.addMachine(name, t, labels, nil, inService)
	case n < 34:
		w.addClaim(name, pool, t, labels, false)
		w.addMachine(name, t, labels, pool.taints, startingUp)
	case n < 52:
		deleted := w.d.percent(50)
		w.addClaim(name, pool, t, labels, deleted)
		taints := pool.taints
		if !deleted {
			taints = append(taints[:len(taints):len(taints)], karpenterv1.TaintDisrupted())
		}
		w.addMachine(name, t, labels, taints, leaving)
	default:
		w.addClaim(name, pool, t, labels, false)
		w.addMachine(name, t, labels, pool.taints, inService)
	}
}

func (w *world) nodeLabels(pool poolPlan, t Type) map[string]string {
	labels := maps.Clone(pool.labels)
	maps.Copy(labels, t.Labels)
	maps.Copy(labels, map[string]string{
		requirement.KeyNodePool:     pool.name,
		requirement.KeyInstanceType: t.Name,
		requirement.KeyArch:         t.Architecture,
		requirement.KeyOS:           "linux",
		requirement.KeyZone:         one(w.d, pool.zones...),
		requirement.KeyCapacityType: one(w.d, pool.capacityTypes...),

		karpenterv1.NodeClassLabel(classReference.Group, classReference.Kind): classReference.Name,
	})
	return labels
}

func providerID(name string) string { return "chance:///" + name }

// addClaim makes the launched claim of a node. Its name is the node's.
func (w *world) addClaim(name string, pool poolPlan, t Type, labels map[string]string, deleted bool) {
	claim := &karpenterv1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"},
		ObjectMeta: meta("", name),
	}
	claim.Labels = maps.Clone(labels)
	claim.Spec.NodeClassRef = pointer(classReference)
	claim.Spec.Taints = pool.taints
	claim.Spec.StartupTaints = []corev1.Taint{starting}
	claim.Spec.Requirements = []karpenterv1.Requirement{
		{Key: requirement.KeyInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{t.Name}},
		{Key: requirement.KeyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{labels[requirement.KeyZone]}},
	}
	claim.Status.ProviderID = providerID(name)
	claim.Status.Capacity, claim.Status.Allocatable = capacityOf(t), allocatableOf(t)
	if deleted {
		claim.DeletionTimestamp = pointer(metav1.NewTime(Now))
		claim.Finalizers = []string{"karpenter.sh/termination"}
	}
	w.add(claim)
}

func capacityOf(t Type) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, text := range t.Capacity {
		out[corev1.ResourceName(name)] = resource.MustParse(text)
	}
	return out
}

func allocatableOf(t Type) corev1.ResourceList {
	out := capacityOf(t)
	for name, text := range t.Overhead {
		left := out[corev1.ResourceName(name)]
		left.Sub(resource.MustParse(text))
		out[corev1.ResourceName(name)] = left
	}
	return out
}

// phase is how far a node has come.
type phase int

const (
	inService phase = iota
	startingUp
	leaving
)

func (w *world) addMachine(name string, t Type, labels map[string]string, taints []corev1.Taint, p phase) {
	node := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: meta("", name),
	}
	node.Labels = maps.Clone(labels)
	node.Labels[corev1.LabelHostname] = name
	node.Spec.ProviderID = providerID(name)
	node.Spec.Taints = taints
	node.Status.Capacity, node.Status.Allocatable = capacityOf(t), allocatableOf(t)
	if _, ours := labels[requirement.KeyNodePool]; ours {
		node.Labels[karpenterv1.LabelRegistered] = "true"
		if p != startingUp {
			node.Labels[karpenterv1.LabelInitialized] = "true"
		}
	}
	if p == startingUp {
		node.Spec.Taints = append(taints[:len(taints):len(taints)], starting, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	}
	if p == inService && w.d.percent(8) {
		node.Spec.Unschedulable = true
		node.Spec.Taints = append(node.Spec.Taints[:len(node.Spec.Taints):len(node.Spec.Taints)], corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	w.add(node)
	w.addAttachments(name)
	if p == startingUp {
		return // nothing runs there yet
	}
	pods, err := strconv.ParseInt(t.Capacity["pods"], 10, 64)
	if err != nil {
		panic(fmt.Sprintf("chance: type %s: %v", t.Name, err)) // addType writes numbers
	}
	w.nodes = append(w.nodes, nodePlan{
		name: name, leaving: p == leaving, pods: pods - 2,
		cpu: node.Status.Allocatable.Cpu().MilliValue() - 400, memory: node.Status.Allocatable.Memory().Value() - 1<<28,
	})
}

// addAttachments says how many volumes some nodes can attach.
func (w *world) addAttachments(node string) {
	if !w.d.percent(40) {
		return
	}
	w.add(&storagev1.CSINode{
		TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"},
		ObjectMeta: meta("", node),
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
			Name: driver, NodeID: node, TopologyKeys: []string{requirement.KeyZone},
			Allocatable: &storagev1.VolumeNodeResources{Count: pointer(int32(w.d.between(1, 2)))},
		}}},
	})
}

var capacityTypes = []string{catalog.OnDemand, catalog.Spot}
