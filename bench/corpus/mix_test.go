package corpus

import (
	"math/rand"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// secondMix draws a mix as its description says, in the stated order: label values, cpu, memory.
type secondMix struct{ r *rand.Rand }

func (d secondMix) letter() string { return []string{"a", "b", "c", "d", "e", "f", "g"}[d.r.Intn(7)] }
func (d secondMix) cpu() int64     { return []int64{100, 250, 500, 1000, 1500}[d.r.Intn(5)] }
func (d secondMix) memory() int64  { return []int64{100, 256, 512, 1024, 2048, 4096}[d.r.Intn(6)] << 20 }

func TestDrawsAreThoseOfTheBenchmark(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		letters int
		label   string
	}{
		Generic:      {1, "my-label"},
		ZoneSpread:   {2, "my-label"},
		HostSpread:   {2, "my-label"},
		ZoneAffinity: {1, "my-affinity"},
		HostAnti:     {0, "app"},
	}
	for mix, tc := range cases {
		t.Run(mix, func(t *testing.T) {
			t.Parallel()
			d := secondMix{rand.New(rand.NewSource(42))}
			for i, pod := range Mix(mix, 50, Fake(1)).Pods {
				var letters []string
				for range tc.letters {
					letters = append(letters, d.letter())
				}
				cpu, memory := d.cpu(), d.memory()
				r := pod.Spec.Containers[0].Resources.Requests
				if r.Cpu().MilliValue() != cpu || r.Memory().Value() != memory {
					t.Fatalf("pod %d requests %v, want %dm and %d bytes", i, r, cpu, memory)
				}
				if tc.letters > 0 && pod.Labels[tc.label] != letters[0] {
					t.Fatalf("pod %d has labels %v, want %s", i, pod.Labels, letters[0])
				}
				if got := selected(pod); tc.letters > 1 && got[tc.label] != letters[1] {
					t.Fatalf("pod %d selects %v, want %s", i, got, letters[1])
				}
			}
		})
	}
}

// selected returns the labels that the pod's only rule looks for.
func selected(pod *corev1.Pod) map[string]string {
	if spreads := pod.Spec.TopologySpreadConstraints; len(spreads) > 0 {
		return spreads[0].LabelSelector.MatchLabels
	}
	return nil
}

func TestDiverseIsAFifthOfEach(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	uids := map[string]bool{}
	for _, pod := range Mix(Diverse, 23, Fake(1)).Pods {
		count[kindOf(pod)]++
		uids[string(pod.UID)] = true
	}
	want := map[string]int{Generic: 4 + 3, ZoneSpread: 4, HostSpread: 4, ZoneAffinity: 4, HostAnti: 4}
	for kind, n := range want {
		if count[kind] != n {
			t.Errorf("%d pods of %s, want %d", count[kind], kind, n)
		}
	}
	if len(uids) != 23 {
		t.Errorf("%d different UIDs, want 23", len(uids))
	}
}

func kindOf(pod *corev1.Pod) string {
	switch a, spreads := pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints; {
	case len(spreads) > 0 && spreads[0].TopologyKey == corev1.LabelTopologyZone:
		return ZoneSpread
	case len(spreads) > 0:
		return HostSpread
	case a != nil && a.PodAffinity != nil:
		return ZoneAffinity
	case a != nil && a.PodAntiAffinity != nil:
		return HostAnti
	}
	return Generic
}

func TestEveryoneGetsTheSameObjects(t *testing.T) {
	t.Parallel()
	a, b := Mix(Diverse, 100, Fake(1)), Mix(Diverse, 100, Fake(1))
	for i := range a.Pods {
		if a.Pods[i].String() != b.Pods[i].String() {
			t.Fatalf("pod %d differs:\n%v\n%v", i, a.Pods[i], b.Pods[i])
		}
	}
}

func TestStarvedHasItsShape(t *testing.T) {
	t.Parallel()
	c := Starved(true)
	if len(c.Pools) != 20 || len(c.Nodes) != 1060 || len(c.Pods) != 2170 {
		t.Fatalf("%d pools, %d nodes, %d pods; want 20, 1060, 2170", len(c.Pools), len(c.Nodes), len(c.Pods))
	}
	for i := range c.Catalog.Types {
		if ty := &c.Catalog.Types[i]; ty.Capacity.Get("nvidia.com/gpu") > 0 {
			for _, o := range ty.Offerings {
				if o.Available {
					t.Fatalf("%s can be had in %s", ty.Name, o.Zone)
				}
			}
		}
	}
	used := map[string]int64{}
	for _, pod := range c.Running {
		used[pod.Spec.NodeName] += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	}
	for _, node := range c.Nodes {
		if free := node.Status.Allocatable.Cpu().MilliValue() - used[node.Name]; free < 0 || free >= 500 {
			t.Fatalf("node %s has %dm left: the smallest waiting pod needs 500m", node.Name, free)
		}
	}
}
