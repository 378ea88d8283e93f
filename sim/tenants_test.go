package sim_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/sim"
	"tenon/sim/store"
	"tenon/sim/traffic"
)

var manyTenants = flag.Bool("tenants", false, "play an hour of 20 tenants on 500 nodes")

// The pods of a tenant wait at most twice as long as they would if no tenant were hostile. The clock stands
// still while the product computes, so this covers only the waits that it decides: windows, retries, order.
// The test prints the CPU time that the hostile tenant costs.
//
//	go test ./sim -run HostileTenant -tenants -v -timeout 1h
func TestAHostileTenantHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	alone(t)
	size := load{tenants: 5, pods: 16, minutes: 12}
	if *manyTenants {
		size = load{tenants: 20, pods: 52, minutes: 60}
	}
	alone, beside := size.play(t, false), size.play(t, true)
	for name, a := range alone.waits {
		b := beside.waits[name]
		if a.pods != b.pods {
			t.Errorf("%s had %d pods alone, and %d beside a hostile tenant: the two runs differ in more than that tenant", name, a.pods, b.pods)
		}
		if b.mean() > 2*a.mean() || b.longest > 2*a.longest {
			t.Errorf("pods of %s waited %s on the mean, %s at most; alone %s and %s", name, b.mean(), b.longest, a.mean(), a.longest)
		}
	}
	t.Logf("alone %s; beside a hostile tenant %s", alone, beside)
}

// load is how much happens.
type load struct{ tenants, pods, minutes int }

// waits are the waiting times of one tenant's pods.
type waits struct {
	pods         int
	sum, longest time.Duration
}

func (w waits) mean() time.Duration { return w.sum / time.Duration(max(w.pods, 1)) }

// played is the result of a run.
type played struct {
	waits map[string]*waits
	nodes int // at most
	took  time.Duration
}

func (p played) String() string {
	all := waits{}
	for _, w := range p.waits { // a sum, in any order
		all.pods, all.sum, all.longest = all.pods+w.pods, all.sum+w.sum, max(all.longest, w.longest)
	}
	return fmt.Sprintf("%d pods waited %s on the mean and %s at most, %d nodes, played in %s", all.pods, all.mean(), all.longest, p.nodes, p.took.Round(time.Second))
}

// play makes the tenants scale, one after another; the last of them is hostile.
func (l load) play(t *testing.T, hostile bool) played {
	t.Helper()
	began := time.Now()
	s := newTenants(t)
	for i := range l.tenants - 1 {
		s.deploy(tenantName(i), "app", int32(l.pods), "1500m", nil)
	}
	s.Run(5 * time.Minute)
	out := played{waits: s.waits()}
	for minute := range l.minutes {
		for i := range l.tenants - 1 {
			if (i+minute)%4 == 0 { // a quarter more, or back
				s.scale(tenantName(i), "app", int32(l.pods+l.pods/4*((minute+i)/4%2)))
			}
		}
		for part := range 4 {
			if hostile {
				s.attack(4*minute + part)
			}
			s.Run(15 * time.Second)
		}
		out.nodes = max(out.nodes, len(store.All[*corev1.Node](s.Store)))
	}
	s.Run(2 * time.Minute)
	out.took = time.Since(began)
	if violations := s.Report().Violations; len(violations) > 0 {
		t.Errorf("hostile %v: %v", hostile, violations)
	}
	return out
}

func tenantName(i int) string { return fmt.Sprintf("tenant-%02d", i) }

// tenants is a cluster of nodes with four cores, which they share.
type tenants struct {
	*sim.Sim
	t *testing.T
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	run, err := sim.New(sim.Options{Seed: 1, Effort: sim.UsualEffort, Pause: time.Minute, Empties: true})
	s := &tenants{run, t}
	s.must(err)
	users := &traffic.Users{Client: s.Store, Now: s.Clock.Now}
	s.must(users.Furnish(context.Background()))
	pool := store.One[*karpenterv1.NodePool](s.Store, types.NamespacedName{Name: "default"}).DeepCopy()
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, karpenterv1.Requirement{
		Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{"compute-4", "general-4", "memory-4"}})
	s.must(s.Store.Update(context.Background(), pool))
	return s
}

