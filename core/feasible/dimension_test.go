package feasible

import (
	"fmt"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// TestInventedResourcesCostLittle checks that resources which only pods name share a dimension beyond a bound, that
// pods which ask for them fit nothing, and that resources of machines keep a dimension each.
func TestInventedResourcesCostLittle(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{
		Catalogs: []catalog.Catalog{{Types: []catalog.Type{{Name: "large", Capacity: model.NewResources(
			model.Amount{Name: model.CPU, Value: 8000}, model.Amount{Name: model.Pods, Value: 100}, model.Amount{Name: "vendor/gpu", Value: 4})}}}},
	}
	var askers []snapshot.TemplateIndex
	ask := func(amounts ...model.Amount) {
		askers = append(askers, snapshot.TemplateIndex(len(s.Templates)))
		s.Templates = append(s.Templates, snapshot.Template{Requests: model.NewResources(append(amounts, model.Amount{Name: model.Pods, Value: 1})...)})
	}
	for i := range 100 {
		var amounts []model.Amount
		for j := range 30 {
			amounts = append(amounts, model.Amount{Name: fmt.Sprintf("invented/%d-%d", i, j), Value: 1})
		}
		ask(amounts...)
	}
	ask(model.Amount{Name: "vendor/gpu", Value: 2})
	sp := Compile(s, askers)
	if most := 3 + 1 + manyAbsent + 1; len(sp.Dims) != most || sp.Dims[len(sp.Dims)-1] != Others {
		t.Errorf("%d dimensions, the last is %s; want %d, the last for all others", len(sp.Dims), sp.Dims[len(sp.Dims)-1], most)
	}
	room := sp.Vector(s.Catalogs[0].Types[0].Capacity)
	for i := range s.Templates {
		fits, want := Fits(sp.Vector(s.Templates[i].Requests), room), i == len(s.Templates)-1
		if fits != want {
			t.Errorf("pod %d fits: %v, want %v", i, fits, want)
		}
	}
}
