package fleet

import (
	"maps"
	"slices"
	"strconv"

	"tenon/core/feasible"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/provision/claims"
	"tenon/core/snapshot"
)

// With is the fleet after an answer has been carried out: the nodes of the question are gone, and its pods
// are where the answer puts them.
func (f *Fleet) With(q Question, a Answer) *Fleet {
	out := f.fork()
	out.limits = slices.Clone(f.limitsOf(&q))
	for _, n := range q.Nodes {
		out.hosts[n] = nil
	}
	for _, l := range a.Existing {
		out.give(l.Node, l.Pods)
	}
	for i := range a.Claims {
		out.buy(&a.Claims[i])
	}
	return out
}

// fork is a copy that With changes.
func (f *Fleet) fork() *Fleet {
	out := *f
	out.limits = slices.Clone(f.limits)
	out.hosts = slices.Clone(f.hosts)
	out.planned = slices.Clip(f.planned)
	out.ruledOn = slices.Clip(f.ruledOn)
	out.reserved = maps.Clone(f.reserved)
	return &out
}

// begin does what a plan says: its pods take their places.
func (f *Fleet) begin(p *plan.Plan) {
	if p == nil {
		return
	}
	at := make(map[string]snapshot.NodeIndex, len(f.Snapshot.Nodes))
	for n := range f.Snapshot.Nodes {
		at[f.Snapshot.Nodes[n].Name] = snapshot.NodeIndex(n)
	}
	for _, placement := range p.Existing {
		if n, ok := at[placement.Node]; ok && f.Stays(n) {
			f.give(n, placement.Pods)
		}
	}
	for i := range p.Claims {
		f.buy(&p.Claims[i])
	}
}

// give puts pods on an existing node of a fork.
func (f *Fleet) give(n snapshot.NodeIndex, pods []snapshot.PodIndex) {
	h := f.sp.Taking(*f.hosts[n], pods)
	f.hosts[n] = &h
	if at, known := slices.BinarySearch(f.ruledOn, n); !known && slices.ContainsFunc(pods, f.Ruled) {
		f.ruledOn = slices.Insert(slices.Clone(f.ruledOn), at, n)
	}
}

// buy enters a claim into a fork: what it takes of limits and reservations, and the pods on it.
func (f *Fleet) buy(c *plan.Claim) {
	pool, known := f.poolNamed(c.Pool)
	if !known {
		return
	}
	if most := c.MostCapacity(f.Snapshot.Catalogs[f.Snapshot.Pools[pool].Catalog].Types); len(f.limits[pool]) > 0 {
		f.limits = f.changed(f.limits, pool, func(limit string) int64 { return -pack.Share(most, limit) })
	}
	if ids := c.Reservations(); len(ids) > 0 {
		f.sp = f.sp.Fork()
		for _, id := range ids {
			f.sp.Reserve(id, 1)
			f.reserved[id]++
		}
		f.tables, f.cache = map[snapshot.PoolIndex]*claims.Table{}, pack.NewOfferCache()
	}
	if !slices.ContainsFunc(c.Pods, f.Ruled) {
		return
	}
	node := &snapshot.Node{Name: "\x00" + c.Name + strconv.Itoa(len(f.planned)), Labels: c.Labels, Taints: c.Taints}
	f.sp = f.sp.Fork()
	f.planned = append(f.planned, f.sp.Foresee(node, c.Pods))
	f.admits = map[snapshot.TemplateIndex][]*feasible.Places{} // there may be a new class of hosts
}

// poolNamed finds a pool; it may have been deleted.
func (f *Fleet) poolNamed(name string) (at snapshot.PoolIndex, known bool) {
	i := slices.IndexFunc(f.Snapshot.Pools, func(p snapshot.Pool) bool { return p.Name == name })
	return snapshot.PoolIndex(i), i >= 0
}

// most is what the claim takes of each of its pool's limits at most, with any of its offers.
func (f *Fleet) most(pool snapshot.PoolIndex, c *plan.Claim) []int64 {
	limits := f.limits[pool]
	out := make([]int64, len(limits))
	if len(limits) == 0 {
		return out
	}
	most := c.MostCapacity(f.Snapshot.Catalogs[f.Snapshot.Pools[pool].Catalog].Types)
	for i := range limits {
		out[i] = pack.Share(most, limits[i].Name)
	}
	return out
}
