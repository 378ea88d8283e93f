package wait

import (
	"cmp"
	"slices"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// moment is how soon other nodes have to be free for moves to wait for them, and how long
// moves wait at most: where pods come and go there always are such nodes. It is about the time
// between two decisions.
const moment = 10 * time.Second

// neighbours has moves wait that save money now, and will save more in a moment: when other nodes
// of the same pool are free to go, too. Pods that have been moved are not moved again soon, so
// that the first of several nodes would spoil it for the others. It returns since when moves
// wait, by pool.
func neighbours(s *snapshot.Snapshot, p *plan.Plan) []snapshot.Since {
	soon := map[string]bool{}
	for i := range p.Prospects {
		if o := &p.Prospects[i]; o.Kind == plan.Waiting && o.Until.After(s.Now) && !o.Until.After(s.Now.Add(moment)) {
			soon[o.Pool] = true
		}
	}
	before := make(map[string]time.Time, len(s.Waiting.Moves))
	for _, m := range s.Waiting.Moves {
		before[m.Pool] = m.At
	}
	waiting := map[string]time.Time{}
	for _, d := range movers(p) {
		until := time.Time{}
		for i := range d.Nodes {
			since, waits := before[d.Nodes[i].Pool]
			if !waits {
				since = s.Now
			}
			if end := since.Add(moment); soon[d.Nodes[i].Pool] && end.After(s.Now) && end.After(until) {
				until = end
			}
		}
		if until.IsZero() {
			continue
		}
		d.Delay = plan.Delay{Code: reason.NodesFreeSoon, Until: until}
		for i := range d.Nodes {
			if since, known := before[d.Nodes[i].Pool]; known {
				waiting[d.Nodes[i].Pool] = since
			} else {
				waiting[d.Nodes[i].Pool] = s.Now
			}
		}
	}
	out := make([]snapshot.Since, 0, len(waiting))
	for pool, at := range waiting {
		out = append(out, snapshot.Since{Pool: pool, At: at})
	}
	slices.SortFunc(out, func(a, b snapshot.Since) int { return cmp.Compare(a.Pool, b.Pool) })
	return out
}
