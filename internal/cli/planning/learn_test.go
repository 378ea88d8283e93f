package planning

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/rolloutpace"
)

// A plan for a cluster knows of roll-outs what the controller has written on the pools.
func TestPlansKnowOfRollouts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	wide := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "wide", Annotations: map[string]string{rolloutpace.Annotation: `{"goal":"g","width":4}`}}}
	fresh := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "fresh"}}
	record := command.Record{ID: "x7k2p", Reason: plan.Drifted, Claims: []command.Member{{Claim: "a", Pool: "wide"}}}
	going := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{karpenterv1.LabelNodePool: "wide"},
		Annotations: map[string]string{karpenterv1.AnnotationDisruption: record.String()}}}
	over := command.Record{ID: "m4w8r", Reason: plan.Drifted, Claims: []command.Member{{Claim: "b", Pool: "wide"}}}
	gone := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{karpenterv1.LabelNodePool: "wide"},
		DeletionTimestamp: &metav1.Time{Time: now}, Annotations: map[string]string{karpenterv1.AnnotationDisruption: over.String()}}}
	objects := &ingest.Objects{NodePools: []*karpenterv1.NodePool{wide, fresh}, NodeClaims: []*karpenterv1.NodeClaim{going, gone}}
	for name, tc := range map[string]struct {
		files bool
		want  [2]int // of wide and fresh; -1 is without bound
	}{
		"a cluster": {false, [2]int{3, 1}},
		"files":     {true, [2]int{3, -1}},
	} {
		s := &snapshot.Snapshot{Pools: []snapshot.Pool{{Name: "wide"}, {Name: "fresh"}}}
		learn(s, objects, ingest.Options{Now: now, Files: tc.files})
		for i, want := range tc.want {
			got := -1
			if pace := s.Pools[i].Consolidation.Pace; pace != nil {
				got = pace.More
			}
			if got != want {
				t.Errorf("%s, pool %s: %d more nodes may drift away, want %d", name, s.Pools[i].Name, got, want)
			}
		}
	}
}
