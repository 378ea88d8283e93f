// Package workload makes the workloads for measuring fleets: Deployments drawn from a seed, and the pool
// whose nodes run them. The lab runs them on a real control plane, the simulation under virtual time.
//
// The package must not look at a cluster: the same arguments give the same objects.
package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
)

// Names lists the workloads.
func Names() []string { return []string{"mixed", "sizes", "spread", "zones", "purchase", "inflate"} }

// Deployments returns the Deployments of a workload. A seed gives the same ones every time; scale
// multiplies their replicas.
func Deployments(name string, seed uint64, scale float64) ([]*appsv1.Deployment, error) {
	many := func(n int) int32 { return max(1, int32(float64(n)*scale+0.5)) }
	switch name {
	case "mixed":
		return mixed(seed, many(50)), nil
	case "sizes":
		return sizes(seed, many(10)), nil
	case "spread":
		return spread(many(100), many(40)), nil
	case "zones":
		return zones(many(100), many(40)), nil
	case "purchase":
		return purchase(many(100)), nil
	case "inflate":
		return []*appsv1.Deployment{Deployment("inflate", many(5000), "1")}, nil
	}
	return nil, fmt.Errorf("there is no workload %q: use one of %v", name, Names())
}

// mixed returns 40 Deployments whose pods ask for CPU and memory drawn at random.
func mixed(seed uint64, replicas int32) []*appsv1.Deployment {
	dice := rand.New(rand.NewPCG(seed, seed))
	cpus := []string{"100m", "250m", "500m", "1", "2", "4"}
	memories := []string{"128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi", "8Gi"}
	var out []*appsv1.Deployment
	for i := range 40 {
		d := Deployment(fmt.Sprintf("mixed-%02d", i), replicas, cpus[dice.IntN(len(cpus))])
		requests := d.Spec.Template.Spec.Containers[0].Resources.Requests
		requests[corev1.ResourceMemory] = resource.MustParse(memories[dice.IntN(len(memories))])
		out = append(out, d)
	}
	return out
}

// sizes returns 200 Deployments of which hardly two ask for the same: 0.1 to 4 CPU in steps of 0.01, and
// 128 Mi to 8 Gi of memory in steps of 16 Mi, small ones as often as large ones.
func sizes(seed uint64, replicas int32) []*appsv1.Deployment {
	dice := rand.New(rand.NewPCG(seed, seed))
	drawn := func(least, most, step int64) int64 {
		return int64(float64(least)*math.Pow(float64(most)/float64(least), dice.Float64())) / step * step
	}
	var out []*appsv1.Deployment
	for i := range 200 {
		d := Deployment(fmt.Sprintf("sizes-%03d", i), replicas, fmt.Sprintf("%dm", drawn(100, 4000, 10)))
		requests := d.Spec.Template.Spec.Containers[0].Resources.Requests
		requests[corev1.ResourceMemory] = resource.MustParse(fmt.Sprintf("%dMi", drawn(128, 8192, 16)))
		out = append(out, d)
	}
	return out
}

// zones returns the Deployments of spread: their pods all ask for the same, but for half as much where
// pods share no node.
func zones(wide, apart int32) []*appsv1.Deployment {
	out := spread(wide, apart)
	for i, d := range out {
		cpu, memory := "500m", "512Mi"
		if i >= zonal {
			cpu, memory = "250m", "256Mi"
		}
		d.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
	return out
}

// zonal is how many of spread's Deployments are spread over zones.
const zonal = 10

// spread returns ten Deployments spread over zones, and five whose pods share no node.
func spread(wide, apart int32) []*appsv1.Deployment {
	var out []*appsv1.Deployment
	for i := range zonal {
		d := Deployment(fmt.Sprintf("spread-%02d", i), wide, []string{"250m", "500m", "1"}[i%3])
		d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: d.Spec.Selector,
		}}
		out = append(out, d)
	}
	for i := range 5 {
		d := Deployment(fmt.Sprintf("apart-%02d", i), apart, []string{"100m", "250m", "500m"}[i%3])
		d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: d.Spec.Selector}},
		}}
		out = append(out, d)
	}
	return out
}

