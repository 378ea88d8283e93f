package kubelet

import (
	"errors"
	"net/netip"
)

// addressPool gives each address of a range to one holder at a time. It goes through the whole range before
// it reuses a released address, so that a late reader does not take a new pod for an old one. It is not
// safe for concurrent use.
type addressPool struct {
	within netip.Prefix
	last   netip.Addr
	taken  map[netip.Addr]bool
}

var errNoAddress = errors.New("every address of the range is taken")

func newAddressPool(within netip.Prefix) *addressPool {
	return &addressPool{within: within.Masked(), last: within.Masked().Addr(), taken: map[netip.Addr]bool{}}
}

// take gives the next free address; the range's first address is never given.
func (p *addressPool) take() (netip.Addr, error) {
	for range len(p.taken) + 2 { // among so many candidates one is free, unless the range is full
		next := p.last.Next()
		if !next.IsValid() || !p.within.Contains(next) {
			next = p.within.Addr().Next()
		}
		if !p.within.Contains(next) {
			break
		}
		p.last = next
		if !p.taken[next] {
			p.taken[next] = true
			return next, nil
		}
	}
	return netip.Addr{}, errNoAddress
}

// reserve marks an address as taken that something else gave out, such as this program before a restart.
func (p *addressPool) reserve(a netip.Addr) { p.taken[a] = true }

func (p *addressPool) release(a netip.Addr) { delete(p.taken, a) }
