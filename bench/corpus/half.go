package corpus

import (
	"fmt"
	"math/rand"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
)

// Half is a cluster of many teams whose nodes are half used: every pool is a team's, a
// fifth of the pods is spread over zones and a tenth keeps away from its own kind.
func Half(nodes, pools, pods int) Case {
	types, words := EC2()
	r := rand.New(rand.NewSource(Seed))
	c := Case{Name: fmt.Sprintf("half-used %d/%d/%d", nodes, pools, pods), Catalog: types, Words: words}
	for i := range pools {
		pool := Pool(fmt.Sprintf("team-%d", i), Basic()...)
		pool.Spec.Template.Labels = map[string]string{teamLabel: fmt.Sprintf("t%d", i)}
		pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(0)
		pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "10%"}}
		c.Pools = append(c.Pools, pool)
	}
	sizes := c.generalPurpose()
	free := make([]int64, nodes)
	for i := range nodes {
		t := sizes[r.Intn(len(sizes))]
		zone := i % 3
		var offers []*catalog.Offering
		for k := range t.Offerings {
			if t.Offerings[k].CapacityType == catalog.OnDemand {
				offers = append(offers, &t.Offerings[k])
			}
		}
		c.Nodes = append(c.Nodes, node(fmt.Sprintf("node-%04d", i), t, offers[zone%len(offers)], c.Pools[i%pools]))
		free[i] = t.Allocatable(&t.Offerings[0]).CPU * int64(25+r.Intn(50)) / 100
	}
	for i := range pods {
		on := r.Intn(nodes)
		cpu := []int64{100, 250, 500, 1000}[r.Intn(4)]
		for try := 0; try < 20 && free[on] < cpu; try++ {
			on = r.Intn(nodes)
		}
		if free[on] < cpu {
			continue
		}
		free[on] -= cpu
		c.Running = append(c.Running, bind(teamMember(r, i, on%pools, cpu), c.Nodes[on].Name))
	}
	return c
}

// generalPurpose returns types of the sixth generation, from 8 to 32 processors.
func (c *Case) generalPurpose() []*catalog.Type {
	var out []*catalog.Type
	for i := range c.Catalog.Types {
		t := &c.Catalog.Types[i]
		family, size, _ := strings.Cut(t.Name, ".")
		if (family == "m6i" || family == "c6i" || family == "r6i") && (size == "2xlarge" || size == "4xlarge" || size == "8xlarge") {
			out = append(out, t)
		}
	}
	return out
}

func teamMember(r *rand.Rand, i, team int, cpu int64) *corev1.Pod {
	app := fmt.Sprintf("t%d-%d", team, r.Intn(12))
	pod := waiting(fmt.Sprintf("%s-%d", app, i), map[string]string{"app": app}, requests(cpu, cpu*[]int64{1, 2, 4}[r.Intn(3)]))
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: uidOf(app), Controller: &yes}}
	if team%2 == 0 {
		pod.Spec.NodeSelector = map[string]string{teamLabel: fmt.Sprintf("t%d", team)}
	}
	selector := &metav1.LabelSelector{MatchLabels: pod.Labels}
	switch n := len(app) + r.Intn(10); {
	case n%10 < 2:
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 3, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
		}}
	case n%10 == 2:
		pod.Labels["alone"] = app
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"alone": app}},
		}}}}
	}
	return pod
}
