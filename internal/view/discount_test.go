package view

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/model"
)

// TestDiscounts checks which nodes cost less: by capacity type, a family before it, and not those whose label says their price.
func TestDiscounts(t *testing.T) {
	t.Parallel()
	offers := func(name string) catalog.Type {
		return catalog.Type{Name: name, Offerings: []catalog.Offering{{Zone: "z", CapacityType: "on-demand", Price: model.Unit, Available: true}, {Zone: "z", CapacityType: "spot", Price: model.Unit / 2, Available: true}}}
	}
	s := NewState(func(string) *catalog.Catalog {
		return &catalog.Catalog{Types: []catalog.Type{offers("m5.large"), offers("c6a.large")}}
	})
	put := func(name, kind, capacity, label string) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelInstanceTypeStable: kind, corev1.LabelTopologyZone: "z", karpenterv1.LabelCapacityType: capacity}}}
		if label != "" {
			n.Labels[PriceLabel] = label
		}
		s.Put(n)
	}
	put("general", "m5.large", "on-demand", "")
	put("compute", "c6a.large", "on-demand", "")
	put("spot", "c6a.large", "spot", "")
	put("said", "m5.large", "on-demand", "0.7")
	put("unknown", "z9.large", "on-demand", "")
	s.Fleet()
	d, err := ParseDiscounts([]string{"on-demand=28%", "on-demand/c6a = 35.5"})
	if err != nil {
		t.Fatal(err)
	}
	s.Discount(d)
	f := s.Fleet()
	for name, want := range map[string]float64{"general": 0.72, "compute": 0.645, "spot": 0.5, "said": 0.7, "unknown": 0} {
		if got := f.Find(name).Price.Float(); got != want {
			t.Errorf("node %s costs %v, want %v", name, got, want)
		}
	}
	if f.Discounts != "on-demand 28 %, on-demand/c6a 35.5 %" || f.Total.Price.Float() != 0.72+0.645+0.5+0.7 {
		t.Errorf("discounts %q, in all %v", f.Discounts, f.Total.Price)
	}
	for _, text := range []string{"28", "on-demand", "on-demand=", "on-demand=-1", "on-demand=101", "on-demand=NaN", "fargate=5", "on-demand/=5"} {
		if d, err := ParseDiscounts([]string{text}); err == nil {
			t.Errorf("%q is read as %v", text, d)
		}
	}
}
