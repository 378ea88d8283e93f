package shadow

import (
	"slices"
	"sync"
	"time"

	"tenon/core/model"
)

// Side is one of the two that are compared.
type Side struct {
	// Nodes and PriceMicros are the fleet now, an hour; CostMicros is what it has cost since the beginning.
	Nodes       int   `json:"nodes"`
	PriceMicros int64 `json:"priceMicros"`
	CostMicros  int64 `json:"costMicros"`
	// BoughtMilli are thousandths of nodes: of a node that would be bought for pods some of which were counted
	// with another, only the part of the others counts.
	BoughtMilli       int64 `json:"boughtMilli"`
	BoughtPriceMicros int64 `json:"boughtPriceMicros"`
	GivenUp           int   `json:"givenUp"`
	Evictions         int   `json:"evictions"`
	// WaitedMillis is how long the pods that got a node had waited, all together: for the node at the
	// incumbent's side, for the decision at Tenon's.
	WaitedMillis int64 `json:"waitedMillis"`
}

// Report is the comparison, as it is served.
type Report struct {
	Since time.Time `json:"since"`
	At    time.Time `json:"at"`
	Looks int       `json:"looks"`
	// Pods is how many had to wait and got a node; Pending is how many wait, Unplanned those without a place in
	// the plan.
	Pods      int  `json:"pods"`
	Pending   int  `json:"pending"`
	Unplanned int  `json:"unplanned"`
	Incumbent Side `json:"incumbent"`
	Tenon     Side `json:"tenon"`
	// Latest is what Tenon would have done, the last of it.
	Latest []Line `json:"latest"`
}

// Line is something that Tenon would have done.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// mostLines are kept.
const mostLines = 50

// Record adds looks up. It may be read while it is written.
type Record struct {
	mu     sync.Mutex
	report Report
	last   Look
	// Money times seconds, of each side.
	spent, would int64
	// planned is when pods that wait were first planned; the times of those that are bound are dropped.
	planned map[string]time.Time
	// proposed are nodes that would be given up, as long as they are proposed without a break.
	proposed map[string]bool
	left     map[string]bool // nodes whose leaving is counted, while they are there
	unpriced map[string]bool // nodes that are counted as bought and whose price is not known yet
}

// NewRecord is empty.
func NewRecord() *Record {
	return &Record{planned: map[string]time.Time{}, unpriced: map[string]bool{}}
}

// Resume goes on from the report of an earlier process. What happened since is not counted.
func (r *Record) Resume(earlier Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = earlier
	r.spent, r.would = earlier.Incumbent.CostMicros*secondsPerHour, earlier.Tenon.CostMicros*secondsPerHour
}

// Report is a copy of what there is.
func (r *Record) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.report
	out.Latest = slices.Clone(r.report.Latest)
	return out
}

// See adds a look, and returns what is new in it.
func (r *Record) See(l Look) []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spend(l)
	r.incumbent(l)
	news := append(r.buy(l), r.giveUp(l)...)
	r.wait(l)
	r.now(l)
	r.last = l
	r.report.Latest = append(r.report.Latest, news...)
	r.report.Latest = slices.Clone(r.report.Latest[max(0, len(r.report.Latest)-mostLines):])
	return news
}

// spend adds what both fleets have cost since the last look.
func (r *Record) spend(l Look) {
	if r.report.Looks == 0 {
		r.report.Since = l.At
	}
	if r.isFirst() {
		return
	}
	seconds := int64(l.At.Sub(r.last.At) / time.Second)
	r.spent += int64(priceOfAll(r.last)) * seconds
	r.would += int64(r.last.PriceAfter) * seconds
	r.report.Incumbent.CostMicros, r.report.Tenon.CostMicros = r.spent/secondsPerHour, r.would/secondsPerHour
}

const secondsPerHour = int64(time.Hour / time.Second)

// isFirst is true until this process has seen something to compare with.
func (r *Record) isFirst() bool { return r.last.At.IsZero() }

func priceOfAll(l Look) model.Money {
	var sum model.Money
	for _, n := range l.Nodes {
		sum += n.Price
	}
	return sum
}

// incumbent counts the nodes that came and went. Those of the first look were there before.
func (r *Record) incumbent(l Look) {
	left := map[string]bool{}
	for name, n := range l.Nodes {
		before, known := r.last.Nodes[name]
		if !known && !r.isFirst() {
			r.report.Incumbent.BoughtMilli += 1000
			r.unpriced[name] = true
		}
		if r.unpriced[name] && n.Price > 0 {
			r.report.Incumbent.BoughtPriceMicros += int64(n.Price)
			delete(r.unpriced, name)
		}
		if n.Leaving && !r.left[name] {
			r.leave(max(n.Pods, before.Pods))
		}
		if n.Leaving {
			left[name] = true
		}
	}
	for name, n := range r.last.Nodes {
		_, there := l.Nodes[name]
		if !there && !r.left[name] {
			r.leave(n.Pods)
		}
		if !there {
			delete(r.unpriced, name)
		}
	}
	r.left = left
}

func (r *Record) leave(pods int) {
	r.report.Incumbent.GivenUp++
	r.report.Incumbent.Evictions += pods
}

// buy counts what would be bought for pods that nothing was counted for yet.
func (r *Record) buy(l Look) []Line {
	var news []Line
	for _, p := range l.Purchases {
		fresh := 0
		for _, pod := range p.Pods {
			if _, known := r.planned[pod]; !known {
				fresh++
			}
		}
		if fresh == 0 {
			continue
		}
		r.report.Tenon.BoughtMilli += int64(1000 * fresh / len(p.Pods))
		r.report.Tenon.BoughtPriceMicros += int64(p.Price) * int64(fresh) / int64(len(p.Pods))
		news = append(news, Line{l.At, p.Text})
	}
	for _, pod := range l.Planned {
		if _, known := r.planned[pod]; !known {
			r.planned[pod] = l.At
		}
	}
	return news
}

// giveUp counts nodes that would go, once as long as they are proposed without a break.
func (r *Record) giveUp(l Look) []Line {
	var news []Line
	proposed := map[string]bool{}
	for _, g := range l.GivenUp {
		proposed[g.Node] = true
		if r.proposed[g.Node] {
			continue
		}
		r.report.Tenon.GivenUp++
		r.report.Tenon.Evictions += g.Evictions
		news = append(news, Line{l.At, g.Text})
	}
	r.proposed = proposed
	return news
}

// wait adds up how long pods waited that have a node now.
func (r *Record) wait(l Look) {
	for pod, created := range r.last.Pending {
		decided, planned := r.planned[pod]
		if l.Bound[pod] {
			if !planned {
				decided = l.At // the incumbent was no slower
			}
			r.report.Pods++
			r.report.Incumbent.WaitedMillis += l.At.Sub(created).Milliseconds()
			r.report.Tenon.WaitedMillis += decided.Sub(created).Milliseconds()
		}
		if _, waits := l.Pending[pod]; !waits {
			delete(r.planned, pod)
		}
	}
}

// now is the state at this look.
func (r *Record) now(l Look) {
	r.report.Looks++
	r.report.At = l.At
	r.report.Pending = len(l.Pending)
	r.report.Unplanned = 0
	for pod := range l.Pending {
		if !slices.Contains(l.Planned, pod) {
			r.report.Unplanned++
		}
	}
	r.report.Incumbent.Nodes, r.report.Incumbent.PriceMicros = len(l.Nodes), int64(priceOfAll(l))
	r.report.Tenon.Nodes, r.report.Tenon.PriceMicros = l.NodesAfter, int64(l.PriceAfter)
}
