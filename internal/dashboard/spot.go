package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"tenon/internal/journal"
	"tenon/internal/view"
)

// The reasons of events that say that the cloud takes a spot machine back, and that it may do so soon.
const (
	warning = "SpotInterrupted"
	advice  = "SpotRebalanceRecommendation"
)

// spot is what this process has seen of spot prices and of machines that were taken back, since it began to look, and the
// prices of launches before, which the journal has.
type spot struct {
	mu       sync.Mutex
	since    time.Time
	market   time.Time // of the prices that were seen last
	recalled time.Time // of the first launch that the journal has
	prices   map[spotOffer]*spotPrice
	seen     map[string]bool // events, by node, reason and time
	returned map[spotOffer]*interruptions
	// nodes are the kinds of nodes that are gone when their event is read.
	nodes map[string]spotOffer
}

type spotOffer struct{ kind, zone string }

// spotPrice is what an offer has cost.
type spotPrice struct {
	now, least, most float64
	changes          int
	at               time.Time // of the last change
}

// interruptions count the machines of one type in one zone that were taken back, and advice to leave them.
type interruptions struct {
	count, advised int
	last           time.Time
}

// mostSeen bounds how many events are told apart.
const mostSeen = 10_000

// look takes the published prices, if they are new, and the events of the fleet.
func (s *spot) look(f *view.Fleet, market func() view.Market, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(now)
	if market != nil && !f.Published.Equal(s.market) {
		s.market = f.Published
		s.price(market())
	}
	for _, n := range f.Nodes {
		if n.CapacityType == "on-demand" {
			continue
		}
		s.nodes[n.Name] = spotOffer{n.Type, n.Zone}
		if n.Claim != "" {
			s.nodes[n.Claim] = spotOffer{n.Type, n.Zone}
		}
	}
	for i := range f.Notices {
		s.event(&f.Notices[i])
	}
	if len(s.nodes) > mostSeen { // those of nodes that are there are put in again
		clear(s.nodes)
	}
}

func (s *spot) begin(now time.Time) {
	if s.since.IsZero() {
		s.since, s.prices, s.seen, s.returned, s.nodes = now, map[spotOffer]*spotPrice{}, map[string]bool{}, map[spotOffer]*interruptions{}, map[string]spotOffer{}
	}
}

// recall takes the prices at which the journal's decisions bought spot machines, before the first look.
func (s *spot) recall(entries []journal.Entry, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(now)
	for i := range entries {
		e := &entries[i]
		for _, l := range e.Launches {
			if l.CapacityType != "spot" {
				continue
			}
			s.costs(spotOffer{l.InstanceType, l.Zone}, l.Price, e.At)
			if s.recalled.IsZero() {
				s.recalled = e.At
			}
		}
	}
}

func (s *spot) price(m view.Market) {
	for i := range m.Types {
		t := &m.Types[i]
		for _, o := range t.Offers {
			if o.CapacityType == "spot" {
				s.costs(spotOffer{t.Name, o.Zone}, o.Price.Float(), m.At)
			}
		}
	}
}

// costs notes what an offer costs from a time on.
func (s *spot) costs(of spotOffer, price float64, at time.Time) {
	known := s.prices[of]
	switch {
	case known == nil:
		s.prices[of] = &spotPrice{now: price, least: price, most: price, at: at}
	case known.now != price:
		known.now, known.least, known.most, known.at = price, min(known.least, price), max(known.most, price), at
		known.changes++
	}
}

// event counts an event about a claim once. Its node has the same event.
func (s *spot) event(n *view.Notice) {
	taken := n.Reason == warning
	if n.Kind != "NodeClaim" || !taken && n.Reason != advice {
		return
	}
	key := n.Name + "\x00" + n.Reason
	if s.seen[key] || len(s.seen) >= mostSeen {
		return
	}
	s.seen[key] = true
	of := s.nodes[n.Name] // without a name if the node went before it was seen
	if s.returned[of] == nil {
		s.returned[of] = &interruptions{}
	}
	if into := s.returned[of]; taken {
		into.count, into.last = into.count+1, later(into.last, n.At)
	} else {
		into.advised++
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// spotDocument is what the page Market shows of it.
type spotDocument struct {
	Since    int64           `json:"since"`
	Recalled int64           `json:"recalled,omitempty"` // the first launch of the journal whose price is among these
	Prices   []spotLine      `json:"prices"`
	Returned []interruptLine `json:"returned"`
}

type spotLine struct {
	Type    string  `json:"type"`
	Zone    string  `json:"zone"`
	Now     float64 `json:"now"`
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	Changes int     `json:"changes"`
	At      int64   `json:"at"`
}

type interruptLine struct {
	Type    string `json:"type"`
	Zone    string `json:"zone"`
	Count   int    `json:"count"`
	Advised int    `json:"advised"`
	Last    int64  `json:"last"`
	// Running is how many such machines there are now.
	Running int `json:"running"`
}

// mostSpot is how many lines of each kind are served.
const mostSpot = 50

// document has the prices that changed most, and the machines that were taken back most often.
func (s *spot) document(f *view.Fleet) spotDocument {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := spotDocument{Since: seconds(s.since), Recalled: seconds(s.recalled), Prices: []spotLine{}, Returned: []interruptLine{}}
	for key, p := range s.prices {
		if p.changes > 0 {
			out.Prices = append(out.Prices, spotLine{key.kind, key.zone, p.now, p.least, p.most, p.changes, seconds(p.at)})
		}
	}
	slices.SortFunc(out.Prices, func(a, b spotLine) int {
		return cmp.Or(cmp.Compare(b.Most/b.Least, a.Most/a.Least), strings.Compare(a.Type, b.Type), strings.Compare(a.Zone, b.Zone))
	})
	out.Prices = out.Prices[:min(len(out.Prices), mostSpot)]
	running := map[spotOffer]int{}
	for _, n := range f.Nodes {
		if n.CapacityType != "on-demand" {
			running[spotOffer{n.Type, n.Zone}]++
		}
	}
	for key, r := range s.returned {
		out.Returned = append(out.Returned, interruptLine{key.kind, key.zone, r.count, r.advised, seconds(r.last), running[key]})
	}
	slices.SortFunc(out.Returned, func(a, b interruptLine) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Advised, a.Advised), strings.Compare(a.Type, b.Type), strings.Compare(a.Zone, b.Zone))
	})
	out.Returned = out.Returned[:min(len(out.Returned), mostSpot)]
	return out
}
