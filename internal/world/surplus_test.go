package world_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A snapshot counts the pods that ReplicaSets have beyond those that they or their Deployments want, and those that are ending.
func TestSurplus(t *testing.T) {
	t.Parallel()
	const none = -1
	for name, c := range map[string]struct {
		above, wanted int32 // by the Deployment, if there is one, and by its set
		pods, ending  int
		want          int
		fails         string // what the set fails at
	}{
		"as many as wanted":             {none, 5, 5, 0, 0, ""},
		"some are yet to come":          {none, 9, 5, 0, 0, ""},
		"scaled down":                   {none, 2, 5, 0, 3, ""},
		"some end already":              {none, 2, 5, 2, 3, ""},
		"all that are too many":         {none, 2, 5, 3, 3, ""},
		"one is replaced":               {none, 5, 6, 1, 1, ""},
		"the Deployment wants as many":  {5, 5, 5, 0, 0, ""},
		"the set has yet to hear of it": {2, 5, 5, 0, 3, ""},
		"scaled to none":                {0, 5, 5, 0, 5, ""},
		"another set has the rest":      {5, 3, 3, 0, 0, ""},
		"some cannot be deleted":        {none, 2, 5, 1, 3, "FailedDelete"},
		"some cannot be created":        {none, 9, 5, 0, 0, "FailedCreate"},
	} {
		w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))
		s := set(1)
		s.Spec.Replicas = &c.wanted
		if c.fails != "" {
			s.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: c.fails}}
		}
		if c.above != none {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: s.Namespace, UID: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &c.above}}
			s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
			w.Put(d)
		}
		w.Put(s)
		w.Put(node(0))
		for i := range c.pods {
			p := pod(1+i*manySets, node(0).Name)
			if i < c.ending {
				p.DeletionTimestamp = &metav1.Time{Time: noon}
			}
			w.Put(p)
		}
		if n := w.Picture(world.Moment{Now: noon}).Snapshot.Waiting.Leaving; n != c.want {
			t.Errorf("%s: %d pods are about to end, want %d", name, n, c.want)
		}
	}
}

// A snapshot has the Deployments that were scaled down in the last three seconds, each with what it was scaled down by last; one that has been
// scaled up since does not count, nor does any other change.
func TestScaledDown(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	generation := int64(0)
	want := func(name string, replicas int32) {
		generation++
		w.Put(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: generation}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}})
	}
	for at, step := range []struct {
		name     string
		replicas int32
		want     string
	}{
		{"a", 9, "0 Deployments, 0 pods"}, {"b", 9, "0 Deployments, 0 pods"}, {"a", 4, "1 Deployments, 5 pods"}, {"a", 4, "1 Deployments, 5 pods"},
		{"b", 1, "2 Deployments, 13 pods"}, {"c", 1, "1 Deployments, 8 pods"}, {"b", 2, "0 Deployments, 0 pods"},
	} {
		clock.SetTime(noon.Add(time.Duration(at) * time.Second))
		want(step.name, step.replicas)
		got := w.Picture(world.Moment{Now: clock.Now()}).Snapshot.Waiting.ScaledDown
		told := fmt.Sprintf("%d Deployments, %d pods", got.Deployments, got.Pods)
		if told != step.want {
			t.Errorf("after %d s: %s, want %s", at, told, step.want)
		}
	}
}
