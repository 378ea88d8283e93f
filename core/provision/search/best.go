package search

import (
	"slices"

	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// Best makes the drafts that may help and returns the best one. While pods lack a place only because of
// their preferences, it gives up these preferences one by one.
func (d *Search) Best() *Draft {
	best := d.place(d.Wishes)
	if d.Snapshot.Settings.Preferences == snapshot.Weigh {
		return d.weigh(best)
	}
	return best
}

// place packs the wishes, and again with fewer preferences while some find no place.
func (d *Search) place(wishes []shape.Wish) *Draft {
	for {
		set := shape.Compile(d.Space, wishes)
		best := d.bestOf(set, wishes)
		next, relaxed := d.relax(best, wishes)
		if !relaxed {
			best.wishes = wishes
			return best
		}
		wishes = next
	}
}

// quickPart is the part of the effort that suffices to see that some pods find no place: a packing that
// another one with fewer preferences will replace need not be cheap.
const quickPart = 16

// Baseline is the greedy draft, which every plan is compared with.
func (d *Search) Baseline() *Draft {
	set := shape.Compile(d.Space, d.Wishes)
	return d.draft(set, newDomains(set, d.launching()), way{style: pack.Greedy, effort: d.Effort})
}

// bestOf tries every style of packing that may help.
func (d *Search) bestOf(set *shape.Set, wishes []shape.Wish) *Draft {
	atlas := newDomains(set, d.launching())
	guided := way{style: pack.Guided, effort: d.Effort}
	var best *Draft
	if d.Cache != nil { // a question among many does without the baseline
		best = d.draft(set, atlas, guided)
	} else {
		best = d.draft(set, atlas, way{style: pack.Greedy, effort: d.Effort})
		if _, more := d.relax(best, wishes); more {
			if quick := d.draft(set, atlas, way{style: pack.Guided, effort: d.Effort / quickPart}); quick.Unplaced() > 0 {
				return better(quick, best)
			}
		}
		best = better(d.draft(set, atlas, guided), best)
	}
	if len(set.Registry.Groups()) > 0 && pods(set) <= fewPods {
		for _, strategy := range []topology.Strategy{topology.Gather, topology.Together} {
			best = better(best, d.draft(set, atlas, way{style: pack.Guided, effort: d.Effort / strategyPart, strategy: strategy}))
		}
	}
	if best.Unplaced() > 0 && d.Limited() {
		best = better(best, d.draft(set, atlas, way{style: pack.Thrifty, effort: d.Effort}))
	}
	return best
}

// strategyPart is the part of the effort that goes to each other strategy.
const strategyPart = 4

// way is how a draft is made.
type way struct {
	style    pack.Style
	effort   int64
	strategy topology.Strategy
}

// fewPods is the number of pods up to which it matters that some domain needs no node.
const fewPods = 300

func pods(set *shape.Set) int {
	n := 0
	for i := range set.Shapes {
		n += len(set.Shapes[i].Pods)
	}
	return n
}

// better is the better of two drafts, the first where they are equal.
func better(a, b *Draft) *Draft {
	if b.Better(a) {
		return b
	}
	return a
}

// Limited reports whether some pool has a limit.
func (d *Search) Limited() bool {
	return slices.ContainsFunc(d.Limits, func(l []model.Amount) bool { return len(l) > 0 })
}

// launching tells the pools that may launch nodes.
func (d *Search) launching() []bool {
	pools := make([]bool, len(d.Snapshot.Pools))
	for _, tier := range d.Tiers {
		for _, p := range tier {
			pools[p] = true
		}
	}
	return pools
}

// unplacedPods are the pods that the draft has no place for.
func (a *Draft) unplacedPods() map[snapshot.PodIndex]bool {
	out := map[snapshot.PodIndex]bool{}
	for i := range a.Set.Shapes {
		pods := a.Set.Shapes[i].Pods
		for _, p := range pods[len(pods)-a.Left[i]:] {
			out[p] = true
		}
	}
	return out
}

// relax lets the pods without a place give up one more preference each.
func (d *Search) relax(a *Draft, wishes []shape.Wish) ([]shape.Wish, bool) {
	unplaced := a.unplacedPods()
	if len(unplaced) == 0 {
		return nil, false
	}
	var out []shape.Wish
	relaxed := false
	for _, w := range wishes {
		fewer, more := w.Dropped.Next(d.Space.Preferences(&d.Snapshot.Templates[w.Template]))
		if !more {
			out = append(out, w)
			continue
		}
		kept := shape.Wish{Template: w.Template, Dropped: w.Dropped}
		moved := shape.Wish{Template: w.Template, Dropped: fewer}
		for _, p := range w.Pods {
			if unplaced[p] {
				moved.Pods = append(moved.Pods, p)
			} else {
				kept.Pods = append(kept.Pods, p)
			}
		}
		if len(kept.Pods) > 0 {
			out = append(out, kept)
		}
		if len(moved.Pods) > 0 {
			relaxed = true
			out = append(out, moved)
		}
	}
	return out, relaxed
}
