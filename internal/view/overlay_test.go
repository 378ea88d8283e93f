package view

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/model"
)

// overlay changes the price of a family, if it is ready.
func overlay(name, family string, weight int32, ready metav1.ConditionStatus, change func(*karpenterv1alpha1.NodeOverlaySpec)) *karpenterv1alpha1.NodeOverlay {
	o := &karpenterv1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}}
	o.Spec.Requirements = []karpenterv1alpha1.Requirement{{Key: "karpenter.k8s.aws/instance-family", Operator: corev1.NodeSelectorOpIn, Values: []string{family}}}
	o.Spec.Weight = ptr.To(weight)
	o.Status.Conditions = []metav1.Condition{{Type: condition.Ready, Status: ready}}
	change(&o.Spec)
	return o
}

// TestOverlaysThenPlansThenDiscounts checks the order in which a price is made: what is known, NodeOverlays that are in use,
// savings plans, and discounts of what plans leave. A price of the user's own and the one at the purchase stay as they are.
func TestOverlaysThenPlansThenDiscounts(t *testing.T) {
	t.Parallel()
	s := NewState(func(string) *catalog.Catalog {
		offerings := []catalog.Offering{{Zone: "z", CapacityType: "on-demand", Price: model.Unit, Available: true}}
		return &catalog.Catalog{Types: []catalog.Type{{Name: "m5.large", Offerings: offerings}, {Name: "c6a.large", Offerings: offerings}}}
	})
	put := func(name, kind, family, label string) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelInstanceTypeStable: kind, corev1.LabelTopologyZone: "z", karpenterv1.LabelCapacityType: "on-demand", "karpenter.k8s.aws/instance-family": family,
		}}}
		if label != "" {
			n.Labels[PriceLabel] = label
		}
		s.Put(n)
	}
	put("overlaid", "m5.large", "m5", "")
	put("other", "c6a.large", "c6a", "")
	put("said", "m5.large", "m5", "0.7")
	put("unknown", "z9.large", "z9", "")
	put("set", "z8.large", "z8", "")
	put("bought", "m5.large", "m5", "")
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c-1", Annotations: map[string]string{karpenterv1.AnnotationPrice: "0.9"}}}
	claim.Status.NodeName = "bought"
	s.Put(claim)

	adjust := func(by string) func(*karpenterv1alpha1.NodeOverlaySpec) {
		return func(spec *karpenterv1alpha1.NodeOverlaySpec) { spec.PriceAdjustment = &by }
	}
	half := overlay("half", "m5", 2, metav1.ConditionTrue, adjust("-50%"))
	for _, o := range []*karpenterv1alpha1.NodeOverlay{
		half, overlay("lighter", "m5", 1, metav1.ConditionTrue, adjust("-10%")), overlay("refused", "c6a", 9, metav1.ConditionFalse, adjust("-10%")),
		overlay("of-nothing", "z9", 1, metav1.ConditionTrue, adjust("-10%")),
		overlay("price", "z8", 1, metav1.ConditionTrue, func(spec *karpenterv1alpha1.NodeOverlaySpec) { spec.Price = ptr.To("0.4") }),
	} {
		s.Put(o)
	}
	check := func(when string, wanted map[string]float64) {
		t.Helper()
		f := s.Fleet()
		for name, want := range wanted {
			if got := f.Find(name).Price.Float(); got != want {
				t.Errorf("%s: node %s costs %v, want %v", when, name, got, want)
			}
		}
	}
	check("overlays", map[string]float64{"overlaid": 0.5, "other": 1, "said": 0.7, "unknown": 0, "set": 0.4, "bought": 0.9})
	if got := s.Fleet().Find("overlaid").Source; got != FromOverlay {
		t.Errorf("the price is from %q", got)
	}
	// A plan of 0.16 an hour at 20 % pays for 0.2 of the 0.4; the rest has the discount.
	plans, err := ParseSavingsPlans([]string{"z8=0.16@20"})
	if err != nil {
		t.Fatal(err)
	}
	s.SetTerms(Terms{Plans: plans, Discounts: Discounts{"on-demand": 10_000}})
	check("all", map[string]float64{"overlaid": 0.45, "other": 0.9, "said": 0.7, "unknown": 0, "set": 0.2*0.8 + 0.2*0.9, "bought": 0.81})
	s.Delete(half)
	check("the heavier is gone", map[string]float64{"overlaid": 0.81})
}
