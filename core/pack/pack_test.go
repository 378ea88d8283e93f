package pack

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

const gib = int64(1) << 30

// workload is some pods of some templates, and what can be bought for them.
type workload struct {
	snapshot.Snapshot
	counts []int
}

// selling sells machines of 1, 2, 4 … cores with 4 GiB a core in two zones; a core costs a
// little less in large ones.
func selling(sizes ...int64) *workload {
	c := &workload{Snapshot: snapshot.Snapshot{
		Settings: snapshot.Settings{WellKnown: requirement.Core().WellKnown()},
		Catalogs: []catalog.Catalog{{}},
		Pools:    []snapshot.Pool{{Name: "default"}},
	}}
	for _, cores := range sizes {
		name := "m" + strconv.FormatInt(cores, 10)
		t := catalog.Type{
			Name:     name,
			Capacity: model.Resources{CPU: cores * 1000, Memory: cores * 4 * gib, Pods: 20},
			Requirements: requirement.NewSet(
				requirement.New(requirement.KeyInstanceType, requirement.In, name),
				requirement.New(requirement.KeyZone, requirement.In, "a", "b"),
			),
		}
		for _, zone := range []string{"a", "b"} {
			t.Offerings = append(t.Offerings, catalog.Offering{Zone: zone, CapacityType: catalog.OnDemand, Price: model.Money(1000*cores - 10*cores*cores), Available: true})
		}
		c.Catalogs[0].Types = append(c.Catalogs[0].Types, t)
	}
	return c
}

// pods adds n pods of a size.
func (c *workload) pods(n int, milli, mib int64, changes ...func(*snapshot.Template)) *workload {
	t := snapshot.Template{Namespace: "default", Requests: model.Resources{CPU: milli, Memory: mib << 20, Pods: 1}, Labels: map[string]string{"app": fmt.Sprint("app-", len(c.Templates))}}
	for _, change := range changes {
		change(&t)
	}
	c.Templates, c.counts = append(c.Templates, t), append(c.counts, n)
	return c
}

// problem compiles the workload. It is made anew for each packing.
func (c *workload) problem(style Style, effort int64) Problem {
	s := c.Snapshot
	s.Pods = nil
	var wishes []shape.Wish
	var askers []snapshot.TemplateIndex
	for i := range c.Templates {
		w := shape.Wish{Template: snapshot.TemplateIndex(i)}
		for range c.counts[i] {
			w.Pods = append(w.Pods, snapshot.PodIndex(len(s.Pods)))
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: strconv.Itoa(len(s.Pods)), Template: snapshot.TemplateIndex(i), Pending: true})
		}
		wishes, askers = append(wishes, w), append(askers, snapshot.TemplateIndex(i))
	}
	set := shape.Compile(feasible.Compile(&s, askers), wishes)
	p := Problem{Set: set, Tiers: [][]snapshot.PoolIndex{{}}, Limits: make([][]model.Amount, len(s.Pools)), Style: style, Effort: effort}
	for i := range snapshot.PoolIndex(len(s.Pools)) {
		p.Tiers[0] = append(p.Tiers[0], i)
		p.Limits[i] = s.Pools[i].Limits
	}
	for i := range set.Shapes {
		p.Lots = append(p.Lots, Lot{Shape: i, Count: len(set.Shapes[i].Pods)})
	}
	return p
}

func (c *workload) packed(style Style, effort int64) (Result, int) {
	k := New(c.problem(style, effort))
	left := 0
	for i := range c.counts {
		if i < len(k.p.lots) {
			left += k.Left(LotIndex(i))
		}
	}
	return k.Result(), left
}

const effort = 20_000_000

// app selects the pods of one template.
func app(i int) model.Selector {
	return model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{fmt.Sprint("app-", i)}}}}
}

func alone(i int) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.AntiAffinity = []snapshot.AffinityTerm{{Key: feasible.HostnameKey, Namespaces: []string{"default"}, Selector: app(i)}}
	}
}

func drawn(seed uint64) *workload {
	r := rand.New(rand.NewPCG(seed, 7))
	c := selling(1, 2, 4, 8, 16)
	for i := range 1 + r.IntN(6) {
		var rules []func(*snapshot.Template)
		if r.IntN(4) == 0 {
			rules = append(rules, alone(i))
		}
		c.pods(1+r.IntN(20), int64(100+100*r.IntN(20)), int64(128<<r.IntN(6)), rules...)
	}
	return c
}

