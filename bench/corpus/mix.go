package corpus

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/catalog"
)

// Mixes of pods. The reference's own benchmark is Diverse: a fifth of each of the first
// five, in this order.
const (
	Generic      = "generic"
	ZoneSpread   = "zonespread"
	HostSpread   = "hostspread"
	ZoneAffinity = "zoneaffinity"
	HostAnti     = "hostanti"
	Diverse      = "diverse"
	Preferring   = "pref"
)

// Seed starts the random stream of every case.
const Seed = 42

// Mix makes a case of n pods of a mix, one pool without requirements, and no nodes.
func Mix(mix string, n int, types *catalog.Catalog) Case { return Draw(mix, n, types, Seed) }

// Draw is like Mix, with a separate random stream.
func Draw(mix string, n int, types *catalog.Catalog, seed int64) Case {
	d := podMaker{r: rand.New(rand.NewSource(seed))}
	if mix == Diverse {
		for _, part := range []string{Generic, ZoneSpread, HostSpread, ZoneAffinity, HostAnti} {
			d.make(part, n/5)
		}
		d.make(Generic, n-len(d.pods))
	} else {
		d.make(mix, n)
	}
	return Case{Name: mix, Pods: d.pods, Pools: onePool(), Catalog: types}
}

// podMaker draws pods. The order of the draws is part of the workload.
type podMaker struct {
	r    *rand.Rand
	pods []*corev1.Pod
}

func (d *podMaker) make(mix string, n int) {
	if mix == Preferring {
		d.makeAlike(n)
		return
	}
	for range n {
		d.pods = append(d.pods, d.pod(mix, fmt.Sprintf("%s-%d", mix, len(d.pods))))
	}
}

func (d *podMaker) pod(mix, name string) *corev1.Pod {
	switch mix {
	case Generic:
		labels := myLabel(d.letter())
		return waiting(name, labels, d.size())
	case ZoneSpread:
		return d.spread(name, corev1.LabelTopologyZone)
	case HostSpread:
		return d.spread(name, corev1.LabelHostname)
	case ZoneAffinity:
		labels := map[string]string{"my-affinity": d.letter()}
		pod := waiting(name, labels, d.size())
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(corev1.LabelTopologyZone, labels)},
		}}
		return pod
	case HostAnti:
		labels := map[string]string{"app": "nginx"}
		pod := waiting(name, labels, d.size())
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(corev1.LabelHostname, labels)},
		}}
		return pod
	}
	panic("corpus: there is no mix " + mix)
}

// spread draws the pod's own label first, then the one that its constraint selects.
func (d *podMaker) spread(name, key string) *corev1.Pod {
	own, selected := myLabel(d.letter()), myLabel(d.letter())
	pod := waiting(name, own, d.size())
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: selected},
	}}
	return pod
}

// makeAlike makes pods that are all the same, with two preferences: one that can hold for all pods
// at once, and one that cannot.
func (d *podMaker) makeAlike(n int) {
	size := d.size()
	for range n {
		labels := map[string]string{"app": "nginx"}
		pod := waiting(fmt.Sprintf("%s-%d", Preferring, len(d.pods)), labels, size.DeepCopy())
		pod.Spec.Affinity = &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 1,
				Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"test-zone-1"},
				}}},
			}}},
			PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 10, PodAffinityTerm: term(corev1.LabelTopologyZone, labels)},
				{Weight: 1, PodAffinityTerm: term(corev1.LabelHostname, labels)},
			}},
		}
		d.pods = append(d.pods, pod)
	}
}

func term(key string, labels map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}
}

func myLabel(value string) map[string]string { return map[string]string{"my-label": value} }

func (d *podMaker) letter() string { return string("abcdefg"[d.r.Intn(7)]) }

// Sizes that pods are drawn from.
var (
	milliCPUs = []int64{100, 250, 500, 1000, 1500}
	mebibytes = []int64{100, 256, 512, 1024, 2048, 4096}
)

func (d *podMaker) size() corev1.ResourceList {
	cpu := milliCPUs[d.r.Intn(len(milliCPUs))]
	return requests(cpu, mebibytes[d.r.Intn(len(mebibytes))])
}
