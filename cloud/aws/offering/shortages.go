package offering

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"tenon/core/catalog"
)

// Shortage is an offer that was short: a type in a zone, with a capacity type. Group and Partition narrow it
// to launches into a placement group; a shortage there does not affect other launches.
type Shortage struct {
	InstanceType, Zone, CapacityType string
	Group, Partition                 string
}

// How long Shortages remembers a shortage. Karpenter remembers three minutes. Each time an offer is short
// again soon after a retry, the time doubles, up to a limit.
const (
	remembered = 3 * time.Minute
	longest    = 12 * time.Minute
	forgiven   = 10 * time.Minute // of quiet take one repetition back
)

// subject is anything that can be short: an Offer, or one of these.
type (
	capacityType string // all of it, for everything
	subnet       string // addresses
)

type mark struct {
	since, until time.Time
	repeat       int
}

func (m mark) lasts() time.Duration { return min(remembered<<m.repeat, longest) }

// Shortages remembers what EC2 could not provide a moment ago: decisions see it as unavailable, and launches
// leave it out. After a few minutes it may be tried again; an offer that is short again and again stays
// unavailable for longer. Launches and interruption notices report shortages. It may be used by many
// goroutines.
type Shortages struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	marks map[any]mark // also of what is over, as long as its repetitions count
	view  ShortageView
}

// NewShortages remembers no shortage yet.
func NewShortages(c clock.PassiveClock) *Shortages {
	return &Shortages{clock: c, marks: map[any]mark{}, view: ShortageView{revision: 1}}
}

// Note remembers that offers were short.
func (b *Shortages) Note(offers ...Shortage) {
	for _, o := range offers {
		b.note(o)
	}
}

// NoteCapacityType remembers that nothing can be bought in a way.
func (b *Shortages) NoteCapacityType(name string) { b.note(capacityType(name)) }

// NoteSubnet remembers that a subnet has no addresses left.
func (b *Shortages) NoteSubnet(id string) { b.note(subnet(id)) }

func (b *Shortages) note(subject any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	m, known := b.marks[subject]
	if !known {
		m.since = now
	} else if !now.Before(m.until) {
		quiet := int(now.Sub(m.until) / forgiven)
		if m.repeat = max(m.repeat+1-2*quiet, 0); quiet > 0 {
			m.since = now
		}
	}
	m.until = now.Add(m.lasts())
	b.marks[subject] = m
	b.renew(now)
}

// View is what is short now. While nothing changes it is the same value, and has the
// same revision; a shortage that is over is a change.
func (b *Shortages) View() ShortageView {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.clock.Now(); !b.view.next.IsZero() && !now.Before(b.view.next) {
		b.renew(now)
	}
	return b.view
}

// renew makes the view again. The lock is held.
func (b *Shortages) renew(now time.Time) {
	v := ShortageView{revision: b.view.revision + 1, short: map[any]mark{}}
	for subject, m := range b.marks {
		switch {
		case now.Before(m.until):
			v.short[subject] = m
			if v.next.IsZero() || m.until.Before(v.next) {
				v.next = m.until
			}
		case now.Sub(m.until) > forgiven*time.Duration(1+m.repeat):
			delete(b.marks, subject)
		}
	}
	b.view = v
}

// ShortageView is what was short at one time. It does not change.
type ShortageView struct {
	revision uint64
	short    map[any]mark
	next     time.Time
}

// Revision is another number for every other view.
func (v ShortageView) Revision() uint64 { return v.revision }

// Next is when the first shortage will be over; zero if nothing is short.
func (v ShortageView) Next() time.Time { return v.next }

// Has reports whether an offer is short: for all launches, for its placement group, or for
// its partition; or because nothing can be bought in that way at all.
func (v ShortageView) Has(o Shortage) bool {
	_, short := v.find(o)
	return short
}

// Outage returns since when an offer has been short, and when launches may try it again; nil if it is not
// short.
func (v ShortageView) Outage(o Shortage) *catalog.Outage {
	m, short := v.find(o)
	if !short {
		return nil
	}
	return &catalog.Outage{Since: m.since, Until: m.until}
}

func (v ShortageView) find(o Shortage) (mark, bool) {
	if len(v.short) == 0 {
		return mark{}, false
	}
	if m, short := v.short[capacityType(o.CapacityType)]; short {
		return m, true
	}
	inGroup, anywhere := o, o
	inGroup.Partition = ""
	anywhere.Group, anywhere.Partition = "", ""
	for _, each := range []Shortage{o, inGroup, anywhere} {
		if m, short := v.short[each]; short {
			return m, true
		}
	}
	return mark{}, false
}

// HasCapacityType reports whether nothing can be bought in a way.
func (v ShortageView) HasCapacityType(name string) bool {
	_, short := v.short[capacityType(name)]
	return short
}

// HasSubnet reports whether a subnet has no addresses left.
func (v ShortageView) HasSubnet(id string) bool {
	_, short := v.short[subnet(id)]
	return short
}
