package corpus

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"

	"tenon/core/catalog"
	"tenon/core/requirement"
)

// Onto makes a case of n diverse pods for existing nodes of eight processors, each of which
// already runs two small pods. It has 400 fake types for the pods that do not fit.
func Onto(n, nodes int) Case {
	c := Mix(Diverse, n, Fake(400))
	c.Name = fmt.Sprintf("%s onto nodes", Diverse)
	d := podMaker{r: rand.New(rand.NewSource(Seed + 1))}
	eight := &c.Catalog.Types[7]
	for i := range nodes {
		name := fmt.Sprintf("node-%d", i)
		c.Nodes = append(c.Nodes, node(name, eight, &eight.Offerings[2+i%3], c.Pools[0]))
		for k := range 2 {
			c.Running = append(c.Running, bind(d.pod(Generic, fmt.Sprintf("running-%d-%d", i, k)), name))
		}
	}
	return c
}

// Starved makes a case like a cluster whose small pods waited for hours behind big ones: 20 pools,
// 1,060 nodes that are nearly full, and 2,170 waiting pods, the biggest of which want GPUs that
// cannot be had anywhere. With spread, the small pods prefer to be spread over zones and nodes, as
// in many charts, and the scheduler has to try and give up every one of these preferences.
func Starved(spread bool) Case {
	types, words := withoutGPUs()
	c := Case{Name: "starved", Pools: twentyPools(), Catalog: types, Words: words}
	c.fillNodes(1060)
	r := rand.New(rand.NewSource(Seed))
	for i := range 470 {
		c.Pods = append(c.Pods, gpuPod(r, fmt.Sprintf("train-%d", i)))
	}
	for i := range 1700 {
		pod := teamPod(r, fmt.Sprintf("web-%d", i))
		if spread {
			pod.Spec.TopologySpreadConstraints = softSpread(pod.Labels)
		}
		c.Pods = append(c.Pods, pod)
	}
	return c
}

func withoutGPUs() (*catalog.Catalog, requirement.Words) {
	have, words := EC2()
	gpus := map[string]bool{}
	for i := range have.Types {
		if have.Types[i].Capacity.Get(instancetype.NvidiaGPU) > 0 {
			gpus[have.Types[i].Name] = true
		}
	}
	params := instancetype.Defaults("us-west-2")
	params.Unavailable = func(instanceType, _, _ string) bool { return gpus[instanceType] }
	built := instancetype.Build(params)
	return &built.Catalog, words
}

const teamLabel = "example.com/team"

var gpuTaint = corev1.Taint{Key: instancetype.NvidiaGPU, Value: "true", Effect: corev1.TaintEffectNoSchedule}

// twentyPools returns four pools of GPU nodes and sixteen pools of teams, half of which are
// tainted.
func twentyPools() []*karpenterv1.NodePool {
	var pools []*karpenterv1.NodePool
	for i := range 4 {
		pool := Pool(fmt.Sprintf("gpu-%d", i), Gt(awsv1.LabelInstanceGPUCount, "0"))
		pool.Spec.Template.Spec.Taints = []corev1.Taint{gpuTaint}
		pools = append(pools, pool)
	}
	for i := range 16 {
		pool := Pool(fmt.Sprintf("team-%d", i), Basic()...)
		team := fmt.Sprintf("t%d", i)
		pool.Spec.Template.Labels = map[string]string{teamLabel: team}
		if i%2 == 0 {
			pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: teamLabel, Value: team, Effect: corev1.TaintEffectNoSchedule}}
		}
		pools = append(pools, pool)
	}
	return pools
}

// fillNodes adds nodes of the teams' pools, with four pods each that leave little room.
func (c *Case) fillNodes(n int) {
	var t *catalog.Type
	for i := range c.Catalog.Types {
		if c.Catalog.Types[i].Name == "m6i.4xlarge" {
			t = &c.Catalog.Types[i]
		}
	}
	var offers []*catalog.Offering
	for i := range t.Offerings {
		if t.Offerings[i].CapacityType == catalog.OnDemand {
			offers = append(offers, &t.Offerings[i])
		}
	}
	for i := range n {
		name, pool := fmt.Sprintf("node-%d", i), c.Pools[4+i%16]
		c.Nodes = append(c.Nodes, node(name, t, offers[i%len(offers)], pool))
		for k := range 4 {
			pod := waiting(fmt.Sprintf("running-%d-%d", i, k), map[string]string{"app": "running"}, requests(3900, 8192))
			pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			c.Running = append(c.Running, bind(pod, name))
		}
	}
}

func gpuPod(r *rand.Rand, name string) *corev1.Pod {
	gpus := []int64{1, 4, 8}[r.Intn(3)]
	size := requests(gpus*[]int64{8000, 10000, 12000}[r.Intn(3)], gpus*[]int64{32, 64, 96}[r.Intn(3)]<<10)
	size[instancetype.NvidiaGPU] = *resource.NewQuantity(gpus, resource.DecimalSI)
	pod := waiting(name, map[string]string{"app": "train"}, size)
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{instancetype.NvidiaGPU: size[instancetype.NvidiaGPU]}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: instancetype.NvidiaGPU, Operator: corev1.TolerationOpExists}}
	return pod
}

// teamPod makes a small pod; every second one belongs on its team's nodes.
func teamPod(r *rand.Rand, name string) *corev1.Pod {
	size := requests([]int64{500, 1000, 2000, 4000}[r.Intn(4)], []int64{1024, 2048, 4096, 8192}[r.Intn(4)])
	team := fmt.Sprintf("t%d", r.Intn(16))
	pod := waiting(name, map[string]string{"app": "web-" + team}, size)
	if r.Intn(2) == 0 {
		pod.Spec.NodeSelector = map[string]string{teamLabel: team}
		pod.Spec.Tolerations = []corev1.Toleration{{Key: teamLabel, Operator: corev1.TolerationOpEqual, Value: team}}
	}
	return pod
}

func softSpread(labels map[string]string) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		out = append(out, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
		})
	}
	return out
}
