package sim

import (
	"container/heap"
	"time"
)

// entry is an event that will happen.
type entry struct {
	at time.Time
	// tie decides between entries of the same time. It is random, so that every order happens under some
	// seed. Number makes the order total.
	tie    uint64
	number uint64
	// what describes the event in the log.
	what string
	do   func()
	// ready reports whether it may happen now; nil means always.
	ready func() bool
	// dropped entries do not happen.
	dropped bool
	// of is the process with which the entry is dropped; nil means none.
	of *process
}

// agenda is a heap of entries, the next one first.
type agenda []*entry

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	x, y := a[i], a[j]
	switch {
	case !x.at.Equal(y.at):
		return x.at.Before(y.at)
	case x.tie != y.tie:
		return x.tie < y.tie
	}
	return x.number < y.number
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push is for the heap.
func (a *agenda) Push(x any) { *a = append(*a, x.(*entry)) }

// Pop is for the heap.
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = nil
	*a = (*a)[:len(*a)-1]
	return last
}

// later adds an entry to the agenda.
func (s *Sim) later(at time.Time, what string, of *process, do func()) *entry {
	s.numbered++
	e := &entry{at: at, tie: s.dice.Uint64(), number: s.numbered, what: what, do: do, of: of}
	heap.Push(&s.agenda, e)
	return e
}

// next removes and returns the first entry that may happen before a time, if there is one.
func (s *Sim) next(until time.Time) (*entry, bool) {
	var blocked []*entry
	defer func() {
		for _, e := range blocked {
			heap.Push(&s.agenda, e)
		}
	}()
	for len(s.agenda) > 0 && !s.agenda[0].at.After(until) {
		e := heap.Pop(&s.agenda).(*entry)
		switch {
		case e.dropped || e.of != nil && e.of.dead:
		case e.ready != nil && !e.ready():
			blocked = append(blocked, e)
		default:
			return e, true
		}
	}
	return nil, false
}
