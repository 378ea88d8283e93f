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

// The price of a user's file counts before all but a node's label, the more precise line first; discounts leave it as it is.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	s := NewState(func(string) *catalog.Catalog {
		return &catalog.Catalog{Types: []catalog.Type{{Name: "r5.large", Offerings: []catalog.Offering{{Zone: "a", CapacityType: "on-demand", Price: model.Unit, Available: true}}}}}
	})
	for name, labels := range map[string][4]string{
		"here":    {"m5.large", "a", "on-demand", ""},
		"there":   {"m5.large", "b", "on-demand", ""},
		"spot":    {"m5.large", "a", "spot", ""},
		"unsaid":  {"m5.large", "b", "", ""},
		"labeled": {"m5.large", "a", "on-demand", "0.7"},
		"other":   {"r5.large", "a", "on-demand", ""},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelInstanceTypeStable: labels[0], corev1.LabelTopologyZone: labels[1]}}}
		if labels[2] != "" {
			n.Labels[karpenterv1.LabelCapacityType] = labels[2]
		}
		if labels[3] != "" {
			n.Labels[PriceLabel] = labels[3]
		}
		s.Put(n)
	}
	s.Fleet()
	own, err := ReadPrices(strings.NewReader("# type,zone,capacity type,price\nm5.large, a, on-demand, 0.08\nm5.large,,on-demand,0.09\nm5.large,,,0.03\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.SetTerms(Terms{Prices: own, Discounts: Discounts{"on-demand": 50_000}})
	f := s.Fleet()
	for name, want := range map[string]float64{"here": 0.08, "there": 0.09, "spot": 0.03, "unsaid": 0.09, "labeled": 0.7, "other": 0.5} {
		if got := f.Find(name).Price.Float(); got != want {
			t.Errorf("node %s costs %v, want %v", name, got, want)
		}
	}
	if source := f.Find("here").Source; source != FromFile {
		t.Errorf("the price is from %q", source)
	}
}

// A price file with a mistake is refused with the number of its line.
func TestPriceFilesTeachMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"m5.large,,on-demand,cheap":                         "line 1: price",
		"#\nm5.large,on-demand,0.1":                         "such as m5.large,,on-demand,0.0816",
		",,spot,0.1":                                        "line 1: there is no instance type",
		"m5.large,,ondemand,0.1":                            `line 1: "ondemand" is no capacity type`,
		"m5.large,a,spot,0.1\nm5.large,a,spot,0.2":          "line 2: there is a price for this already",
		"m5.large,a,spot,-0.1":                              "line 1: price",
		"m5.large,a,spot,0.1\nm5.large,\"a,spot,0.2\nx,,,1": "such as",
	} {
		if got, err := ReadPrices(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