// TestPackings checks what holds for every packing: all pods have a place, it is not cheaper than
// the bound, and no node is overfull.
func TestPackings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		c := drawn(seed)
		guided, left := c.packed(Guided, effort)
		greedy, leftToo := c.packed(Greedy, effort)
		if left > 0 || leftToo > 0 {
			t.Errorf("seed %d: %d and %d pods have no place", seed, left, leftToo)
		}
		p := c.problem(Guided, effort)
		if low, _ := LowerBound(p.Set, p.Lots, effort); low > guided.Price || low == 0 {
			t.Errorf("seed %d: costs %s, proven to cost %s", seed, guided.Price, low)
		}
		for _, n := range append(guided.New, greedy.New...) {
			load := make([]int64, len(p.Set.Space.Dims))
			for _, l := range n.Loads {
				for d, want := range p.Set.Shapes[p.Lots[l.Lot].Shape].Need {
					load[d] += want * int64(l.Count)
				}
			}
			if room := p.Set.Space.Machines[n.Machine].Room; !feasible.Fits(load, room) {
				t.Errorf("seed %d: %v in %v", seed, load, room)
			}
		}
	}
}

// Pods of thousands of sizes are packed by looking at a few of the sizes for each node: all have a place, and
// the nodes cost not much more than is proven.
func TestManySizes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	c := selling(8, 16, 32)
	for i := range 2000 {
		c.pods(1+r.IntN(6), int64(400+2*i), int64(1024+r.IntN(8000)))
	}
	p := c.problem(Guided, effort)
	plan, left := c.packed(Guided, effort)
	low, _ := LowerBound(p.Set, p.Lots, effort)
	if over := float64(plan.Price) / float64(low); left > 0 || low == 0 || over < 1 || over > 1.06 {
		t.Errorf("%d pods have no place, the others cost %s, proven to cost %s: %.4f of it", left, plan.Price, low, over)
	}
	if again, _ := c.packed(Guided, effort); !slices.Equal(prices(plan), prices(again)) {
		t.Error("the same pods are packed otherwise the second time")
	}
}

// Pods that ask for more resources than the choice of pods weighs have places, each on a node with enough of
// all of them, and so have the pods beside them.
func TestManyResources(t *testing.T) {
	t.Parallel()
	c := selling(4, 8)
	var devices []model.Amount
	for i := range 2 * maxDims {
		devices = append(devices, model.Amount{Name: fmt.Sprintf("example.com/device-%02d", i), Value: 1})
	}
	for i := range c.Catalogs[0].Types {
		c.Catalogs[0].Types[i].Capacity = c.Catalogs[0].Types[i].Capacity.Add(model.NewResources(devices...))
	}
	c.pods(10, 500, 512).pods(3, 500, 512, func(t *snapshot.Template) { t.Requests = t.Requests.Add(model.NewResources(devices...)) })
	for _, style := range []Style{Guided, Greedy} {
		if plan, left := c.packed(style, effort); left > 0 || len(plan.New) < 3 {
			t.Errorf("style %d: %d pods have no place, %d nodes; a node has devices for one pod", style, left, len(plan.New))
		}
	}
}

// The same problem has the same answer.
func TestPackingsAreTheSameAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		a, _ := drawn(seed).packed(Guided, effort)
		b, _ := drawn(seed).packed(Guided, effort)
		if fmt.Sprint(prices(a)) != fmt.Sprint(prices(b)) {
			t.Errorf("seed %d: %v and %v", seed, prices(a), prices(b))
		}
	}
}

func prices(r Result) []int {
	out := []int{int(r.Price), int(r.Steps)}
	for _, n := range r.New {
		out = append(out, n.Machine, n.Slot, len(n.Loads))
	}
	return out
}

// The best fleets of these cases are obvious.
func TestBestFleets(t *testing.T) {
	t.Parallel()
	limited := func(c *workload, cores int64) *workload {
		c.Pools[0].Limits = []model.Amount{{Name: model.CPU, Value: cores * 1000}}
		return c
	}
	cheaper := func(c *workload) *workload {
		c.Catalogs = append(c.Catalogs, catalog.Catalog{Types: []catalog.Type{c.Catalogs[0].Types[0]}})
		first := &c.Catalogs[1].Types[0]
		first.Offerings = []catalog.Offering{{Zone: "a", CapacityType: catalog.OnDemand, Price: 1, Available: true}}
		c.Pools = append(c.Pools, snapshot.Pool{Name: "cheap", Catalog: 1, Requirements: requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(2))})
		return c
	}
	for name, c := range map[string]struct {
		workload *workload
		nodes    int
		price    model.Money
		left     int
	}{
		"one pod":                                     {selling(1, 2).pods(1, 500, 256), 1, 990, 0},
		"two that share":                              {selling(1, 2).pods(2, 500, 256), 1, 990, 0},
		"a large node is cheaper a core":              {selling(1, 2, 4, 8).pods(8, 1000, 1024), 1, 8000 - 640, 0},
		"memory decides":                              {selling(1, 2).pods(1, 100, 5000), 1, 2000 - 40, 0},
		"cpu and memory that complete each other":     {selling(4).pods(1, 3500, 512).pods(1, 500, 15<<10), 1, 4000 - 160, 0},
		"each alone":                                  {selling(1, 2, 4).pods(3, 100, 128, alone(0)), 3, 3 * 990, 0},
		"too large for anything":                      {selling(1, 2).pods(1, 5000, 128), 0, 0, 1},
		"a limit for some":                            {limited(selling(1).pods(3, 1000, 128), 2), 2, 2 * 990, 1},
		"no cheap node that leaves too little choice": {cheaper(selling(1)).pods(1, 500, 128), 1, 990, 0},
	} {
		got, left := c.workload.packed(Guided, effort)
		if len(got.New) != c.nodes || got.Price != c.price || left != c.left {
			t.Errorf("%s: %d nodes for %d, %d left; want %d for %d, %d left", name, len(got.New), int64(got.Price), left, c.nodes, int64(c.price), c.left)
		}
	}
}

