package corpus

import (
	"fmt"
	"iter"
	"math/rand"

	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// Workloads for a cloud's catalogue.
const (
	CPUSkewed    = "cpu-skewed"    // about 0.9 GiB a core
	MemorySkewed = "memory-skewed" // about 8 GiB a core
	MixedPools   = "mixed-pools"   // two pools; a third each is free, on-demand, arm64
	FiveHundred  = "500 shapes"
)

// Skews returns the workloads on which prices are compared.
func Skews() []string { return []string{Generic, CPUSkewed, MemorySkewed, MixedPools} }

func onePool() []*karpenterv1.NodePool { return []*karpenterv1.NodePool{Pool("default")} }

// Basic returns the requirements that most people begin with.
func Basic() []karpenterv1.Requirement {
	return []karpenterv1.Requirement{
		In(awsv1.LabelInstanceCategory, "c", "m", "r"),
		Gt(awsv1.LabelInstanceGeneration, "5"),
		In(karpenterv1.LabelCapacityType, karpenterv1.CapacityTypeOnDemand),
	}
}

// Skew makes a case of n pods on the EC2 catalogue: with everything that EC2 sells or, when basic
// is set, with what a pool as in the first example allows.
func Skew(workload string, n int, basic bool) Case {
	types, words := EC2()
	d := podMaker{r: rand.New(rand.NewSource(Seed))}
	for i := range n {
		d.pods = append(d.pods, d.skewed(workload, fmt.Sprintf("%s-%d", workload, i)))
	}
	c := Case{Name: workload, Pods: d.pods, Pools: onePool(), Catalog: types, Words: words}
	if basic {
		c = c.WithPools(Pool("default", Basic()...))
	}
	if workload == MixedPools {
		c = c.WithPools(mixedPools(basic)...)
	}
	return c
}

func (d *podMaker) skewed(workload, name string) *corev1.Pod {
	cpu, memory := milliCPUs[d.r.Intn(len(milliCPUs))], mebibytes[d.r.Intn(len(mebibytes))]
	labels := map[string]string{"app": workload}
	switch workload {
	case CPUSkewed:
		return waiting(name, labels, requests(2*cpu, memory/2))
	case MemorySkewed:
		return waiting(name, labels, requests(cpu, 4*memory))
	case MixedPools:
		pod := waiting(name, labels, requests(cpu, memory))
		pod.Spec.NodeSelector = []map[string]string{
			nil,
			{karpenterv1.LabelCapacityType: karpenterv1.CapacityTypeOnDemand},
			{corev1.LabelArchStable: "arm64"},
		}[d.r.Intn(3)]
		return pod
	}
	return waiting(name, labels, requests(cpu, memory))
}

// mixedPools returns one pool for all pods and one of spot nodes for arm64.
func mixedPools(basic bool) []*karpenterv1.NodePool {
	spot := []karpenterv1.Requirement{
		In(corev1.LabelArchStable, "arm64"),
		In(karpenterv1.LabelCapacityType, karpenterv1.CapacityTypeSpot),
	}
	if !basic {
		return []*karpenterv1.NodePool{Pool("general"), Pool("spot", spot...)}
	}
	return []*karpenterv1.NodePool{Pool("general", Basic()...), Pool("spot", append(spot, Basic()[:2]...)...)}
}

// Shapes makes a case of n pods of 500 different sizes, with everything that EC2 sells.
func Shapes(n int) Case {
	types, words := EC2()
	pods := make([]*corev1.Pod, 0, n)
	for pod := range ShapedPods(n) {
		pods = append(pods, pod)
	}
	return Case{Name: FiveHundred, Pods: pods, Pools: onePool(), Catalog: types, Words: words}
}

// Grid makes a case of n pods whose sizes lie on a grid of 110 × 150, with what a pool as in the
// first example allows: nearly every size of up to 16,500 is met.
func Grid(n int) Case {
	types, words := EC2()
	r := rand.New(rand.NewSource(Seed))
	c := Case{Name: "grid", Catalog: types, Words: words}
	for i := range n {
		cpu, memory := 50+40*r.Int63n(110), 64+64*r.Int63n(150)
		c.Pods = append(c.Pods, waiting(fmt.Sprintf("grid-%d", i), map[string]string{"app": "grid"}, requests(cpu, memory)))
	}
	return c.WithPools(Pool("default", Basic()...))
}

// ShapedPods makes the pods of Shapes one at a time.
func ShapedPods(n int) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		r := rand.New(rand.NewSource(Seed))
		var cpus, memories [500]int64
		for i := range cpus {
			cpus[i], memories[i] = 50+10*r.Int63n(400), 64+16*r.Int63n(600)
		}
		for i := range n {
			k := r.Intn(len(cpus))
			labels := map[string]string{"app": fmt.Sprintf("app-%d", k)}
			if !yield(waiting(fmt.Sprintf("app-%d-%d", k, i), labels, requests(cpus[k], memories[k]))) {
				return
			}
		}
	}
}
