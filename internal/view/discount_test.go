package view

import (
	"strings"
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
	s.SetTerms(Terms{Discounts: d})
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

// TestSavingsPlans checks what on-demand nodes cost with savings plans: plans of a family first, a commitment divided evenly, the
// discount for what it leaves, and what is not used of it. Other nodes cost what they did, and coverage follows the fleet.
func TestSavingsPlans(t *testing.T) {
	t.Parallel()
	offers := func(name string) catalog.Type {
		return catalog.Type{Name: name, Offerings: []catalog.Offering{{Zone: "z", CapacityType: "on-demand", Price: model.Unit, Available: true}, {Zone: "z", CapacityType: "spot", Price: model.Unit / 2, Available: true}}}
	}
	put := func(s *State, name, kind, capacity, label string) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelInstanceTypeStable: kind, corev1.LabelTopologyZone: "z", karpenterv1.LabelCapacityType: capacity}}}
		if label != "" {
			n.Labels[PriceLabel] = label
		}
		s.Put(n)
	}
	cases := map[string]struct {
		plans, discounts []string
		want             map[string]float64
		text             string
	}{
		"half of all is covered":  {plans: []string{"1.5@25"}, want: map[string]float64{"a": 0.875, "b": 0.875, "c": 0.875, "d": 0.875}, text: "savings plan of 1.5 an hour for on-demand 25 % (it covers 50 % of them)"},
		"the rest has a discount": {plans: []string{"1.5@25"}, discounts: []string{"on-demand=10"}, want: map[string]float64{"a": 0.825, "d": 0.825}, text: "on-demand 10 %, savings plan of"},
		"a family first":          {plans: []string{"1@50", "m5=1@50"}, want: map[string]float64{"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5}, text: "for on-demand/m5 50 % (it covers 100 % of them), savings plan of 1 an hour for on-demand 50 % (it covers 100 % of them)"},
		"more than is used":       {plans: []string{"m5=5@20"}, want: map[string]float64{"a": 0.8, "b": 0.8, "c": 1, "d": 1}, text: "(3.4000 of it is paid and not used; it is not in the sums)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewState(func(string) *catalog.Catalog {
				return &catalog.Catalog{Types: []catalog.Type{offers("m5.large"), offers("c6a.large")}}
			})
			plans, err := ParseSavingsPlans(tc.plans)
			if err != nil {
				t.Fatal(err)
			}
			discounts, err := ParseDiscounts(tc.discounts)
			if err != nil {
				t.Fatal(err)
			}
			s.SetTerms(Terms{Discounts: discounts, Plans: plans})
			put(s, "a", "m5.large", "on-demand", "")
			put(s, "spot", "m5.large", "spot", "")
			put(s, "said", "m5.large", "on-demand", "0.7")
			s.Fleet()
			put(s, "b", "m5.large", "on-demand", "")
			put(s, "c", "c6a.large", "on-demand", "")
			put(s, "d", "c6a.large", "on-demand", "")
			f := s.Fleet()
			tc.want["spot"], tc.want["said"] = 0.5, 0.7
			for name, want := range tc.want {
				if got := f.Find(name).Price.Float(); got != want {
					t.Errorf("node %s costs %v, want %v", name, got, want)
				}
			}
			if !strings.Contains(f.Discounts, tc.text) {
				t.Errorf("it says %q", f.Discounts)
			}
		})
	}
	for _, text := range []string{"", "1", "@28", "0@28", "-1@28", "1@100", "1@x", "=1@28"} {
		if p, err := ParseSavingsPlans([]string{text}); err == nil {
			t.Errorf("%q is read as %v", text, p)
		}
	}
}