// purchase returns ten Deployments of which every second one runs on demand only; the others also take
// spot machines.
func purchase(replicas int32) []*appsv1.Deployment {
	var out []*appsv1.Deployment
	for i := range 10 {
		d := Deployment(fmt.Sprintf("purchase-%02d", i), replicas, []string{"250m", "500m", "1"}[i%3])
		d.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse([]string{"512Mi", "1Gi", "2Gi", "4Gi"}[i%4])
		if i%2 == 0 {
			d.Spec.Template.Spec.NodeSelector = map[string]string{karpenterv1.LabelCapacityType: catalog.OnDemand}
		}
		out = append(out, d)
	}
	return out
}

// AnyPool is the name of the pool that takes every pod.
const AnyPool = "default"

// Fleet returns a node class and a pool that consolidates as eagerly as a pool can: at once, and all
// nodes together. The pool buys on demand, and also spot for the workload purchase.
func Fleet(name string) []client.Object {
	class := Class()
	p := Pool(AnyPool,
		karpenterv1.Requirement{Key: awsv1.LabelInstanceGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}},
		karpenterv1.Requirement{Key: awsv1.LabelInstanceCPU, Operator: corev1.NodeSelectorOpLt, Values: []string{"17"}})
	if name == "purchase" {
		for i, r := range p.Spec.Template.Spec.Requirements {
			if r.Key == karpenterv1.LabelCapacityType {
				p.Spec.Template.Spec.Requirements[i].Values = []string{catalog.Spot, catalog.OnDemand}
			}
		}
	}
	at := karpenterv1.NillableDuration{}
	if err := at.UnmarshalJSON([]byte(`"0s"`)); err != nil {
		panic(err) // a constant
	}
	p.Spec.Disruption = karpenterv1.Disruption{
		ConsolidationPolicy: karpenterv1.ConsolidateWhenEmptyOrUnderutilized, ConsolidateAfter: at, Budgets: []karpenterv1.Budget{{Nodes: "100%"}},
	}
	return []client.Object{class, p}
}

// Scaled returns how many replicas a Deployment has when it keeps a share of its pods.
func Scaled(d *appsv1.Deployment, share float64) int32 {
	return int32(float64(*d.Spec.Replicas)*share + 0.5)
}

// Typed gives objects the kinds that files need.
func Typed(objects []client.Object) []client.Object {
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

// Class returns the node class of the emulated account.
func Class() *awsv1.EC2NodeClass {
	tags := []map[string]string{{"karpenter.sh/discovery": "demo"}}
	return &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: awsv1.EC2NodeClassSpec{
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		Role:                       "karpenterNodeRole-demo",
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: tags[0]}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: tags[0]}},
	}}
}

// In returns a requirement that a key is in some values.
func In(key string, values ...string) karpenterv1.Requirement {
	return karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// Pool returns a pool like those of tutorials, which never gives up a node on its own.
func Pool(name string, more ...karpenterv1.Requirement) *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec = karpenterv1.NodeClaimTemplateSpec{
		NodeClassRef: &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		ExpireAfter:  karpenterv1.NeverEnding(),
		Requirements: append([]karpenterv1.Requirement{
			In("karpenter.k8s.aws/instance-category", "c", "m", "r"), In(corev1.LabelArchStable, "amd64"),
			In(corev1.LabelOSStable, "linux"), In(karpenterv1.LabelCapacityType, "on-demand"),
		}, more...),
	}
	p.Spec.Disruption.ConsolidateAfter = karpenterv1.NeverEnding()
	return p
}

// Deployment returns a Deployment like those of tutorials: its pods ask for CPU and do nothing.
func Deployment(name string, replicas int32, cpu string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	var grace int64
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{
				Name: "main", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}}},
		}},
	}
}
