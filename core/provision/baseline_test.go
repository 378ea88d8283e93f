package provision

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision/search"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// waiting adds pods of a few random sizes, some of which want another node or zone each.
func waiting(seed uint64) *snapshot.Snapshot {
	r := rand.New(rand.NewPCG(seed, 5))
	s := market()
	s.Templates = nil
	for i := range 1 + r.IntN(5) {
		t := snapshot.Template{
			Namespace: "default", Labels: map[string]string{"app": "app-" + strconv.Itoa(i)},
			Requests: model.Resources{CPU: int64(100 + 100*r.IntN(30)), Memory: int64(128<<r.IntN(6)) << 20, Pods: 1},
		}
		own := model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{t.Labels["app"]}}}}
		switch r.IntN(4) {
		case 0:
			t.AntiAffinity = []snapshot.AffinityTerm{{Key: requirement.KeyHostname, Namespaces: []string{"default"}, Selector: own}}
		case 1:
			t.Spreads = []snapshot.Spread{{Key: zoneKey, MaxSkew: 1, Selector: own}}
		}
		s.Templates = append(s.Templates, t)
		for n := range 1 + r.IntN(12) {
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: strconv.Itoa(i) + "-" + strconv.Itoa(n), Template: snapshot.TemplateIndex(i), Pending: true})
		}
	}
	return s
}

// solved is the plan of a snapshot, with pods numbered as there.
func solved(s *snapshot.Snapshot, o Options) plan.Plan {
	sorted := snapshot.Sort(s, o.Memory.Types())
	p := Plan(sorted, o)
	p.Renumber(sorted.Given)
	return p
}

// A plan is never dearer than the greedy baseline, nor cheaper than its own bound.
func TestPlansBeatTheBaseline(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		s := waiting(seed)
		d := search.New(snapshot.Sort(s, nil), FullEffort/20, nil)
		greedy := d.Baseline()
		p := solved(s, Options{Effort: FullEffort / 20})
		if len(p.Unplaced) > 0 || p.Cost.New > greedy.Result.Price || p.Cost.LowerBound > p.Cost.New {
			t.Errorf("seed %d: %d unplaced, costs %s, greedily %s, at least %s", seed, len(p.Unplaced), p.Cost.New, greedy.Result.Price, p.Cost.LowerBound)
		}
	}
}

// Beyond the full effort, more of it never makes a dearer plan.
func TestMoreEffortIsNeverDearer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		s := waiting(seed)
		var costs []model.Money
		for _, effort := range []int64{FullEffort, moreEffort * FullEffort, moreEffort * moreEffort * FullEffort} {
			costs = append(costs, solved(s, Options{Effort: effort}).Cost.New)
		}
		if !slices.IsSortedFunc(costs, func(a, b model.Money) int { return int(b - a) }) {
			t.Errorf("seed %d: %v", seed, costs)
		}
	}
}
