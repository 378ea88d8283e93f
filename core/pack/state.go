package pack

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// packer makes one attempt, and is discarded after it.
//
//	given ──▶ packing: where each pod is now ◀── search: looks for a better one, tier by tier
type packer struct {
	given
	packing
	tier
	search
	scratch scratch
	steps   int64 // spent so far
}

// given does not change while an attempt is made.
type given struct {
	sp         *feasible.Space
	set        *shape.Set
	tiers      [][]snapshot.PoolIndex
	minimums   [][]minimum
	total      []limits    // before any bin was opened
	surcharges []surcharge // in place of limits, for a proof
	groups     relaxedGroups
	style      Style
	effort     int64
	cache      *OfferCache
}

// packing says where pods are: on existing nodes, on new ones, or waiting. It subtracts what bins
// take of limits and reservations, and adds it back when they are closed.
type packing struct {
	lots       []lot
	kinds      []kind
	kindIndex  map[string]kindIndex
	sizeIndex  map[string]kindIndex // the first kind of each size
	sites      []site
	hosts      []*bin
	bins       []*bin
	groupTotal []int // pods of each host group, on any node
	running    []int // of groupTotal, those on existing nodes already
	// first remembers which lots may be the first of a group: see mayBegin.
	first    map[beginner]bool
	limits   []limits
	reserved map[string]int64
}

// tier is what may be opened for the pools that are being asked.
type tier struct {
	pools     []bool
	firstTier bool // no tier was asked before this one
	tierStart int  // bins from here on were opened for this tier
	offers    []offer
	largest   []int // offers, most room first; only in the greedy style
	choice    []int // offers that fillRest looks at; nil for all
}

// search is what the search for better packings has found so far.
type search struct {
	scoring scoring
	relaxed openable
	// proof is the relaxation that was solved for most pods; proven is how many.
	proof  relaxation
	proven int
	// whole is the relaxation of all pods over existing nodes and new ones.
	whole     relaxation
	wholePods int
	hosted    bool   // existing nodes were filled before
	openHosts []*bin // existing nodes that could take pods
	picked    int    // how often some of many kinds were picked
	// crossed holds relaxations of dives, by the pods that had no place.
	crossed map[string]relaxation
	// ahead is the relaxation of what existing nodes leave, if it was solved already.
	ahead *relaxation
}

// newPacker returns a packer that has packed nothing and asks no pool.
func newPacker(set *shape.Set, lots []Lot) *packer {
	sp := set.Space
	hostGroups := len(set.Registry.HostGroups())
	return &packer{
		given: given{sp: sp, set: set, minimums: minimumsOf(sp), groups: relaxGroups(set, lots)},
		packing: packing{
			kindIndex: map[string]kindIndex{}, sizeIndex: map[string]kindIndex{}, groupTotal: make([]int, hostGroups), running: make([]int, hostGroups),
			first: map[beginner]bool{}, limits: make([]limits, len(sp.Snapshot.Pools)), reserved: map[string]int64{},
		},
		search: search{scoring: scorings[0]},
	}
}

// newAttempt returns a packer with the existing nodes, and with all lots waiting.
func newAttempt(pr Problem) *packer {
	p := newPacker(pr.Set, pr.Lots)
	p.tiers, p.style, p.effort, p.cache = pr.Tiers, pr.Style, pr.Effort, pr.OfferCache
	p.setLimits(pr.Limits)
	for h := range p.sp.Hosts {
		p.hosts = append(p.hosts, p.hostBin(h))
	}
	p.running = slices.Clone(p.groupTotal)
	p.addLots(pr.Lots)
	p.effort = p.effort / 2 * p.thoroughness(p.waitingRows())
	return p
}

func (p *packer) setLimits(given [][]model.Amount) {
	p.limits = make([]limits, len(given))
	for i, l := range given {
		p.limits[i] = l
	}
	p.total = slices.Clone(p.limits)
}

// askAll asks the pools of all tiers, each on the same terms.
func (p *packer) askAll() {
	p.pools = make([]bool, len(p.limits))
	for i := range p.pools {
		p.pools[i] = true
	}
}
