package fault

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"tenon/lab/aws/random"
)

// Set holds the faults that last, with their state.
type Set struct {
	mu      sync.Mutex
	seed    random.Seed
	made    int
	asked   int
	lasting []*lasting
}

// lasting is a fault with its time and its count.
type lasting struct {
	Fault
	from    time.Time
	until   time.Time // zero means for ever
	times   int
	buckets map[string]*bucket // by account, region and operation
}

// NewSet makes an empty set.
func NewSet(seed random.Seed) *Set { return &Set{seed: seed} }

// Add starts a lasting fault, and gives every fault its identifier. A fault with the identifier of
// another replaces it.
func (s *Set) Add(f Fault, now time.Time) (Fault, error) {
	if err := f.Validate(); err != nil {
		return Fault{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if f.ID == "" {
		f.ID = "fault-" + strconv.Itoa(s.made)
	}
	if !f.Kind.Lasts() {
		return f, nil
	}
	l := &lasting{Fault: f, from: now.Add(time.Duration(f.After)), buckets: map[string]*bucket{}}
	if f.For > 0 {
		l.until = l.from.Add(time.Duration(f.For))
	}
	s.drop(func(old *lasting) bool { return old.ID == f.ID })
	s.lasting = append(s.lasting, l)
	return f, nil
}

// List returns the lasting faults that are not over, in the order in which they came.
func (s *Set) List(now time.Time) []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(func(l *lasting) bool { return l.over(now) })
	list := make([]Fault, 0, len(s.lasting))
	for _, l := range s.lasting {
		list = append(list, l.Fault)
	}
	return list
}

// Remove ends a fault.
func (s *Set) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.drop(func(l *lasting) bool { return l.ID == id }) {
		return fmt.Errorf("no fault %q lasts", id)
	}
	return nil
}

// Clear ends all faults.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lasting = nil
}

func (s *Set) drop(gone func(*lasting) bool) bool {
	before := len(s.lasting)
	s.lasting = slices.DeleteFunc(s.lasting, gone)
	return len(s.lasting) < before
}

func (l *lasting) over(now time.Time) bool {
	return !l.until.IsZero() && !now.Before(l.until) || l.Times > 0 && l.times >= l.Times
}

func (l *lasting) holds(now time.Time) bool { return !now.Before(l.from) && !l.over(now) }

// each visits the faults of a kind that apply now.
func (s *Set) each(now time.Time, visit func(*lasting)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lasting {
		if l.holds(now) {
			visit(l)
		}
	}
}

// Pool identifies capacity: an instance type in a zone, of a capacity type.
type Pool struct{ Account, Region, InstanceType, Zone, CapacityType string }

// Shortage says that a pool has no room for more than Limit instances.
type Shortage struct {
	Limit         int
	Code, Message string
}

// Pool returns the tightest limit of a pool; false if there is none.
func (s *Set) Pool(p Pool, now time.Time) (tightest Shortage, limited bool) {
	s.each(now, func(l *lasting) {
		if l.Kind == NoCapacity && l.Names(p) && (!limited || l.Limit < tightest.Limit) {
			tightest, limited = Shortage{Limit: l.Limit, Code: l.Code, Message: l.Message}, true
		}
	})
	return tightest, limited
}

// Hides returns how long a new resource stays invisible.
func (s *Set) Hides(resource, account, region string, now time.Time) (longest time.Duration) {
	s.each(now, func(l *lasting) {
		if l.Kind == EventualVisibility && l.holdsAt(account, region) && matches(l.Resources, resource) {
			longest = max(longest, time.Duration(l.Delay))
		}
	})
	return longest
}

// Boots says how an instance boots: whether it never finishes, and how slow it is.
func (s *Set) Boots(p Pool, instance string, now time.Time) (never bool, factor float64) {
	factor = 1
	s.each(now, func(l *lasting) {
		if l.Kind != BootNeverFinishes && l.Kind != SlowBoot || !l.Names(p) {
			return
		}
		if l.Share > 0 && s.seed.Share("boot", l.ID, instance) >= l.Share {
			return
		}
		l.times++
		if l.Kind == SlowBoot {
			factor *= l.Factor
			return
		}
		never = true
	})
	return never, factor
}

// Shift is a zone that traffic is shifted away from, with the end of the shift.
type Shift struct {
	Zone  string
	Since time.Time
	Until time.Time // zero if not given
}

// Shifts returns the shifted zones of a region.
func (s *Set) Shifts(account, region string, now time.Time) (shifts []Shift) {
	s.each(now, func(l *lasting) {
		if l.Kind != ZonalShift || !l.holdsAt(account, region) {
			return
		}
		for _, zone := range l.Zones {
			shifts = append(shifts, Shift{Zone: zone, Since: l.from, Until: l.until})
		}
	})
	return shifts
}
