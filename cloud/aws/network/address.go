package network

import (
	"sync"

	awsv1 "tenon/api/aws/v1"
)

// Addresses counts the free addresses of subnets: EC2's last figure, less what launches since then are
// expected to take. It may be used by many goroutines. A count may be negative, which does not stop a launch:
// EC2 decides whether an address is free.
type Addresses struct {
	mu      sync.Mutex
	subnets map[string]addresses
	syncs   uint64
}

type addresses struct {
	free     int64
	inFlight int64 // subtracted since the last sync
	sync     uint64
}

// NewAddresses makes counts that know no subnet yet.
func NewAddresses() *Addresses { return &Addresses{subnets: map[string]addresses{}} }

// Synced notes EC2's figure, which includes everything that was subtracted before.
func (a *Addresses) Synced(subnet string, free int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.syncs++
	a.subnets[subnet] = addresses{free: free, sync: a.syncs}
}

// Exhausted notes that a launch found no free address.
func (a *Addresses) Exhausted(subnet string) { a.Synced(subnet, 0) }

// Free is how many addresses are left; zero for an unknown subnet.
func (a *Addresses) Free(subnet string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.subnets[subnet]
	return s.free - s.inFlight
}

// Best returns the subnet of a zone with the most free addresses, the first if several have the same number;
// false if the zone has no subnet.
func (a *Addresses) Best(subnets []awsv1.Subnet, zone string) (best awsv1.Subnet, found bool) {
	var most int64
	for _, s := range subnets {
		if s.Zone != zone {
			continue
		}
		if free := a.Free(s.ID); !found || free > most {
			best, most, found = s, free, true
		}
	}
	return best, found
}

// Taking records what a launch is expected to take from a subnet.
type Taking struct {
	subnet string
	count  int64
	sync   uint64
}

// Take subtracts the addresses that a launch is about to use.
func (a *Addresses) Take(subnet string, count int64) Taking {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.subnets[subnet]
	s.inFlight += count
	a.subnets[subnet] = s
	return Taking{subnet: subnet, count: count, sync: s.sync}
}

// Return adds back what a launch did not use, unless EC2 has been asked since: its figure includes only
// addresses that are in use.
func (a *Addresses) Return(t Taking) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.subnets[t.subnet]; s.sync == t.sync {
		s.inFlight -= t.count
		a.subnets[t.subnet] = s
	}
}
