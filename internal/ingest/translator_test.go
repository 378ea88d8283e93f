package ingest_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/ingest"
	"tenon/internal/owner"
)

// An owner keeps the index current and translates the affected pods again.
func TestTranslatorFollowsTheIndex(t *testing.T) {
	t.Parallel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "red", Labels: map[string]string{"team": "red"}}}
	pod := objects(t, podWith(container+"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}, namespaceSelector: {matchLabels: {team: red}}}]}}\n")).Pods[0]
	index := ingest.NewIndex()
	translator := ingest.NewTranslator(index, fromCluster(t))
	namespaces := func() []string {
		translated, ok := translator.Pod(pod)
		if !ok {
			t.Fatal("the pod is left out")
		}
		return translator.Templates()[translated.Template].Affinity[0].Namespaces
	}
	check(t, "at first", namespaces(), "[]")
	before := translator.Templates()
	index.Put(namespace)
	check(t, "before it is told to forget", namespaces(), "[]")
	translator.Forget()
	check(t, "with the namespace", namespaces(), "[red]")
	index.Remove(namespace)
	translator.Forget()
	check(t, "without it again", namespaces(), "[]")
	check(t, "templates: the third answer is the first again", len(translator.Templates()), 2)
	check(t, "templates handed out before", len(before), 1)
}

// A selector that looks at a label which earlier templates left out makes them stale.
func TestTranslatorTellsWhenItIsStale(t *testing.T) {
	t.Parallel()
	const label = "apps.kubernetes.io/pod-index"
	found := objects(t, podNamed("a", "labels: {"+label+": '0'}\n", container)+
		podNamed("b", "", container+"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {"+label+": '0'}}}]}}\n"))
	translator := ingest.NewTranslator(ingest.NewIndex(), fromCluster(t))
	first, _ := translator.Pod(found.Pods[0])
	check(t, "labels while no rule looks", translator.Templates()[first.Template].Labels, "map[]")
	check(t, "stale", translator.Stale(), false)
	translator.Pod(found.Pods[1])
	check(t, "stale after a rule looked", translator.Stale(), true)
	translator.Restart()
	again, _ := translator.Pod(found.Pods[0])
	check(t, "labels since", translator.Templates()[again.Template].Labels, "map["+label+":0]")
	translator.Pod(found.Pods[1])
	check(t, "stale", translator.Stale(), false)
}

// The owner of a ReplicaSet is remembered by the set's UID after the set is gone, and not for ever.
func TestFormerSetsAreRemembered(t *testing.T) {
	t.Parallel()
	index := ingest.NewIndex()
	made := func(i int, uid types.UID) *appsv1.ReplicaSet {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", i), UID: types.UID(fmt.Sprint("d-", i))}}
		s := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%d-1", i), UID: uid}}
		s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
		return s
	}
	parent := func(s *appsv1.ReplicaSet) string { return index.Parent(owner.Is("apps/v1", "ReplicaSet", s)).Name }
	first, namesake := made(0, "s"), made(0, "t")
	index.Put(first)
	check(t, "there", parent(first), "web-0")
	index.Remove(first)
	check(t, "gone", parent(first), "web-0")
	check(t, "gone, asked for one of the same name", parent(namesake), "web-0-1")
	index.Put(first)
	index.Put(namesake)
	check(t, "replaced", parent(first), "web-0")
	check(t, "in its place", parent(namesake), "web-0")
	for i := range 1000 {
		s := made(i+1, types.UID(fmt.Sprint("s-", i)))
		index.Put(s)
		index.Remove(s)
	}
	check(t, "long gone", parent(first), "web-0-1")
}

// Everything that can be put into an index can be removed from it.
func TestIndexKinds(t *testing.T) {
	t.Parallel()
	index := ingest.NewIndex()
	for _, o := range arbitrary(1, 4).Others {
		if !index.Put(o) || !index.Remove(o) {
			t.Errorf("%T is taken for something that does not matter", o)
		}
	}
	for _, o := range []any{&corev1.ConfigMap{}, &corev1.Pod{}, &karpenterv1.NodePool{}, nil} {
		if index.Put(o) || index.Remove(o) {
			t.Errorf("%T is not looked up by others", o)
		}
	}
}
