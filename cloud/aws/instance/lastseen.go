package instance

import (
	"maps"
	"slices"
	"sync"

	"tenon/cloud"
)

// LastSeen remembers the last known state of every instance. The provider uses it when EC2's answers are
// unreliable: while traffic is shifted away from a zone, EC2 may not see the instances there, and the
// provider must not take them for gone. It may be used by many goroutines.
type LastSeen struct {
	mu   sync.Mutex
	seen map[string]Instance // by provider ID
}

// NewLastSeen makes a LastSeen that knows no instance yet.
func NewLastSeen() *LastSeen { return &LastSeen{seen: map[string]Instance{}} }

// Note records an instance, unless it is about to go: EC2's word on its end is reliable.
func (r *LastSeen) Note(m Instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.StateOf() == cloud.Terminating {
		delete(r.seen, m.ProviderID())
		return
	}
	r.seen[m.ProviderID()] = m
}

// Remove forgets an instance that was terminated.
func (r *LastSeen) Remove(providerID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, providerID)
}

// Last returns an instance as it was seen last.
func (r *LastSeen) Last(providerID string) (Instance, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, found := r.seen[providerID]
	return m, found
}

// Call forgets the instances that are not among found. It keeps those in zones that are distrusted and
// returns them, sorted by provider ID.
func (r *LastSeen) Call(found []Instance, distrusted func(zoneID string) bool) (missing []Instance) {
	here := make(map[string]bool, len(found))
	for _, m := range found {
		here[m.ProviderID()] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.seen)) {
		switch m := r.seen[id]; {
		case here[id]:
		case distrusted(m.ZoneID):
			missing = append(missing, m)
		default:
			delete(r.seen, id)
		}
	}
	return missing
}
