package accounts

import (
	"cmp"
	"container/heap"
	"time"
)

// agenda holds what will happen, the earliest first. Entries for the same moment happen in the order in
// which they were noted.
type agenda struct {
	entries []entry
	noted   int
}

type entry struct {
	due    time.Time
	number int
	do     func()
}

func (a *agenda) Len() int { return len(a.entries) }
func (a *agenda) Less(i, j int) bool {
	x, y := a.entries[i], a.entries[j]
	return cmp.Or(x.due.Compare(y.due), cmp.Compare(x.number, y.number)) < 0
}
func (a *agenda) Swap(i, j int) { a.entries[i], a.entries[j] = a.entries[j], a.entries[i] }
func (a *agenda) Push(e any)    { a.entries = append(a.entries, e.(entry)) }
func (a *agenda) Pop() any {
	last := len(a.entries) - 1
	e := a.entries[last]
	a.entries[last] = entry{}
	a.entries = a.entries[:last]
	return e
}

func (a *agenda) note(due time.Time, do func()) {
	a.noted++
	heap.Push(a, entry{due, a.noted, do})
}

// next takes the next entry that is due by now.
func (a *agenda) next(now time.Time) (entry, bool) {
	if len(a.entries) == 0 || a.entries[0].due.After(now) {
		return entry{}, false
	}
	return heap.Pop(a).(entry), true
}
