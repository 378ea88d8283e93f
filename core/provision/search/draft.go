package search

import (
	"cmp"
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/reason"
	"tenon/core/shape"
	"tenon/core/topology"
)

// Draft is one way of placing the pods.
type Draft struct {
	d        *Search
	wishes   []shape.Wish
	Set      *shape.Set
	assigner *topology.Assigner
	packer   *pack.Packer
	Portions []topology.Portion // by lot
	// Why is the last reason for which a shape's pods got no domain.
	Why map[int]reason.Reason
	// Result of the packing, and the pods that it leaves without a place, by shape.
	Result pack.Result
	Left   []int
	// Outlooks are the spreads that look at more nodes than their pods may use.
	Outlooks []topology.Outlook
	// Short says that nodes of the packing were given up when claims were written.
	Short bool
}

func (d *Search) draft(set *shape.Set, atlas *domains, w way) *Draft {
	a := &Draft{d: d, Set: set, Why: map[int]reason.Reason{}}
	shapes := make([]topology.Shape, len(set.Shapes))
	counts := make([]int, len(set.Shapes))
	for i := range set.Shapes {
		s := &set.Shapes[i]
		shapes[i] = topology.Shape{Rules: &s.Rules, Places: s.Alternatives, Count: len(s.Pods)}
		counts[i] = len(s.Pods)
	}
	a.assigner = topology.NewAssigner(d.Space, set.Registry, atlas, shapes, w.strategy)
	lots := a.assign(counts)
	a.packer = pack.New(pack.Problem{
		Set: set, Lots: lots, Tiers: d.Tiers, Limits: d.Limits, Style: w.style, Effort: w.effort, OfferCache: d.offers(),
	})
	for range rounds {
		if !a.sendElsewhere() {
			break
		}
	}
	a.withdrawLeft(make([]int, len(set.Shapes)))
	a.appear()
	if a.withdrawBroken() {
		a.packer.Add(nil) // the nodes that this emptied leave room below their pools' limits
	} else {
		a.packer.TopUp()
	}
	a.Result = a.packer.Result()
	a.countLeft()
	a.explainPartners()
	d.Steps += a.Result.Steps
	return a
}

// offers is what drafts remember for each other.
func (d *Search) offers() *pack.OfferCache {
	if d.Cache != nil {
		return d.Cache
	}
	if d.own == nil {
		d.own = pack.NewOfferCache()
	}
	return d.own
}

func (a *Draft) countLeft() {
	a.Left = make([]int, len(a.Set.Shapes))
	for i := range a.Set.Shapes {
		a.Left[i] = len(a.Set.Shapes[i].Pods)
	}
	for _, nodes := range [][]pack.Node{a.Result.Hosts, a.Result.New} {
		for _, n := range nodes {
			for _, l := range n.Loads {
				a.Left[a.Portions[l.Lot].Shape] -= l.Count
			}
		}
	}
}

// explainPartners gives pods that found no partners on a node their reason.
func (a *Draft) explainPartners() {
	for i := range a.Set.Shapes {
		if _, known := a.Why[i]; !known && a.Left[i] > 0 && len(a.Set.Shapes[i].Rules.HostNeeds) > 0 {
			a.Why[i] = reason.Reason{Code: reason.Affinity, Where: feasible.HostnameKey}
		}
	}
}

// Unplaced is how many pods have no place.
func (a *Draft) Unplaced() int {
	n := 0
	for _, left := range a.Left {
		n += left
	}
	return n
}

// Better compares two drafts: more important pods placed, then more pods, then less
// money, then fewer nodes.
func (a *Draft) Better(b *Draft) bool {
	return cmp.Or(
		slices.Compare(a.lacking(), b.lacking()),
		cmp.Compare(a.Result.Price, b.Result.Price),
		cmp.Compare(len(a.Result.New), len(b.Result.New)),
	) < 0
}

// lacking counts the pods without a place by priority, the highest first.
func (a *Draft) lacking() []int {
	var priorities []int32
	for i := range a.Set.Shapes {
		priorities = append(priorities, -a.Set.Shapes[i].Priority)
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	out := make([]int, len(priorities))
	for i := range a.Set.Shapes {
		at, _ := slices.BinarySearch(priorities, -a.Set.Shapes[i].Priority)
		out[at] += a.Left[i]
	}
	return out
}

// SpareLimits is what limits leave once every planned node has its share.
func (a *Draft) SpareLimits() [][]model.Amount {
	out := make([][]model.Amount, len(a.d.Limits))
	for p := range a.d.Limits {
		out[p] = slices.Clone(a.d.Limits[p])
	}
	for _, n := range a.Result.New {
		m := &a.d.Space.Machines[n.Machine]
		for p := range out {
			for i := range out[p] {
				if p == int(m.Pool) || a.d.Snapshot.OfCluster(out[p], i) {
					out[p][i].Value -= pack.Share(m.Capacity, out[p][i].Name)
				}
			}
		}
	}
	return out
}