func (s *tenants) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// waits measures from now on how long the pods of tenants wait for a node.
func (s *tenants) waits() map[string]*waits {
	out, since := map[string]*waits{}, map[types.UID]time.Time{}
	s.Store.Listen(func(c store.Change) {
		pod, is := c.New.(*corev1.Pod)
		if !is || pod.Labels["of"] != "app" {
			return
		}
		if began, waiting := since[pod.UID]; c.Old == nil {
			since[pod.UID] = s.Clock.Now()
		} else if waiting && pod.Spec.NodeName != "" {
			delete(since, pod.UID)
			w := out[pod.Namespace]
			if w == nil {
				w = &waits{}
				out[pod.Namespace] = w
			}
			d := s.Clock.Now().Sub(began)
			w.pods, w.sum, w.longest = w.pods+1, w.sum+d, max(w.longest, d)
		}
	})
	return out
}

// deploy makes a Deployment, in a namespace that exists from then on.
func (s *tenants) deploy(namespace, name string, replicas int32, cpu string, change func(*corev1.PodSpec)) {
	s.t.Helper()
	ctx := context.Background()
	if store.One[*corev1.Namespace](s.Store, types.NamespacedName{Name: namespace}) == nil {
		s.must(s.Store.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.Replicas, d.Spec.Selector = ptr.To(replicas), &metav1.LabelSelector{MatchLabels: map[string]string{"of": name}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("512Mi")}}}}
	if change != nil {
		change(&d.Spec.Template.Spec)
	}
	s.must(s.Store.Create(ctx, d))
}

func (s *tenants) scale(namespace, name string, replicas int32) {
	s.t.Helper()
	d := store.One[*appsv1.Deployment](s.Store, types.NamespacedName{Namespace: namespace, Name: name}).DeepCopy()
	d.Spec.Replicas = &replicas
	s.must(s.Store.Update(context.Background(), d))
}

// attack is one attack of the hostile tenant: new shapes of pods, most of which fit nowhere, sets of which only
// a few pods may exist, and pods that claim to belong to others' workloads.
func (s *tenants) attack(turn int) {
	s.t.Helper()
	const hostile, kinds = "hostile", 40
	if turn == 0 {
		s.must(s.Store.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hostile}}))
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: hostile, Name: "share"}}
		quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("200")}
		s.must(s.Store.Create(context.Background(), quota))
	}
	name := fmt.Sprintf("odd-%d", turn)
	if turn < kinds {
		s.deploy(hostile, name, int32(5+turn*20%400), fmt.Sprintf("%dm", 300+137*turn%3400), func(p *corev1.PodSpec) { oddly(p, turn, name) })
	} else {
		s.scale(hostile, fmt.Sprintf("odd-%d", turn%kinds), int32(turn*7%300))
	}
	forged := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: hostile, Name: fmt.Sprintf("forged-%d", turn)}}
	forged.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app", UID: types.UID(name), Controller: ptr.To(true)}}
	forged.Spec.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	_ = s.Store.Create(context.Background(), forged) // the quota may refuse it
}

// oddly gives a pod one of four constraints.
func oddly(p *corev1.PodSpec, turn int, name string) {
	self := &metav1.LabelSelector{MatchLabels: map[string]string{"of": name}}
	switch turn % 4 {
	case 0:
		p.NodeSelector = map[string]string{"example.com/nowhere": name}
	case 1:
		p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: self, TopologyKey: corev1.LabelTopologyZone}}}}
	case 2:
		p.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"of": "none"}}, TopologyKey: corev1.LabelHostname}}}}
	default:
		p.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: self}}
	}
}
