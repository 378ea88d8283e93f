package world_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/surge"
	"tenon/internal/world"
)

// single is a world with a leaving node, and on it a pod that has to be replaced first, under a budget
// that lets no pod go.
type single struct {
	*world.World
	old, heir *corev1.Pod
}

func newSingle() *single {
	s := &single{World: world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))}
	leaving := node(0)
	leaving.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
	s.old, s.heir = pod(1, leaving.Name), pod(2, "")
	s.old.Annotations = map[string]string{surge.Annotation: "true"}
	s.heir.Annotations = map[string]string{surge.Annotation: "true", surge.AnnotationFor: string(s.old.UID)}
	s.heir.Status = corev1.PodStatus{Phase: corev1.PodPending}
	none := intstr.FromInt32(0)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}}
	budget.Spec.MaxUnavailable, budget.Spec.Selector = &none, &metav1.LabelSelector{}
	goes := claim(0)
	goes.DeletionTimestamp = &metav1.Time{Time: noon}
	for _, o := range []any{pool(0), goes, leaving, s.deployment(), s.set(1), s.setOf(2, 1), budget, s.old} {
		s.Put(o)
	}
	return s
}

func (s *single) deployment() *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "deployment-web"}}
	d.Spec.Template.Annotations = map[string]string{surge.Annotation: "true"}
	return d
}

func (s *single) set(replicas int32) *appsv1.ReplicaSet {
	return s.setOf(1, replicas)
}

// setOf returns one of the Deployment's ReplicaSets.
func (s *single) setOf(i int, replicas int32) *appsv1.ReplicaSet {
	out := set(i)
	out.Spec.Replicas = &replicas
	out.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.deployment(), appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	return out
}

// state describes for each pod whether it wants a place, and what holds it.
func (s *single) state() string {
	var words []string
	pods := s.Picture(world.Moment{Now: noon.Add(time.Minute)}).Snapshot.Pods
	for i := range pods {
		words = append(words, describe(&pods[i]))
	}
	return strings.Join(words, ", ")
}

func describe(p *snapshot.Pod) string {
	word := "stays"
	switch {
	case p.Pending:
		word = "waits"
	case p.Movable:
		word = "moves"
	}
	if len(p.Tie.Budgets) > 0 {
		word += " held by " + strings.Join(p.Tie.Budgets, " ")
	}
	return word
}

func (s *single) expect(t *testing.T, when, want string) {
	t.Helper()
	if got := s.state(); got != want {
		t.Errorf("%s: %s, want %s", when, got, want)
	}
}

// Of a pod and its replacement, at most one wants a place on a new node.
func TestOnePlaceForAPodAndItsHeir(t *testing.T) {
	t.Parallel()
	s := newSingle()
	s.expect(t, "before", "moves")
	s.Put(s.heir)
	s.expect(t, "with its heir", "stays, waits")
	ending := s.heir.DeepCopy()
	now := metav1.NewTime(noon)
	ending.DeletionTimestamp = &now
	s.Put(ending)
	s.expect(t, "its heir ends", "moves")
	s.Put(s.heir)
	s.Put(s.heir)
	s.Remove(s.heir)
	s.expect(t, "its heir is gone", "moves")
}

// The replacement of a pod keeps its place after the pod's ReplicaSet is gone: a roll-out deletes the
// set, and the watch may report that before the pod ends.
func TestThePlaceOfAnHeirOutlivesTheSet(t *testing.T) {
	t.Parallel()
	s := newSingle()
	s.Remove(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}})
	s.Put(s.heir)
	s.expect(t, "with its heir", "stays, waits")
	s.Remove(s.set(1))
	s.expect(t, "without its set", "stays, waits")
}

// What we have asked of a Deployment is known before any watch reports it, and an older version that
// arrives later changes nothing.
func TestARollOutIsKnownBeforeItIsSeen(t *testing.T) {
	t.Parallel()
	s := newSingle()
	before := s.deployment()
	before.Generation = 1
	s.Put(before)
	s.Remove(s.setOf(2, 1)) // the replacement is seen before its ReplicaSet
	asked := surge.Ask(before, s.old)
	asked.Generation = 2
	s.Put(asked)
	s.Put(s.heir)
	s.expect(t, "asked", "stays, waits")
	s.Put(before)
	s.expect(t, "an older version arrives", "stays, waits")
	anew := before.DeepCopy()
	anew.UID, anew.Generation = "another", 1
	s.Put(anew)
	s.expect(t, "another one of its name is there", "stays held by b, waits")
}

// A pod that is no longer the only one is evicted as others are, so that budgets hold it.
func TestScaledUpSinglesAreHeldByBudgets(t *testing.T) {
	t.Parallel()
	s := newSingle()
	s.expect(t, "alone", "moves")
	s.Put(s.set(2))
	s.expect(t, "one of two", "stays held by b")
	s.Put(s.set(1))
	s.expect(t, "alone again", "moves")
}
