package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"tenon/internal/surge"
	"tenon/sim"
	"tenon/sim/cluster"
	"tenon/sim/store"
	"tenon/sim/traffic"
)

// services are Deployments with a single pod, which ask to be replaced before it goes. None
// of them may ever be without a Ready pod, once it had one.
type services struct {
	*sim.Sim
	t     *testing.T
	ready map[string]map[types.UID]bool // by app
}

func newServices(t *testing.T, o sim.Options, names ...string) *services {
	t.Helper()
	s := &services{t: t, ready: map[string]map[types.UID]bool{}}
	var err error
	if s.Sim, err = sim.New(o); err != nil {
		t.Fatal(err)
	}
	users := &traffic.Users{Client: s.Store, Now: s.Clock.Now}
	s.must(users.Furnish(context.Background()))
	for _, name := range names {
		s.deploy(name)
	}
	s.Store.Listen(s.hear)
	return s
}

func (s *services) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *services) deploy(name string) {
	s.t.Helper()
	labels := map[string]string{"service": name}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels, d.Spec.Template.Annotations = labels, map[string]string{surge.Annotation: "true"}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("700m"), corev1.ResourceMemory: resource.MustParse("1Gi")}}}}
	s.must(s.Store.Create(context.Background(), d))
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	budget.Spec.MinAvailable, budget.Spec.Selector = ptr.To(intstr.FromInt32(1)), d.Spec.Selector
	s.must(s.Store.Create(context.Background(), budget))
}

// hear counts the pods that serve.
func (s *services) hear(c store.Change) {
	pod, is := c.Object().(*corev1.Pod)
	name := ""
	if is {
		name = pod.Labels["service"]
	}
	if name == "" {
		return
	}
	if s.ready[name] == nil {
		s.ready[name] = map[types.UID]bool{}
	}
	had := len(s.ready[name])
	if delete(s.ready[name], pod.UID); c.New != nil && pod.DeletionTimestamp == nil && cluster.Ready(pod) {
		s.ready[name][pod.UID] = true
	}
	if had > 0 && len(s.ready[name]) == 0 {
		s.t.Errorf("%s: no pod of %s is Ready: %s goes", s.Clock.Now().Format(time.DateTime), name, pod.Name)
	}
}

// deleteNode deletes the node on which a service runs, as an impatient user would.
func (s *services) deleteNode(name string) {
	s.t.Helper()
	for _, pod := range store.All[*corev1.Pod](s.Store) {
		if pod.Labels["service"] != name || pod.Spec.NodeName == "" {
			continue
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}
		s.must(s.Store.Delete(context.Background(), node))
		return
	}
	s.t.Fatalf("%s runs nowhere", name)
}

// Nodes are deleted a hundred times under three services with one pod each, while calls
// fail, caches lag and processes end: the services move, and are never without a Ready pod.
func TestServicesWithOnePodAlwaysHaveAReadyPod(t *testing.T) {
	t.Parallel()
	faults, err := sim.ParseFaults("lag,api,crash,interleave,cloud,handover")
	if err != nil {
		t.Fatal(err)
	}
	const moves = 20
	seeds, names := uint64(5), []string{"api", "db", "web"}
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newServices(t, sim.Options{Seed: seed, Faults: faults}, names...)
			s.Run(10 * time.Minute)
			for i := range moves {
				s.deleteNode(names[i%len(names)])
				s.Run(6 * time.Minute)
			}
			s.Rest(40 * time.Minute)
			if nodes := len(store.All[*corev1.Node](s.Store)); nodes > len(names) {
				t.Errorf("there are %d nodes for %d pods", nodes, len(names))
			}
			moved := 0
			for _, d := range store.All[*appsv1.Deployment](s.Store) {
				if d.Spec.Template.Annotations[surge.AnnotationFor] != "" {
					moved++
				}
			}
			// Each move takes a machine, and no pod gets one for itself and one for its heir.
			if report := s.Report(); len(report.Violations) > 0 || moved != len(names) || report.Launches > moves+len(names) {
				t.Errorf("%d services have moved: %s", moved, report)
			}
		})
	}
}
