// Package evaluation keeps the results of the last evaluation of the fleet about each claim's node, for the
// condition, events and metrics that say why a node still exists.
//
//	evaluation ──Put──▶ Nodes ──Page, Of──▶ controllers that report
//	                      └────wake───────▶ them
//
// It must not decide anything, and reads no clock: the time is that of the snapshot.
package evaluation

import (
	"slices"
	"sync"
	"time"

	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// Entry is the last word about the node of one claim, or about one node of a group.
type Entry struct {
	// Prospect as it was decided; of a node that was not looked at this time, as it was
	// decided before. Its index of a disruption is not to be used: the plan is gone.
	plan.Prospect
	// Message is what people read: the cause in words, or what will be done with the node.
	Message string
	// Looked is when that was found out, or since when the node waits to be looked at.
	Looked time.Time
	// Since is since when the answer has been the same, times aside.
	Since time.Time
}

// Closed is a pool whose budgets let no node go for a reason, although some would.
type Closed struct {
	Pool   string
	Reason plan.Reason
}

// Page is what there is to tell after an evaluation. It must not be changed.
type Page struct {
	// At is when the cluster was as it was looked at; zero before the first evaluation.
	At time.Time
	// Entries by the claim, or by NodeKey for nodes of groups. Other nodes without a claim have none.
	Entries []Entry
	// Closed in order of pool and reason.
	Closed []Closed
	// Eligible is how many nodes would go for a reason if that was worth it and allowed.
	Eligible map[plan.Reason]int
}

// NodeKey is the key of a node without a claim. No claim has such a name.
func NodeKey(node string) string { return "node/" + node }

// key is the claim, or for a node without one its NodeKey.
func (e *Entry) key() string {
	if e.Claim != "" {
		return e.Claim
	}
	return NodeKey(e.Node)
}

// Find is the entry of a claim, or of a NodeKey.
func (p *Page) Find(key string) (Entry, bool) {
	if at, found := slices.BinarySearchFunc(p.Entries, key, compareKey); found {
		return p.Entries[at], true
	}
	return Entry{}, false
}

// Oldest is the earliest time at which a node was last looked at, or the page's own time if there is none.
func (p *Page) Oldest() time.Time {
	oldest := p.At
	for i := range p.Entries {
		if at := p.Entries[i].Looked; at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}

// Nodes holds the last page. Its methods may be called by many goroutines.
type Nodes struct {
	mu          sync.Mutex
	page        *Page // never changed, only replaced
	subscribers []func()
}

// NewNodes makes one with an empty page.
func NewNodes() *Nodes { return &Nodes{page: &Page{}} }

// Put stores what was decided about a snapshot as the new page, and wakes the subscribers. It ignores
// decisions that did not look at the fleet.
func (b *Nodes) Put(s *snapshot.Snapshot, d *decide.Decision) {
	if len(d.Plan.Prospects) == 0 && len(s.Nodes) > 0 {
		return
	}
	for _, wake := range b.hang(newPage(b.Page(), s, &d.Plan)) {
		wake() // outside of the lock, because wake may do anything
	}
}

func (b *Nodes) hang(page *Page) []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.page = page
	return b.subscribers
}

// Page is the last one.
func (b *Nodes) Page() *Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.page
}

// Of is the last answer about the node of a claim.
func (b *Nodes) Of(claim string) (plan.Prospect, bool) {
	entry, found := b.Page().Find(claim)
	return entry.Prospect, found
}

// Subscribe has wake called whenever there is a new page. It must return at once.
func (b *Nodes) Subscribe(wake func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(slices.Clip(b.subscribers), wake)
}
