package world_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
