package randomcluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// poolPlan holds what making nodes needs to know of a pool.
type poolPlan struct {
	name   string
	labels map[string]string
	taints []corev1.Taint
	// capacityTypes and zones are those that the pool admits.
	capacityTypes, zones []string
	arch                 string // empty for any
}

var (
	dedicated = corev1.Taint{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}
	evicting  = corev1.Taint{Key: "special", Value: "true", Effect: corev1.TaintEffectNoExecute}
	disliked  = corev1.Taint{Key: "costly", Effect: corev1.TaintEffectPreferNoSchedule}
	starting  = corev1.Taint{Key: "network.example.com/not-ready", Effect: corev1.TaintEffectNoSchedule}
)

var classReference = karpenterv1.NodeClassReference{Group: "example.com", Kind: "MachineClass", Name: "standard"}

func (w *world) addPools() {
	for i := range w.d.between(1, 4) {
		w.addPool(fmt.Sprintf("pool-%d", i))
	}
}

func (w *world) addPool(name string) {
	plan := poolPlan{name: name, labels: map[string]string{}, capacityTypes: []string{catalog.OnDemand, catalog.Spot}, zones: w.zones}
	pool := &karpenterv1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: meta("", name),
	}
	pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(0) // the API's default, which is written out
	spec := &pool.Spec.Template.Spec
	spec.NodeClassRef = pointer(classReference)
	ready := metav1.ConditionTrue
	if w.d.percent(8) {
		ready = metav1.ConditionFalse
	}
	pool.Status.Conditions = []metav1.Condition{{Type: condition.Ready, Status: ready, Reason: "Chance", LastTransitionTime: metav1.NewTime(Now)}}
	if w.d.percent(40) {
		pool.Spec.Weight = pointer(int32(w.d.between(1, 3) * 10))
	}
	w.choosePoolTaints(spec, &plan)
	w.choosePoolRequirements(pool, &plan)
	w.chooseLimits(pool)
	w.pools = append(w.pools, plan)
	w.add(pool)
}

// addStaticPool adds, to some clusters, a pool with its own number of nodes. It comes last, so that
// earlier draws of a seed stay the same.
func (w *world) addStaticPool() {
	if !w.d.percent(20) {
		return
	}
	w.addPool("static-0")
	pool := w.out.Objects[len(w.out.Objects)-1].(*karpenterv1.NodePool)
	pool.Spec.Replicas = pointer(int64(w.d.between(0, 4)))
	pool.Spec.Weight, pool.Spec.Limits = nil, nil
	if w.d.percent(50) {
		pool.Spec.Limits = karpenterv1.Limits{"nodes": *resource.NewQuantity(int64(w.d.between(0, 4)), resource.DecimalSI)}
	}
	w.out.Settings.StaticCapacity = w.d.percent(80)
}

// choosePrices gives nodes of some pools, in some clusters, their own price. It comes after all pools, so
// that earlier draws of a seed stay the same.
func (w *world) choosePrices() {
	if !w.d.percent(25) {
		return
	}
	for _, o := range w.out.Objects {
		if pool, ok := o.(*karpenterv1.NodePool); ok && w.d.percent(60) {
			pool.Annotations = map[string]string{karpenterv1.AnnotationNodePrice: one(w.d, "0.01", "0.05", "0.4", "a lot")}
		}
	}
}

// chooseCeilings gives some pools, in some clusters, a price ceiling. It also comes last.
func (w *world) chooseCeilings() {
	if !w.d.percent(25) {
		return
	}
	for _, o := range w.out.Objects {
		if pool, ok := o.(*karpenterv1.NodePool); ok && w.d.percent(60) {
			metav1.SetMetaDataAnnotation(&pool.ObjectMeta, karpenterv1.AnnotationPriceCeiling, one(w.d, "1", "1.5", "4", "a lot"))
		}
	}
}

func (w *world) choosePoolTaints(spec *karpenterv1.NodeClaimTemplateSpec, plan *poolPlan) {
	if w.d.percent(25) {
		plan.taints = append(plan.taints, one(w.d, dedicated, evicting))
	}
	if w.d.percent(15) {
		plan.taints = append(plan.taints, disliked)
	}
	spec.Taints = plan.taints
	if w.d.percent(20) {
		spec.StartupTaints = []corev1.Taint{starting}
	}
}

func (w *world) choosePoolRequirements(pool *karpenterv1.NodePool, plan *poolPlan) {
	require := func(key string, op corev1.NodeSelectorOperator, values ...string) *karpenterv1.Requirement {
		list := &pool.Spec.Template.Spec.Requirements
		*list = append(*list, karpenterv1.Requirement{Key: key, Operator: op, Values: values})
		return &(*list)[len(*list)-1]
	}
	capacityTypes := []string{catalog.OnDemand, catalog.Spot}
	if w.d.percent(40) {
		capacityTypes = append(capacityTypes, catalog.Reserved)
	}
	if w.d.percent(25) {
		capacityTypes = some(w.d, catalog.OnDemand, catalog.Spot)
		plan.capacityTypes = capacityTypes
	}
	require(requirement.KeyCapacityType, corev1.NodeSelectorOpIn, capacityTypes...)
	if w.d.percent(30) {
		plan.zones = some(w.d, w.zones...)
		require(requirement.KeyZone, corev1.NodeSelectorOpIn, plan.zones...)
	}
	if w.d.percent(60) {
		plan.arch = "amd64"
		require(requirement.KeyArch, corev1.NodeSelectorOpIn, plan.arch)
	}
	if w.d.percent(15) {
		require(sizeLabel, corev1.NodeSelectorOpGt, one(w.d, "1", "2"))
	}
	w.chooseCustomLabels(pool, plan, require)
	if w.d.percent(15) {
		require(one(w.d, requirement.KeyInstanceType, familyLabel, requirement.KeyZone), corev1.NodeSelectorOpExists).MinValues = pointer(2)
	}
}

// chooseCustomLabels defines labels: some with a fixed value, some with values from which pods choose.
func (w *world) chooseCustomLabels(pool *karpenterv1.NodePool, plan *poolPlan, require func(string, corev1.NodeSelectorOperator, ...string) *karpenterv1.Requirement) {
	if w.d.percent(50) {
		plan.labels[teamLabel] = one(w.d, "red", "blue")
		pool.Spec.Template.Labels = map[string]string{teamLabel: plan.labels[teamLabel]}
	}
	if w.d.percent(40) {
		plan.labels[tierLabel] = "gold" // the label of its existing nodes
		require(tierLabel, corev1.NodeSelectorOpIn, "gold", "silver", "tin")
	}
	if w.d.percent(25) {
		plan.labels[rackLabel] = "r1"
		require(rackLabel, corev1.NodeSelectorOpExists)
	}
}

func (w *world) chooseLimits(pool *karpenterv1.NodePool) {
	if !w.d.percent(35) {
		return
	}
	pool.Spec.Limits = karpenterv1.Limits{}
	for _, name := range some(w.d, corev1.ResourceCPU, corev1.ResourceMemory, "nodes", gpuResource) {
		switch name {
		case corev1.ResourceCPU:
			pool.Spec.Limits[name] = *resource.NewQuantity(int64(w.d.between(0, 40)), resource.DecimalSI)
		case corev1.ResourceMemory:
			pool.Spec.Limits[name] = resource.MustParse(fmt.Sprintf("%dGi", w.d.between(8, 160)))
		default:
			pool.Spec.Limits[name] = *resource.NewQuantity(int64(w.d.between(0, 6)), resource.DecimalSI)
		}
	}
}
