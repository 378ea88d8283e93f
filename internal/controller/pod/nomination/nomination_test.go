package nomination_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/controller/pod/nomination"
	"tenon/internal/ingest"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// fixture is a claim, and pods of two templates that have their places on it.
type fixture struct {
	*harness.Harness
	world     *world.World
	nominator *nomination.Nominator
	pods      []*corev1.Pod
}

const claimName, nodeName = "web-1", "node-1"

func newFixture(t *testing.T, change ...func(*harness.Harness)) *fixture {
	t.Helper()
	s := &fixture{Harness: harness.New(t, memory.Options{})}
	s.Kit.Settings.NominatePods = true
	for _, c := range change {
		c(s.Harness)
	}
	s.world = world.New(ingest.Options{Vocabulary: s.Kit.Cloud.Describe().Vocabulary(), Unjudged: true}, s.Clock)
	s.nominator = nomination.New(s.Kit, s.world, s.Kit.Client, 1)
	var refs []world.PodRef
	for name, cpu := range map[string]string{"small": "100m", "large": "2"} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
		p.Spec.Containers = []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
		s.Must(s.API.Create(t.Context(), p))
		s.world.Put(p)
		s.pods = append(s.pods, p)
		refs = append(refs, world.PodRef{UID: p.UID, Namespace: p.Namespace, Name: p.Name})
	}
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claimName}}
	if cause := s.world.Assume(claim, model.Resources{}, refs); cause.Code != reason.None {
		t.Fatal(cause.Text())
	}
	return s
}

// named is what the status of each pod says.
func (s *fixture) named(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	var list corev1.PodList
	s.Must(s.API.List(t.Context(), &list))
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Status.NominatedNodeName
		s.world.Put(&list.Items[i])
	}
	return out
}

// A node opens when its pods have been nominated and a watch has told of that.
func TestANodeOpensWhenItsPodsAreNominated(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	if wait, _ := s.nominator.Prepare(t.Context(), claimName, nodeName); wait <= 0 {
		t.Error("the node opens although no watch has told of the nominations")
	}
	if got := s.named(t); got["small"] != nodeName || got["large"] != nodeName {
		t.Errorf("nominated are %v", got)
	}
	if wait, together := s.nominator.Prepare(t.Context(), claimName, nodeName); wait != 0 || together[claimName] != nodeName {
		t.Errorf("the node stays closed for %s, and %v open with it", wait, together)
	}
	if n := s.Count(s.Kit.Metrics.PodsNominationsTotal.WithLabelValues("nominated")); n != 2 {
		t.Errorf("%v nominations are counted", n)
	}
}

// What kube-scheduler has taken away is nominated again right before the node opens.
func TestNominationsAreRepeatedBeforeANodeOpens(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.nominator.Prepare(t.Context(), claimName, nodeName)
	s.named(t)
	var pod corev1.Pod
	s.Must(s.API.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "small"}, &pod))
	pod.Status.NominatedNodeName = ""
	s.Must(s.API.Status().Update(t.Context(), &pod))
	if got := s.named(t); got["small"] != "" {
		t.Fatalf("nominated are %v", got)
	}
	s.nominator.Repeat(t.Context(), claimName, nodeName)
	if got := s.named(t); got["small"] != nodeName || got["large"] != nodeName {
		t.Errorf("nominated are %v", got)
	}
}

// A watch that is silent keeps a node closed for two seconds, and a failure keeps none closed longer.
func TestANodeDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.Fail(func(c harness.Call) error {
		if c.Kind == "Pod" {
			return harness.ErrBroken
		}
		return nil
	})
	s.nominator.Prepare(t.Context(), claimName, nodeName)
	s.Clock.Step(2 * time.Second)
	if wait, _ := s.nominator.Prepare(t.Context(), claimName, nodeName); wait != 0 {
		t.Errorf("the node stays closed for %s", wait)
	}
}

// The nodes of a burst open together: the first one waits until the last one is ready and all pods have been
// nominated.
func TestNodesOfABurstOpenTogether(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	if cause := s.world.Assume(&karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}}, model.Resources{}, []world.PodRef{{UID: s.pods[0].UID, Namespace: "default", Name: s.pods[0].Name}}); cause.Code != reason.None {
		t.Fatal(cause.Text())
	}
	if wait, _ := s.nominator.Prepare(t.Context(), claimName, nodeName); wait <= 0 {
		t.Error("the node opens while another is still to come")
	}
	if got := s.named(t); got["small"] != "" || got["large"] != "" {
		t.Errorf("nominated before all nodes are ready: %v", got)
	}
	s.nominator.Prepare(t.Context(), "web-2", "node-2")
	if got := s.named(t); got[s.pods[0].Name] != "node-2" || got[s.pods[1].Name] != nodeName {
		t.Errorf("nominated are %v", got)
	}
	if wait, together := s.nominator.Prepare(t.Context(), "web-2", "node-2"); wait != 0 || together[claimName] != nodeName {
		t.Errorf("node-2 stays closed for %s, and opens with %v", wait, together)
	}
	if wait, _ := s.nominator.Prepare(t.Context(), claimName, nodeName); wait <= 0 {
		t.Errorf("%s opens itself while node-2 opens it", nodeName)
	}
}

// With the setting off nothing is written and nothing waits.
func TestNominationsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(r *harness.Harness) { r.Kit.Settings.NominatePods = false })
	if wait, _ := s.nominator.Prepare(t.Context(), claimName, nodeName); wait != 0 {
		t.Errorf("the node stays closed for %s", wait)
	}
	s.Run(s.nominator.Controller(), "")
	for name, node := range s.named(t) {
		if node != "" {
			t.Errorf("pod %s is nominated", name)
		}
	}
}

// Without the right to patch the status of pods, nodes open and pods are bound all the same.
func TestWithoutTheRightNodesOpen(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.Fail(func(c harness.Call) error {
		if c.IsWrite() {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, c.Name, errors.New("no"))
		}
		return nil
	})
	s.nominator.Prepare(t.Context(), claimName, nodeName)
	s.Clock.Step(2 * time.Second)
	if wait, _ := s.nominator.Prepare(t.Context(), claimName, nodeName); wait != 0 {
		t.Errorf("the node stays closed for %s", wait)
	}
}

// The controller takes back what was said of pods that have lost their places.
func TestLostPlacesAreTakenBack(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.nominator.Prepare(t.Context(), claimName, nodeName)
	s.named(t)
	s.world.Retract(claimName)
	s.Run(s.nominator.Controller(), "")
	for name, node := range s.named(t) {
		if node != "" {
			t.Errorf("pod %s still names %s", name, node)
		}
	}
}
