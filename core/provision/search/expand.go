package search

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"

	"tenon/core/expand"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// Expand lets the expanders of the settings choose which of several groups grow that are managed by the rules of Cluster
// Autoscaler. For each weight they choose one group for the pending pods, then one for the pods that it cannot hold, and so
// on. A group that could hold pods of an earlier choice is asked in a later tier of its own; pools stay beside the groups that
// are asked first, and the price decides between the two.
func (d *Search) Expand() {
	e, needed := d.expansion()
	if !needed {
		return
	}
	var tiers [][]snapshot.PoolIndex
	for _, tier := range d.Tiers {
		groups := d.expandable(tier)
		others := slices.DeleteFunc(slices.Clone(tier), func(p snapshot.PoolIndex) bool { return slices.Contains(groups, p) })
		tiers = append(tiers, e.split(others, e.rank(groups))...)
	}
	d.Tiers = tiers
}

// Question is the first question that Expand would ask a server of the expander grpc and to which the snapshot has no answer; nil if
// there is none.
func (d *Search) Question() *expand.Question {
	e, needed := d.expansion()
	if !needed || !e.remote {
		return nil
	}
	e.asking = true
	for _, tier := range d.Tiers {
		if e.rank(d.expandable(tier)); e.open != nil {
			break
		}
	}
	return e.open
}

// expansion is the work of choosing groups. It is not needed if the price decides, or if there is nothing to choose.
func (d *Search) expansion() (e expansion, needed bool) {
	chain := d.Snapshot.Settings.Expanders
	if expand.ByPrice(chain) || !slices.ContainsFunc(d.Tiers, func(tier []snapshot.PoolIndex) bool { return len(d.expandable(tier)) > 1 }) {
		return e, false
	}
	e = expansion{d: d, chain: chain, wishes: d.Wishes, left: d.Effort / expandPart, remote: slices.Contains(chain, expand.GRPC)}
	e.chance = rand.New(rand.NewPCG(e.seed(), 0))
	return e, true
}

// expandPart is the part of the effort for choosing groups. Groups that were not reached by then stay in the order of
// the pools.
const expandPart = 4

// expandable are the groups among some pools from which expanders choose.
func (d *Search) expandable(pools []snapshot.PoolIndex) []snapshot.PoolIndex {
	var out []snapshot.PoolIndex
	for _, p := range pools {
		if d.Snapshot.Pools[p].Rules() != nil {
			out = append(out, p)
		}
	}
	return out
}

// expansion is the state of that work.
type expansion struct {
	d      *Search
	chain  []string
	chance *rand.Rand
	wishes []shape.Wish // of pods that no group was chosen for yet
	left   int64        // effort
	remote bool         // the chain has the expander grpc
	asking bool         // it stops at the first open question
	open   *expand.Question
}

// seed is derived from the question, so that equal questions have equal answers and different questions
// usually do not.
func (e *expansion) seed() uint64 {
	h := fnv.New64a()
	write := func(text string) { _, _ = h.Write([]byte(text + "\x00")) } // a hash takes everything
	for _, w := range e.wishes {
		for _, p := range w.Pods {
			write(e.d.Snapshot.Pods[p].UID)
		}
	}
	for p := range e.d.Snapshot.Pools {
		if g := e.d.Snapshot.Pools[p].Group; g != nil {
			write(g.Name)
			write(strconv.FormatInt(g.Desired, 10))
		}
	}
	return h.Sum64()
}

// rank sorts groups in the order in which they are chosen. Groups that help no pod come last.
func (e *expansion) rank(groups []snapshot.PoolIndex) []snapshot.PoolIndex {
	var out []snapshot.PoolIndex
	rest := slices.Clone(groups)
	for len(rest) > 0 && len(e.wishes) > 0 && e.left > 0 {
		set := shape.Compile(e.d.Space, e.wishes)
		var options []expand.Option
		drafts := map[string]*Draft{}
		for _, p := range rest {
			if o, a := e.option(set, p); o.Nodes > 0 {
				options = append(options, o)
				drafts[o.Group] = a
			}
		}
		choice := expand.Choose(e.chain, options, e.d.Snapshot.Answers, e.chance)
		if e.asking && choice.Open != nil {
			e.open = choice.Open
			break
		}
		if !choice.Found {
			break
		}
		best := choice.Option
		at := slices.IndexFunc(rest, func(p snapshot.PoolIndex) bool { return e.d.Snapshot.Pools[p].Group.Name == best.Group })
		out = append(out, rest[at])
		rest = slices.Delete(rest, at, at+1)
		e.wishes = drafts[best.Group].without(e.wishes)
	}
	return append(out, rest...)
}

