package world_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A snapshot counts the pods that ReplicaSets have beyond those that they want, and those that are ending.
func TestSurplus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wanted       int32
		pods, ending int
		want         int
	}{
		"as many as wanted":     {5, 5, 0, 0},
		"some are yet to come":  {9, 5, 0, 0},
		"scaled down":           {2, 5, 0, 3},
		"some end already":      {2, 5, 2, 3},
		"all that are too many": {2, 5, 3, 3},
		"one is replaced":       {5, 6, 1, 1},
	} {
		w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))
		s := set(1)
		s.Spec.Replicas = &c.wanted
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
