package advice

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/provision/search"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// The search for the smallest change goes in three steps: propose every change of one
// thing that could help, in any pool, with an estimate of the price; put the smallest
// first; and simulate them one by one until one really places the pod.

// Adviser looks for remedies. Its work is bounded for a whole plan: pods that it does not
// come to have a verdict without one.
type Adviser struct {
	d *search.Search
	a *search.Draft
	// pools are asked what keeps a pod from their nodes.
	pools Pools
	// labels are those that a planned node will have.
	labels func(m *feasible.Machine, slot int, r requirement.Set) map[string]string
	// Known are the simulations of earlier plans; nil if none are kept.
	Known *Memory
	// Unadvised leaves remedies out.
	Unadvised bool
	// Visits is how many instance types may still be looked at, for all verdicts of the plan. The rest of
	// the work is counted in what it costs beside that.
	Visits int
	// widened are the types that a pool would gain if it did without one requirement.
	widened  map[widening][]int
	verdicts map[string]*reason.Verdict
	// planned is the cluster as planned, made when a rule between pods asks for it.
	planned *cluster
}

type widening struct {
	pool snapshot.PoolIndex
	key  string
}

// The bounds of the search: for a plan, and for one verdict.
const (
	mostVisits      = 2_000_000
	mostForOne      = mostVisits / 8
	mostSimulations = 12
	// A simulation costs so much, and so much more for each value that a rule between pods names.
	simulationVisits = 10_000
	valueVisits      = 20
	// Types outside of a pool are not compiled: each look costs about ten times as much.
	strangerVisits = 10
)

// New advises on the pods that a draft leaves without a place. Left is what limits leave beside the
// draft.
func New(d *search.Search, a *search.Draft, left [][]model.Amount, labels func(*feasible.Machine, int, requirement.Set) map[string]string) *Adviser {
	return &Adviser{
		d: d, a: a, pools: Pools{d.Snapshot, d.Space, left}, labels: labels,
		Visits: mostVisits, widened: map[widening][]int{}, verdicts: map[string]*reason.Verdict{},
	}
}

// Spent is what the search has cost so far.
func (k *Adviser) Spent() int { return mostVisits - k.Visits }

// candidate is a pool that could be asked, with its verdict and the asker's alternative that
// got furthest.
type candidate struct {
	pool                 snapshot.PoolIndex
	alternative, verdict int
}

// proposal is one change that may place the pod.
type proposal struct {
	remedy reason.Remedy
	// size orders changes: see the constants below.
	size float64
	pool snapshot.PoolIndex
	// template and in are pod and pool as they would be; of is the pod as it is.
	of       *snapshot.Template
	template *snapshot.Template
	in       snapshot.Pool
	// unlimited proposals change the limits themselves.
	unlimited bool
	types     []*catalog.Type // that may take the pod then, the cheapest first
	price     model.Money     // estimated
}

// Sizes of changes: what people would rather do comes first. One more line in a manifest is the smallest,
// wherever it is: then the price decides. Giving up something that the pod asks for is larger. A lower
// request counts more the more it takes away, because the pod may need it.
const (
	sizeLine    = 10
	sizeLabel   = 20
	sizeSoften  = 30
	sizeRequest = 10 // and up to 100 more
)

// dear is how many times the usual price a change may cost at most while waiting would help too.
const dear = 2

// usualPrice is that of the cheapest offering that would do and is out of stock; 0 if there is none.
func usualPrice(v *reason.Verdict) model.Money {
	least := model.Money(0)
	for i := range v.Pools {
		if p := &v.Pools[i]; p.Missing > 0 && (least == 0 || p.AbsentPrice < least) {
			least = max(p.AbsentPrice, 1)
		}
	}
	return least
}

// remedy finds the smallest single change that would place a pod of the wish, the
// cheapest among equals. The second result tells whether everything was looked at.
func (k *Adviser) remedy(w shape.Wish, rq *Request, v *reason.Verdict, candidates []candidate) (*reason.Remedy, bool) {
	if len(candidates) == 0 {
		return nil, false
	}
	t := &k.d.Snapshot.Templates[w.Template]
	var all []proposal
	least := max(0, k.Visits-mostForOne)
	for _, c := range candidates {
		if k.Visits <= least {
			return nil, false
		}
		all = append(all, k.propose(c, t, rq, &v.Pools[c.verdict])...)
	}
	if usual := usualPrice(v); usual > 0 { // waiting is a smaller change than entering a pool that keeps the pod out on purpose, or than spending more
		all = slices.DeleteFunc(all, func(p proposal) bool {
			return p.remedy.Change == reason.Tolerate || p.remedy.Change == reason.RaiseLimit || p.price > dear*usual
		})
	}
	if v.AwaitsPool() {
		all = slices.DeleteFunc(all, func(p proposal) bool {
			return slices.Contains([]reason.Change{reason.Tolerate, reason.AddLabel, reason.DropLabel}, p.remedy.Change)
		})
	}
	slices.SortStableFunc(all, func(a, b proposal) int {
		return cmp.Or(
			cmp.Compare(a.size, b.size), cmp.Compare(a.price, b.price), cmp.Compare(a.pool, b.pool),
			strings.Compare(string(a.remedy.Change), string(b.remedy.Change)), strings.Compare(a.remedy.Where, b.remedy.Where),
		)
	})
	for i := range all {
		if i == mostSimulations || k.Visits <= least {
			return nil, false
		}
		if k.simulate(&all[i]) {
			if all[i].unlimited {
				k.simulateLimits(&all[i], len(w.Pods))
			}
			return &all[i].remedy, true
		}
	}
	return nil, true
}
