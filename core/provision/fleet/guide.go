package fleet

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// guide returns the nodes that kube-scheduler is to avoid while pods move, so that it puts them where the answer has them; none
// if that is not worth it: any pod may be in any place because all are alike, or more nodes would have to be marked than pods move.
func (f *Forecast) guide(q Question, a Answer) []snapshot.NodeIndex {
	needs := map[snapshot.TemplateIndex][]int64{}
	for _, p := range q.Pods {
		if f.heedsMark(p) {
			needs[f.fleet.Snapshot.Pods[p].Template] = f.shapeOf(p).Need
		}
	}
	if !f.fleet.Snapshot.Settings.GuideMoves || len(needs) < 2 {
		return nil
	}
	var marked []snapshot.NodeIndex
	for n, h := range f.fleet.hosts {
		if h != nil && f.sites[n].open && f.canMark(siteIndex(n)) && f.sites[n].takesAny(needs) {
			marked = append(marked, snapshot.NodeIndex(n))
		}
	}
	if n := len(marked) + len(a.Claims); n < 2 || n > len(q.Pods) {
		return nil
	}
	return marked
}

// canMark reports whether a site may have the mark: only nodes with a claim are marked.
func (f *Forecast) canMark(at siteIndex) bool {
	return int(at) >= len(f.fleet.hosts) || f.fleet.Snapshot.Nodes[at].Claim != ""
}

// led are the sites among some that fit to which the scheduler is led: the planned one, and those that have no mark. If
// there is none, it chooses among all.
func (f *Forecast) led(fit []siteIndex, planned siteIndex) []siteIndex {
	out := slices.DeleteFunc(slices.Clone(fit), func(at siteIndex) bool { return at != planned && f.canMark(at) })
	if len(out) == 0 {
		return fit
	}
	return out
}

// takesAny reports whether a site has room for one more pod with any of the needs.
func (s *site) takesAny(needs map[snapshot.TemplateIndex][]int64) bool {
	for _, need := range needs {
		if feasible.Fits(need, s.room) {
			return true
		}
	}
	return false
}

// heedsMark reports whether a pod avoids nodes with the mark: it has no toleration for every taint.
func (f *Forecast) heedsMark(p snapshot.PodIndex) bool {
	_, avoids := model.Untolerated([]model.Taint{model.NotReceiving()}, f.fleet.Snapshot.Templates[f.fleet.Snapshot.Pods[p].Template].Tolerations, true)
	return avoids && !f.fleet.isVirtual(p)
}
