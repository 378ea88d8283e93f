package machine

import (
	"maps"
	"slices"
	"sync"

	"tenon/cloud"
)

// Roll is what every instance was like when it was seen last. It is asked where EC2's answers cannot
// be trusted: while traffic is led away from a zone, EC2 may not see the instances there, and
// nobody may take them for gone. It may be used by many goroutines.
type Roll struct {
	mu   sync.Mutex
	seen map[string]Machine // by provider ID
}

// NewRoll is one with nobody on it.
func NewRoll() *Roll { return &Roll{seen: map[string]Machine{}} }

// Note writes down an instance that was seen, unless it is about to go: its end is believed.
func (r *Roll) Note(m Machine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.StateOf() == cloud.Terminating {
		delete(r.seen, m.ProviderID())
		return
	}
	r.seen[m.ProviderID()] = m
}

// Strike takes an instance off that was ended.
func (r *Roll) Strike(providerID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, providerID)
}

// Last is an instance as it was seen last.
func (r *Roll) Last(providerID string) (Machine, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, found := r.seen[providerID]
	return m, found
}

// Call takes everybody off who is not among those that were found, but for those in zones that
// are not to be trusted: they are told, in the order of their provider IDs.
func (r *Roll) Call(found []Machine, distrusted func(zoneID string) bool) (missing []Machine) {
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
