package ingest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
)

// BenchmarkClaimWithoutInstance translates a claim that has not been launched, with the catalogue of a region. In a burst each
// picture of the cluster has hundreds of them that are new.
func BenchmarkClaimWithoutInstance(b *testing.B) {
	built := instancetype.Build(instancetype.Defaults("us-west-2"))
	var types []string
	for i := range built.Catalog.Types {
		if i%15 == 0 {
			types = append(types, built.Catalog.Types[i].Name)
		}
	}
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "default-1", Labels: map[string]string{karpenterv1.LabelNodePool: "default"}}}
	claim.Spec.Requirements = []karpenterv1.Requirement{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: types},
		{Key: karpenterv1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand", "spot"}},
	}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	translator := ingest.NewTranslator(&ingest.Index{}, ingest.Options{Vocabulary: instancetype.Vocabulary()})
	prices := ingest.Prices{Offers: &built.Catalog}
	b.ReportAllocs()
	for b.Loop() {
		if n, ok := translator.Node(nil, claim, prices); !ok || n.Price == 0 {
			b.Fatalf("the claim is not translated: %+v", n)
		}
	}
}
