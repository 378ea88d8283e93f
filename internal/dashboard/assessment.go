package dashboard

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"tenon/core/decide"
	"tenon/core/order"
	"tenon/core/rulecost"
	"tenon/core/snapshot"
	"tenon/internal/journal"
	"tenon/internal/whatif"
)

// assessment says what a fleet for the same pods would cost that is bought at once, and what rules cost in it.
type assessment struct {
	// Decision and At identify the recorded decision whose snapshot was used.
	Decision int64     `json:"decision"`
	At       time.Time `json:"at"`
	// Bound is proven about the price an hour of every such fleet. None is proven while pods have no place in it.
	Bound    float64 `json:"bound"`
	Unplaced int     `json:"unplaced"`
	// Pools have a bound each, those with the most nodes.
	Pools []poolBound `json:"pools"`
	// Rules are what single rules cost, the dearest first. Unexamined are those for which no effort was left.
	Rules      []ruleCost `json:"rules"`
	Unexamined int        `json:"unexamined"`
	// Problem says why there is no assessment yet.
	Problem string `json:"problem,omitempty"`
}

type ruleCost struct {
	Text  string  `json:"text"`
	Price float64 `json:"price"` // an hour
	// Pods have no place because of it.
	Pods int `json:"pods"`
}

// poolBound is proven about the price an hour of all new nodes that could take the pods of a pool's nodes, and those
// that wait, while the nodes of other pools stay.
type poolBound struct {
	Name     string  `json:"name"`
	Bound    float64 `json:"bound"`
	Unplaced int     `json:"unplaced"`
}

// assessments keeps the last one. A new one is made at the earliest after assessEvery, and after restShare times
// what the last one took, so that it takes a hundredth of a processor at most.
type assessments struct {
	mu   sync.Mutex
	next time.Time
	last *assessment
}

const (
	assessEvery = 10 * time.Minute
	restShare   = 100
	ruleEffort  = rulecost.FullEffort / 4
	mostRules   = 20
	mostPools   = 20
)

// assess serves the assessment of the newest snapshot, or the last one while no new one is due.
func (d *Dashboard) assess(w http.ResponseWriter, r *http.Request) {
	own := &d.assessments
	own.mu.Lock()
	defer own.mu.Unlock()
	if began := d.options.Clock(); !began.Before(own.next) && d.options.Journal != nil {
		e, s, err := d.recorded(r)
		if err != nil {
			answer(w, assessment{Rules: []ruleCost{}, Problem: err.Error()})
			return
		}
		made := assessmentOf(s)
		made.Decision, made.At = e.ID, e.At
		own.last = &made
		ended := d.options.Clock()
		own.next = ended.Add(max(assessEvery, restShare*ended.Sub(began)))
	}
	if own.last == nil {
		answer(w, assessment{Rules: []ruleCost{}, Problem: "no journal is read, whose last snapshot the bound is about"})
		return
	}
	answer(w, own.last)
}

func assessmentOf(s *snapshot.Snapshot) assessment {
	anew := whatif.Anew(s)
	out := assessment{Rules: []ruleCost{}}
	decided := decide.Decide(anew, decide.Budget{Unadvised: true})
	if out.Unplaced = len(decided.Plan.Unplaced); out.Unplaced == 0 {
		out.Bound = decided.Plan.Cost.LowerBound.Float()
	}
	out.Pools = poolBounds(s)
	report := rulecost.Of(anew, &decided.Plan, rulecost.Budget{Steps: ruleEffort})
	out.Unexamined = report.Unexamined
	for _, c := range report.Costs[:min(len(report.Costs), mostRules)] {
		out.Rules = append(out.Rules, ruleCost{c.Rule.Text(), c.Savings.Float(), c.Places})
	}
	return out
}

func poolBounds(s *snapshot.Snapshot) []poolBound {
	nodes := map[string]int{}
	for i := range s.Nodes {
		if name := s.Nodes[i].Pool; name != "" {
			nodes[name]++
		}
	}
	names := order.Keys(nodes)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(nodes[b], nodes[a]) })
	out := []poolBound{}
	for _, name := range names[:min(len(names), mostPools)] {
		decided := decide.Decide(whatif.AnewPool(s, name), decide.Budget{Unadvised: true})
		bound := poolBound{Name: name, Unplaced: len(decided.Plan.Unplaced)}
		if bound.Unplaced == 0 {
			bound.Bound = decided.Plan.Cost.LowerBound.Float()
		}
		out = append(out, bound)
	}
	return out
}

// recorded returns the newest decision whose snapshot was kept, with the snapshot.
func (d *Dashboard) recorded(r *http.Request) (*journal.Entry, *snapshot.Snapshot, error) {
	entries, list := d.newest(r)
	if list.Problem != "" {
		return nil, nil, errors.New(list.Problem)
	}
	for _, e := range slices.Backward(entries) {
		if e.Snapshot == "" {
			continue
		}
		s, err := journal.Snapshot(r.Context(), d.options.Journal, &e)
		if errors.Is(err, journal.ErrNoSnapshot) || errors.Is(err, journal.ErrCutOff) {
			continue
		}
		return &e, s, err
	}
	return nil, nil, errors.New("no decision with its snapshot has been recorded yet; there will be one in a moment")
}