// Few pods are packed at the price of the exact optimum, which the bound then is.
func TestFewPodsAreProvenBest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := selling(1, 2, 4, 8)
		for range 1 + r.IntN(4) {
			c.pods(1+r.IntN(2), int64(100+100*r.IntN(30)), int64(128<<r.IntN(6)))
		}
		k := New(c.problem(Guided, 10*effort))
		low, _, ok := k.Bound(0)
		if !ok || low != k.Price() {
			t.Errorf("seed %d: costs %s, proven %s (%t)", seed, k.Price(), low, ok)
		}
	}
}

// Pods that Evict and Drop take away can be added again, and cost nothing meanwhile.
func TestEvictGivesEverythingBack(t *testing.T) {
	t.Parallel()
	c := selling(1, 2, 4).pods(4, 500, 256).pods(3, 900, 512, alone(1))
	k := New(c.problem(Guided, effort))
	before := k.Price()
	for lot := range LotIndex(len(c.counts)) {
		k.Evict(lot)
		if k.Placed(lot) != 0 || k.Left(lot) != c.counts[lot] {
			t.Errorf("lot %d: %d placed, %d left", lot, k.Placed(lot), k.Left(lot))
		}
		k.Drop(lot)
	}
	if r := k.Result(); r.Price != 0 || len(r.New) != 0 {
		t.Errorf("empty nodes cost %s", r.Price)
	}
	for _, n := range k.p.groupTotal {
		if n != 0 {
			t.Errorf("groups still count %v", k.p.groupTotal)
		}
	}
	again := c.problem(Guided, effort).Lots
	k.Add(again)
	for lot := range again {
		if at := LotIndex(len(c.counts) + lot); k.Left(at) != 0 {
			t.Errorf("%d pods of lot %d have no place any more", k.Left(at), at)
		}
	}
	if k.Price() < before/2 {
		t.Errorf("costs %s, before %s", k.Price(), before)
	}
}

// The room of existing nodes is used before anything is bought.
func TestExistingNodesComeFirst(t *testing.T) {
	t.Parallel()
	c := selling(1, 2).pods(3, 1000, 256)
	c.Nodes = []snapshot.Node{{Name: "n", Initialized: true, Allocatable: model.Resources{CPU: 2000, Memory: 8 * gib, Pods: 10}}}
	r, left := c.packed(Guided, effort)
	if len(r.Hosts) != 1 || r.Hosts[0].Loads[0].Count != 2 || len(r.New) != 1 || left != 0 {
		t.Errorf("%+v, %d left", r, left)
	}
}

// The packer asks heavier tiers first, and the next only for the pods that are left.
func TestTiersAreAskedInOrder(t *testing.T) {
	t.Parallel()
	c := selling(1).pods(3, 1000, 256)
	c.Pools = []snapshot.Pool{{Name: "first", Limits: []model.Amount{{Name: model.Nodes, Value: 2}}}, {Name: "second"}}
	p := c.problem(Guided, effort)
	p.Tiers = [][]snapshot.PoolIndex{{0}, {1}}
	k := New(p)
	byPool := map[snapshot.PoolIndex]int{}
	for _, n := range k.Result().New {
		byPool[p.Set.Space.Machines[n.Machine].Pool]++
	}
	if byPool[0] != 2 || byPool[1] != 1 {
		t.Errorf("nodes by pool: %v", byPool)
	}
}

// A relaxation that a dive has solved before is the same as one that is solved anew, and leaves
// the same prices behind.
func TestDivesRememberRelaxations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		p := New(drawn(seed).problem(Guided, effort)).p
		if p.runsOut() {
			continue
		}
		p.takeDown(0)
		p.relaxOnce(leastDive)
		remembered := p.relaxOnce(leastDive)
		prices := valuesOf(p)
		fresh := p.relax(leastDive)
		if !slices.Equal(remembered.Dual, fresh.Dual) || !reflect.DeepEqual(remembered.Patterns, fresh.Patterns) || remembered.Relaxed != fresh.Relaxed {
			t.Errorf("seed %d: another relaxation", seed)
		}
		if !slices.Equal(prices, valuesOf(p)) {
			t.Errorf("seed %d: other prices", seed)
		}
		if len(p.crossed) == 0 {
			t.Errorf("seed %d: nothing was remembered", seed)
		}
	}
}

func valuesOf(p *packer) []float64 {
	out := make([]float64, len(p.kinds))
	for k := range p.kinds {
		out[k] = p.kinds[k].value
	}
	return out
}