// option is what one group alone can do for the pods that do not fit on existing nodes.
func (e *expansion) option(set *shape.Set, group snapshot.PoolIndex) (expand.Option, *Draft) {
	trial := *e.d
	trial.Tiers, trial.Cache, trial.own, trial.Steps = [][]snapshot.PoolIndex{{group}}, nil, nil, 0
	a := trial.draft(set, newDomains(set, trial.launching()), way{style: pack.Greedy, effort: e.left})
	e.left -= trial.Steps + 1
	e.d.Steps += trial.Steps
	pool := &e.d.Snapshot.Pools[group]
	out := expand.Option{Group: pool.Group.Name, Priority: pool.Group.Priority, Nodes: int64(len(a.Result.New))}
	for _, n := range a.Result.New {
		m := &e.d.Space.Machines[n.Machine]
		out.Capacity, out.Price = m.Capacity, m.Price[n.Slot]
		for _, l := range n.Loads {
			out.Pods += l.Count
			out.Requests = out.Requests.Add(a.requests(l))
		}
	}
	if e.remote {
		out.Helped = a.onNew()
	}
	return out, a
}

// onNew are the keys of the pods that new nodes get: existing nodes get the first pods of a shape, and the last ones have no place.
func (a *Draft) onNew() []string {
	existing := make([]int, len(a.Set.Shapes))
	for _, n := range a.Result.Hosts {
		for _, l := range n.Loads {
			existing[a.Portions[l.Lot].Shape] += l.Count
		}
	}
	var out []string
	for i := range a.Set.Shapes {
		pods := a.Set.Shapes[i].Pods
		for _, p := range pods[existing[i] : len(pods)-a.Left[i]] {
			out = append(out, a.d.Snapshot.Pods[p].Key())
		}
	}
	slices.Sort(out)
	return out
}

// requests are the requests of the pods of a load.
func (a *Draft) requests(l pack.Load) model.Resources {
	s := &a.Set.Shapes[a.Portions[l.Lot].Shape]
	return a.d.Snapshot.Templates[s.Template].Requests.Times(int64(l.Count))
}

// without are the wishes of the pods for which the draft has no place.
func (a *Draft) without(wishes []shape.Wish) []shape.Wish {
	unplaced := a.unplacedPods()
	var out []shape.Wish
	for _, w := range wishes {
		w.Pods = slices.DeleteFunc(slices.Clone(w.Pods), func(p snapshot.PodIndex) bool { return !unplaced[p] })
		if len(w.Pods) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// split makes tiers of ranked groups: a group that could hold pods of earlier groups is asked after them. The others are
// asked with the first.
func (e *expansion) split(others, ranked []snapshot.PoolIndex) [][]snapshot.PoolIndex {
	set := shape.Compile(e.d.Space, e.d.Wishes)
	levels, most := make([]int, len(ranked)), 0
	holds := make([][]bool, len(ranked))
	for i, p := range ranked {
		holds[i] = e.holds(set, p)
		for j := range i {
			if levels[j] >= levels[i] && overlap(holds[i], holds[j]) {
				levels[i] = levels[j] + 1
			}
		}
		most = max(most, levels[i])
	}
	out := make([][]snapshot.PoolIndex, most+1)
	out[0] = others
	for i, p := range ranked {
		out[levels[i]] = append(out[levels[i]], p)
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out
}

// holds reports for each shape whether a node of the pool could hold one of its pods.
func (e *expansion) holds(set *shape.Set, pool snapshot.PoolIndex) []bool {
	sp := e.d.Space
	out := make([]bool, len(set.Shapes))
	first, end := sp.PoolMachines(pool)
	for i := range set.Shapes {
		s := &set.Shapes[i]
		for _, places := range s.Alternatives {
			for m := first; m < end && !out[i]; m++ {
				out[i] = places.Machines.Has(m) && sp.Machines[m].Slots.Meets(places.Slots) && feasible.Fits(s.Need, sp.Machines[m].Room)
			}
		}
	}
	return out
}

func overlap(a, b []bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}
