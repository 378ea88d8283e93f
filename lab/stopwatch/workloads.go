package stopwatch

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// Workloads lists the names of what Live can run.
func Workloads() []string { return []string{"mixed", "spread", "inflate"} }

// workload makes the Deployments of a name. A seed gives the same ones every time; scale
// multiplies their replicas.
func workload(name string, seed uint64, scale float64) ([]*appsv1.Deployment, error) {
	many := func(n int) int32 { return max(1, int32(float64(n)*scale+0.5)) }
	switch name {
	case "mixed":
		return mixed(seed, many(50)), nil
	case "spread":
		return spread(many(100), many(40)), nil
	case "inflate":
		return []*appsv1.Deployment{deployment("inflate", many(5000), "1")}, nil
	}
	return nil, fmt.Errorf("there is no workload %q: use one of %v", name, Workloads())
}

// mixed are 40 Deployments whose pods ask for CPU and memory drawn at random.
func mixed(seed uint64, replicas int32) []*appsv1.Deployment {
	dice := rand.New(rand.NewPCG(seed, seed))
	cpus := []string{"100m", "250m", "500m", "1", "2", "4"}
	memories := []string{"128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi", "8Gi"}
	var out []*appsv1.Deployment
	for i := range 40 {
		d := deployment(fmt.Sprintf("mixed-%02d", i), replicas, cpus[dice.IntN(len(cpus))])
		requests := d.Spec.Template.Spec.Containers[0].Resources.Requests
		requests[corev1.ResourceMemory] = resource.MustParse(memories[dice.IntN(len(memories))])
		out = append(out, d)
	}
	return out
}

// spread are ten Deployments spread over zones, and five whose pods share no node.
func spread(spread, apart int32) []*appsv1.Deployment {
	var out []*appsv1.Deployment
	for i := range 10 {
		d := deployment(fmt.Sprintf("spread-%02d", i), spread, []string{"250m", "500m", "1"}[i%3])
		d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: d.Spec.Selector,
		}}
		out = append(out, d)
	}
	for i := range 5 {
		d := deployment(fmt.Sprintf("apart-%02d", i), apart, []string{"100m", "250m", "500m"}[i%3])
		d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: d.Spec.Selector}},
		}}
		out = append(out, d)
	}
	return out
}

// livePool consolidates as eagerly as a pool can: at once, and all nodes together.
func livePool() []client.Object {
	class := nodeClass()
	p := pool(anyPool,
		karpenterv1.Requirement{Key: awsv1.LabelInstanceGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}},
		karpenterv1.Requirement{Key: awsv1.LabelInstanceCPU, Operator: corev1.NodeSelectorOpLt, Values: []string{"17"}})
	at := karpenterv1.NillableDuration{}
	if err := at.UnmarshalJSON([]byte(`"0s"`)); err != nil {
		panic(err) // a constant
	}
	p.Spec.Disruption = karpenterv1.Disruption{
		ConsolidationPolicy: karpenterv1.ConsolidateWhenEmptyOrUnderutilized, ConsolidateAfter: at, Budgets: []karpenterv1.Budget{{Nodes: "100%"}},
	}
	return []client.Object{class, p}
}

// scaled is how many replicas are left of a Deployment when a share of its pods is.
func scaled(d *appsv1.Deployment, share float64) int32 {
	return int32(float64(*d.Spec.Replicas)*share + 0.5)
}

// typed gives objects the kinds that files need.
func typed(objects []client.Object) []client.Object {
	out := slices.Clone(objects)
	for _, o := range out {
		switch o := o.(type) {
		case *appsv1.Deployment:
			o.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
		case *karpenterv1.NodePool:
			o.TypeMeta = metav1.TypeMeta{APIVersion: karpenterv1.GroupVersion.String(), Kind: "NodePool"}
		case *awsv1.EC2NodeClass:
			o.TypeMeta = metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: "EC2NodeClass"}
		}
	}
	return out
}
