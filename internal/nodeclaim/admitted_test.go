package nodeclaim_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"tenon/api/admission"
	"tenon/api/crds"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/cloud/aws/instancetype"
	"tenon/internal/nodeclaim"
)

// admit says what an API server has against a claim.
func admit(t *testing.T, claim *karpenterv1.NodeClaim) error {
	t.Helper()
	var definition []byte
	for _, d := range crds.All() {
		if d.Name == crds.NodeClaim {
			definition = d.YAML
		}
	}
	admitter, err := admission.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	named := claim.DeepCopy()
	named.Name = "web-1"
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(named)
	if err != nil {
		t.Fatal(err)
	}
	fields["apiVersion"], fields["kind"] = "karpenter.sh/v1", "NodeClaim"
	delete(fields, "status")
	if unknown := admitter.UnknownFields(fields); len(unknown) > 0 {
		return fmt.Errorf("unknown fields %v", unknown)
	}
	return admitter.Create(t.Context(), fields).ToAggregate()
}

// TestAdmitted: an API server accepts what is made, on any cloud.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	aws := pool()
	aws.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	aws.Spec.Template.Spec.TerminationGracePeriod = &scalar.Duration{Duration: 90e9}
	aws.Spec.Template.Spec.ExpireAfter = karpenterv1.DurationOf(36e12)
	aws.Spec.Template.Spec.Requirements = append(aws.Spec.Template.Spec.Requirements,
		karpenterv1.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}})
	amazon := nodeclaim.New(cloud.Description{Words: instancetype.Words()})
	many := pool()
	for i := range 95 {
		many.Spec.Template.Labels[fmt.Sprintf("label-%d", i)] = "x"
	}
	straight := func(m nodeclaim.Maker, p *karpenterv1.NodePool) *karpenterv1.NodeClaim {
		claim, err := m.ForPool(p)
		if err != nil {
			t.Fatal(err)
		}
		return claim
	}
	for name, claim := range map[string]*karpenterv1.NodeClaim{
		"from a pool":              straight(nodeclaim.New(description()), pool()),
		"from a plan":              nodeclaim.New(description()).ForPlan(pool(), planned(), nil),
		"from a pool of AWS":       straight(amazon, aws),
		"from a plan on AWS":       amazon.ForPlan(aws, planned(), nil),
		"of a pool of many labels": straight(nodeclaim.New(description()), many),
	} {
		if err := admit(t, claim); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
