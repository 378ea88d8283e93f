package disruption

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
)

// desk is what has been written and not yet seen, and since when nodes are closed. All of
// it can be lost: then the commands are found on the objects, and nodes count as closed
// from then on.
type desk struct {
	mu      sync.Mutex
	entries map[string]*entry    // by ID
	past    map[string]time.Time // when commands were over: caches may still show them
	over    int                  // how many commands were
	prices  map[string]model.Money
	wake    func()
}

// entry is one command.
type entry struct {
	record command.Record
	// places are where its pods go, and pods all that the decision knew of, if we were there
	// when it was begun.
	places []place
	pods   map[types.UID]bool
	// beginning commands are still being written.
	beginning bool
	// since is when we learned of it.
	since time.Time
	// closed is since when all of its nodes are, as far as our watches tell.
	closed time.Time
}

func newDesk() *desk { return &desk{entries: map[string]*entry{}, past: map[string]time.Time{}} }

func (d *desk) subscribe(wake func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake = wake
}

// begin enters a command before anything of it is written.
func (d *desk) begin(s *start, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries[s.record.ID] = &entry{record: s.record, places: s.places, pods: s.pods, beginning: true, since: now}
}

// begun lets the command go its way.
func (d *desk) begun(id string) {
	d.mu.Lock()
	wake := d.wake
	if e := d.entries[id]; e != nil {
		e.beginning = false
	}
	d.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// meet enters a command that was found on an object, unless it is known.
func (d *desk) meet(r command.Record, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, over := d.past[r.ID]; !over && d.entries[r.ID] == nil {
		d.entries[r.ID] = &entry{record: r, since: now}
	}
}

// pastFor is for how long a command that is over is known to be.
const pastFor = 10 * time.Minute

// drop forgets a command that is over.
func (d *desk) drop(id string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.entries, id)
	d.over++
	maps.DeleteFunc(d.past, func(_ string, at time.Time) bool { return now.Sub(at) > pastFor })
	d.past[id] = now
}

// memory of a command: where its pods go, and which pods were known; nil if we were not
// there when it was begun.
func (d *desk) memory(id string) (places []place, pods map[types.UID]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.entries[id]; e != nil {
		return e.places, e.pods
	}
	return nil, nil
}

// dropped is how many commands were over since the start.
func (d *desk) dropped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// list is the commands that have been begun, the oldest first.
func (d *desk) list() []*entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*entry
	for _, e := range d.entries {
		if !e.beginning {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int {
		return cmp.Or(a.record.Begun.Compare(b.record.Begun), cmp.Compare(a.record.ID, b.record.ID))
	})
	return out
}

// records are those of all commands, in no order.
func (d *desk) records() []command.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]command.Record, 0, len(d.entries))
	for _, e := range d.entries {
		out = append(out, e.record)
	}
	return out
}

// unseenFor is how long our own writes may be missing in the picture before an evaluation
// goes on nevertheless.
const unseenFor = time.Minute

// taken is a claim that a command takes: why, and whether the command is so young that
// nobody may have seen it yet.
type taken struct {
	reason plan.Reason
	young  bool
}

// taken are the claims that commands take.
func (d *desk) taken(now time.Time) map[string]taken {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]taken{}
	for _, e := range d.entries {
		for _, m := range e.record.Claims {
			out[m.Claim] = taken{e.record.Reason, now.Sub(e.since) < unseenFor}
		}
	}
	return out
}

// involves reports whether a claim is part of a command, whatever its part.
func (d *desk) involves(claim string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.record.Takes(claim) || e.record.Brings(claim) {
			return true
		}
	}
	return false
}

// size is how many machines the commands are about.
func (d *desk) size() int {
	n := 0
	for _, r := range d.records() {
		n += len(r.Claims)
	}
	return n
}

// appraise notes what machines cost now, by claim.
func (d *desk) appraise(prices map[string]model.Money) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prices = prices
}

// price of a member's machine, as far as is known: what it was thought to cost otherwise.
func (d *desk) price(m command.Member) model.Money {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.prices[m.Claim]; known > 0 {
		return known
	}
	return m.Price
}
