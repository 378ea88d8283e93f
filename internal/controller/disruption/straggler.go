package disruption

import (
	"slices"
	"time"

	"tenon/core/plan"
)

// stragglers is since when moves wait that would save money in a pool.
type stragglers map[string]time.Time

// choose leaves out of a plan the moves that save money now, and will save more in a moment:
// when other nodes of the same pool are free to go, too. Pods that have been moved are not
// moved again soon, so that the first of several nodes would spoil it for the others. No move
// waits for more than a period: where pods come and go there always are such nodes. While many
// pods arrive at their places, all moves that save money wait.
func (s stragglers) choose(p *plan.Plan, arriving bool, now time.Time) []plan.Disruption {
	soon := map[string]bool{}
	for i := range p.Prospects {
		if e := &p.Prospects[i]; e.Kind == plan.Waiting && e.Until.After(now) && !e.Until.After(now.Add(period)) {
			soon[e.Pool] = true
		}
	}
	waiting := map[string]bool{}
	var out []plan.Disruption
	for _, d := range p.Disruptions {
		if d.Reason == plan.Underutilized && arriving {
			continue
		}
		waits := d.Reason == plan.Underutilized && slices.ContainsFunc(d.Nodes, func(n plan.Removal) bool { return s.waits(n.Pool, soon, now) })
		if !waits {
			out = append(out, d)
			continue
		}
		for _, n := range d.Nodes {
			waiting[n.Pool] = true
		}
	}
	for pool := range s {
		if !waiting[pool] {
			delete(s, pool)
		}
	}
	for pool := range waiting {
		if s[pool].IsZero() {
			s[pool] = now
		}
	}
	return out
}

// waits reports whether moves in a pool wait, for nodes of pools that will be free soon.
func (s stragglers) waits(pool string, soon map[string]bool, now time.Time) bool {
	since, waiting := s[pool]
	return soon[pool] && (!waiting || now.Sub(since) < period)
}
