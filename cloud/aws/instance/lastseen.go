package instance

import (
	"maps"
	"slices"
	"sync"

	"tenon/cloud"
)

// LastSeen is what every instance was like when it was seen last. It is asked where EC2's answers cannot
// be trusted: while traffic is led away from a zone, EC2 may not see the instances there, and
// none of them may be taken for gone. It may be used by many goroutines.
type LastSeen struct {
	mu   sync.Mutex
	seen map[string]Instance // by provider ID
}

// NewLastSeen knows no instance yet.
func NewLastSeen() *LastSeen { return &LastSeen{seen: map[string]Instance{}} }

// Note writes down an instance that was seen, unless it is about to go: its end is believed.
func (r *LastSeen) Note(m Instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.StateOf() == cloud.Terminating {
		delete(r.seen, m.ProviderID())
		return
	}
	r.seen[m.ProviderID()] = m
}

// Remove takes an instance off that was ended.
func (r *LastSeen) Remove(providerID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, providerID)
}

// Last is an instance as it was seen last.
func (r *LastSeen) Last(providerID string) (Instance, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, found := r.seen[providerID]
	return m, found
}

// Call removes the instances that are not among those found, but for those in zones that
// are not to be trusted: they are told, in the order of their provider IDs.
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
