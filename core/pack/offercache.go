package pack

import (
	"slices"
	"strings"

	"tenon/core/feasible"
)

// OfferCache remembers which offers are worth opening for the same places, from one packing to the
// next in the same space. It is valid only as long as the space sells the same.
type OfferCache struct {
	places map[*feasible.Places]rune
	known  map[string][]offer
	spare  [][]offer // memory of lists that have been judged
}

// NewOfferCache returns an empty cache.
func NewOfferCache() *OfferCache {
	return &OfferCache{places: map[*feasible.Places]rune{}, known: map[string][]offer{}}
}

// offersFor lists the offers that are worth opening for the sites. It does not remember answers
// that depend on how much was opened already.
func (p *packer) offersFor(sites []site) []offer {
	if p.cache == nil || p.style == Thrifty || len(p.reserved) > 0 || slices.ContainsFunc(p.limits, func(l limits) bool { return len(l) > 0 }) {
		return p.judgeOffers(sites)
	}
	key := p.cache.key(p.pools, sites)
	found, known := p.cache.known[key]
	if !known {
		found = p.judgeOffers(sites)
		p.cache.known[key] = found
	}
	return found
}

// list returns an empty list, in memory that was given back if there is any.
func (s *OfferCache) list() []offer {
	if s == nil || len(s.spare) == 0 {
		return nil
	}
	last := len(s.spare) - 1
	out := s.spare[last]
	s.spare = s.spare[:last]
	return out[:0]
}

// giveBack takes lists that are not needed any more.
func (s *OfferCache) giveBack(groups []offerGroup) {
	if s == nil {
		return
	}
	for i := range groups {
		s.spare = append(s.spare, groups[i].offers)
	}
}

// key has a value of its own for everything on which the offers depend.
func (s *OfferCache) key(pools []bool, sites []site) string {
	var b strings.Builder
	for _, asked := range pools {
		if asked {
			b.WriteByte('+')
		} else {
			b.WriteByte('-')
		}
	}
	for _, alternatives := range sites {
		b.WriteByte('|')
		for _, places := range alternatives {
			n, known := s.places[places]
			if !known {
				n = rune(0x100 + len(s.places))
				s.places[places] = n
			}
			b.WriteRune(n)
		}
	}
	return b.String()
}
