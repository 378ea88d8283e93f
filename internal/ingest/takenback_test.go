package ingest_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/ingest"
)

// Pods of a node that is marked for a disruption need a place elsewhere only if the disruption can
// continue: its record is on the claim, and all of its replacements exist; or if the claim is being
// deleted.
func TestPodsOfMarkedNodes(t *testing.T) {
	t.Parallel()
	record := command.Record{ID: "x7k2p", Reason: plan.Drifted, Begun: noon, Claims: []command.Member{{Claim: "web-1"}}}
	alone := record.String()
	record.Replacements = []command.Member{{Claim: "web-2"}, {Claim: "web-3"}}
	for name, tc := range map[string]struct {
		record  string
		others  []string
		deleted bool
		movable bool
	}{
		"without a record":          {"", nil, false, false},
		"deleted, without a record": {"", nil, true, true},
		"nothing replaces it":       {alone, nil, false, true},
		"no replacement exists":     {record.String(), nil, false, false},
		"one replacement exists":    {record.String(), []string{"web-2"}, false, false},
		"both replacements exist":   {record.String(), []string{"web-2", "web-3"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := &ingest.Objects{}
			claim := karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Annotations: map[string]string{karpenterv1.AnnotationDisruption: tc.record}}}
			claim.Status.ProviderID = "memory:///1"
			if tc.deleted {
				claim.DeletionTimestamp = &metav1.Time{Time: noon}
			}
			objects.NodeClaims = append(objects.NodeClaims, &claim)
			for _, name := range tc.others {
				objects.NodeClaims = append(objects.NodeClaims, &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
			objects.Nodes = []*corev1.Node{{
				ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
				Spec:       corev1.NodeSpec{ProviderID: "memory:///1", Taints: []corev1.Taint{karpenterv1.TaintDisrupted()}},
			}}
			objects.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid"}}}, Spec: corev1.PodSpec{NodeName: "node-1"}}}
			pods := ingest.Build(objects, ingest.Options{Now: noon.Add(time.Minute)}).Pods
			if len(pods) != 1 || pods[0].Movable != tc.movable {
				t.Errorf("%+v, want a pod that is movable: %t", pods, tc.movable)
			}
		})
	}
}
