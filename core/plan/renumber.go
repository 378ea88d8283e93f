package plan

import (
	"cmp"
	"slices"

	"tenon/core/snapshot"
)

// Renumber gives the pods of the plan other numbers, and keeps every list of them in its order.
func (p *Plan) Renumber(to func(snapshot.PodIndex) snapshot.PodIndex) {
	each := func(pods []snapshot.PodIndex) {
		for i := range pods {
			pods[i] = to(pods[i])
		}
	}
	ascending := func(pods []snapshot.PodIndex) {
		each(pods)
		slices.Sort(pods)
	}
	claims := func(list []Claim) {
		for i := range list {
			ascending(list[i].Pods)
		}
	}
	placements := func(list []Placement) {
		for i := range list {
			ascending(list[i].Pods)
		}
	}
	claims(p.Claims)
	placements(p.Existing)
	for i := range p.Unplaced {
		p.Unplaced[i].Pod = to(p.Unplaced[i].Pod)
	}
	slices.SortFunc(p.Unplaced, func(x, y Unplaced) int { return cmp.Compare(x.Pod, y.Pod) })
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		claims(d.Replacements)
		placements(d.Moves)
		each(d.Evict)
		for k := range d.Nodes {
			ascending(d.Nodes[k].Pods)
		}
	}
}
