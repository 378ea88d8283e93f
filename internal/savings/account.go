// Package savings records, pool by pool, how much consolidation was expected to save and how much it saved,
// so that a pool whose moves save less than expected makes fewer of them.
//
//	a move is over ──▶ open for some minutes ──▶ settled: totals, and how far short it fell
//	                      ▲
//	        nodes bought for the pods that it displaced are charged to it
//
// The recent shortfall of moves makes a pool cautious: its evictions have to save up to ten times as much
// as usual. A shortfall counts as soon as it is seen, because it can only grow: otherwise a burst of moves
// would be over before the first of them is settled. Caution decreases with time.
//
// The accounts are written on the pools, so that they survive a restart. Bookkeeping is pure
// (account.go); the package must not decide which moves are made.
package savings

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// Account is the record of a pool's moves. It is a value: methods return another one.
type Account struct {
	// Moves that are settled, and moves that were abandoned, which saved nothing and evicted no pod.
	Moves  int64 `json:"moves,omitempty"`
	Failed int64 `json:"failed,omitempty"`
	// What the settled moves were expected to save an hour, what they did save, and how many pods they
	// evicted.
	Predicted model.Money `json:"predicted,omitempty"`
	Realised  model.Money `json:"realised,omitempty"`
	Evictions int64       `json:"evictions,omitempty"`
	// Short is by how many thousandths of the expected savings the last moves that were made to save
	// money fell short, as of At. It is an average in which older moves count less.
	Short int       `json:"short,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// Open are moves that may still turn out to cost more, the oldest first.
	Open []Move `json:"open,omitempty"`
	// Settled are the IDs of settled moves, the latest last, so that none counts twice.
	Settled []string `json:"settled,omitempty"`
}

// Move is a pool's part of a move.
type Move struct {
	ID        string      `json:"id"`
	Over      time.Time   `json:"over"`
	Predicted model.Money `json:"predicted,omitempty"`
	Realised  model.Money `json:"realised,omitempty"`
	Evictions int64       `json:"evictions,omitempty"`
	// Weighed moves were made to save money; others had to be made, or cost nothing.
	Weighed bool `json:"weighed,omitempty"`
	// Early marks a move that is not over yet: nodes were bought for its pods before its own nodes
	// were gone.
	Early bool `json:"early,omitempty"`
}

const (
	// open is for how long nodes bought for displaced pods are charged to the move that displaced the
	// pods.
	open = 15 * time.Minute
	// halfLife is after how long caution has fallen by half.
	halfLife = 12 * time.Hour
	// share is the inverse of the weight of a single move in the average.
	share = 4
	// worst is the largest shortfall of a move: a loss as large as the expected gain.
	worst = 2000
	// seen is how long after the end of a move its pods without room have asked for nodes.
	seen = 10 * time.Second
	// mostCaution stops all but the best moves, which show when moves save money again.
	mostCaution = 10 * snapshot.FullConfidence
	// grain keeps decisions from changing with every tick of the clock.
	grain = 50
	// How many moves are kept, so that the annotation stays small.
	keptOpen    = 64
	keptSettled = 32
)

// Over is the account after a move is over.
func (a Account) Over(m Move) Account {
	if a.knows(m.ID) {
		return a
	}
	m.Over = m.Over.UTC()
	if at := a.find(m.ID); at >= 0 {
		m.Realised += a.Open[at].Realised
		a.Open = slices.Delete(slices.Clone(a.Open), at, at+1)
	}
	a.Open = append(slices.Clone(a.Open), m)
	if len(a.Open) > keptOpen {
		a = a.settle(m.Over)
	}
	return a
}

// Abandoned is the account after a move was abandoned.
func (a Account) Abandoned(id string) Account {
	if a.knows(id) {
		return a
	}
	a.Failed++
	return a.remember(id)
}

// Bought charges a price to an open move.
func (a Account) Bought(id string, price model.Money) Account {
	if at := a.find(id); at >= 0 {
		a.Open = slices.Clone(a.Open)
		a.Open[at].Realised -= price
	}
	return a
}

// BoughtEarly charges a price to a move that the account does not know, because it is not over.
func (a Account) BoughtEarly(id string, price model.Money, now time.Time) Account {
	if a.find(id) < 0 && !a.knows(id) {
		a.Open = append(slices.Clone(a.Open), Move{ID: id, Over: now.UTC(), Early: true})
	}
	return a.Bought(id, price)
}

// As is the account at a time. Moves that have been open for long enough are settled.
func (a Account) As(now time.Time) Account {
	for len(a.Open) > 0 && !now.Before(a.Open[0].Over.Add(open)) {
		a = a.settle(a.Open[0].Over.Add(open))
	}
	return a
}

// settle closes the oldest open move.
func (a Account) settle(now time.Time) Account {
	m := a.Open[0]
	a.Open = a.Open[1:]
	if m.Early { // it was abandoned, or belongs to another pool
		return a
	}
	a.Moves++
	a.Predicted += m.Predicted
	a.Realised += m.Realised
	a.Evictions += m.Evictions
	if m.teaches() {
		before := a.short(now)
		a.Short, a.At = int(math.Round(before+(m.short()-before)/share)), now
	}
	return a.remember(m.ID)
}

// teaches reports whether the move counts for the pool's caution.
func (m Move) teaches() bool { return m.Weighed && m.Predicted > 0 && !m.Early }

// short is by how many thousandths the move fell short of its expected savings.
func (m Move) short() float64 {
	return min(max(1000*float64(m.Predicted-m.Realised)/float64(m.Predicted), 0), worst)
}

// short is by how many thousandths recent moves have fallen short, as of a time.
func (a Account) short(now time.Time) float64 {
	age := max(now.Sub(a.At), 0)
	return float64(a.Short) * math.Exp2(-float64(age)/float64(halfLife))
}

// shortSoFar is short, including the present state of the open moves.
func (a Account) shortSoFar(now time.Time) float64 {
	short := a.short(now)
	for _, m := range a.Open {
		if m.teaches() && now.Sub(m.Over) >= seen {
			short += (m.short() - short) / share
		}
	}
	return short
}

// Caution is how much an eviction has to save at a time, in thousandths of what would be enough if
// all moves saved as much as expected: the inverse of their actual share.
func (a Account) Caution(now time.Time) int {
	a = a.As(now)
	brings := snapshot.FullConfidence - a.shortSoFar(now)
	if brings <= snapshot.FullConfidence*snapshot.FullConfidence/mostCaution {
		return mostCaution
	}
	caution := int(snapshot.FullConfidence * snapshot.FullConfidence / brings)
	return max(caution-caution%grain, snapshot.FullConfidence)
}

// Charges reports whether later purchases can still be charged to a move.
func (a Account) Charges(id string) (Move, bool) {
	at := a.find(id)
	if at < 0 {
		return Move{}, false
	}
	return a.Open[at], true
}

func (a Account) find(id string) int {
	return slices.IndexFunc(a.Open, func(m Move) bool { return m.ID == id })
}

// knows reports whether the account has recorded the end of a move.
func (a Account) knows(id string) bool {
	m, isOpen := a.Charges(id)
	return isOpen && !m.Early || slices.Contains(a.Settled, id)
}

func (a Account) remember(id string) Account {
	a.Settled = append(slices.Clone(a.Settled), id)
	a.Settled = a.Settled[max(len(a.Settled)-keptSettled, 0):]
	return a
}

// String is the text of the annotation.
func (a Account) String() string {
	text, err := json.Marshal(a)
	if err != nil { // strings, integers and times of today cannot fail
		panic(err)
	}
	return string(text)
}

// read is the account in an annotation. An unreadable annotation gives a new account.
func read(text string) Account {
	var a Account
	if json.Unmarshal([]byte(text), &a) != nil {
		return Account{}
	}
	return a
}
