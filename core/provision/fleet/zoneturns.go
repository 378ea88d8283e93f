package fleet

import (
	"cmp"
	"maps"
	"slices"

	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// crosser is a pod that must be spread over zones and is planned into another zone than its own.
type crosser struct {
	pod      snapshot.PodIndex
	kind     kindIndex
	skew     int64
	from, to zoneIndex
	receiver siteIndex
}

// crossers are the pods that change zones, receiver by receiver, and large ones before small ones.
func (f *Forecast) crossers(q Question) []crosser {
	var out []crosser
	for _, n := range q.Nodes {
		from := f.sites[siteOf(n)].zone
		for _, p := range f.fleet.hosts[n].Bound {
			at, moves := f.planned[p]
			if skew := f.fleet.zoneSkew(p); moves && skew > 0 && f.sites[at].zone != from {
				out = append(out, crosser{p, f.kinds[f.fleet.Snapshot.Pods[p].Template], skew, from, f.sites[at].zone, at})
			}
		}
	}
	slices.SortFunc(out, func(a, b crosser) int {
		return cmp.Or(cmp.Compare(a.receiver, b.receiver), cmp.Compare(a.kind, b.kind), f.fleet.largeFirst(a.pod, b.pod))
	})
	return out
}

// zoneSkew is by how many pods zones may differ for a pod that must be spread over them; 0 if it need not be.
func (f *Fleet) zoneSkew(p snapshot.PodIndex) int64 {
	var least int64
	for _, s := range f.Snapshot.Templates[f.Snapshot.Pods[p].Template].Spreads {
		if !s.Soft && s.Key == requirement.KeyZone && (least == 0 || int64(s.MaxSkew) < least) {
			least = int64(s.MaxSkew)
		}
	}
	return least
}

// zoneTurns says in which order pods that change zones are evicted. While a zone has too many pods of a kind, the successor of any pod there
// has to leave it, so these pods go before all others. A successor may go only to a zone that has few of its kind. So one
// receiver after the other gets the pods that may go there by then, first the one that gets the most. Where no pod may, the rest follows in any order.
func (f *Forecast) zoneTurns(q Question) map[snapshot.PodIndex]int {
	left := f.crossers(q)
	turns := make(map[snapshot.PodIndex]int, len(left))
	if len(left) == 0 {
		return turns
	}
	after := -len(left) // before all that have no turn
	held := f.heldBy(left)
	for len(left) > 0 {
		f.fleet.effort.spent += int64(len(left)) * siteEffort
		next := mostThatMay(left, held)
		if len(next) == 0 {
			next = left
		}
		for _, c := range next {
			turns[c.pod] = after
			after++
			held[c.kind][c.from]--
			held[c.kind][c.to]++
		}
		left = slices.DeleteFunc(slices.Clone(left), func(c crosser) bool { return turns[c.pod] < 0 })
	}
	return turns
}

// heldBy counts the pods of each kind in the zones that have any or are to get some.
func (f *Forecast) heldBy(crossers []crosser) map[kindIndex]map[zoneIndex]int64 {
	out := map[kindIndex]map[zoneIndex]int64{}
	for _, c := range crossers {
		if out[c.kind] == nil {
			out[c.kind] = map[zoneIndex]int64{}
		}
		out[c.kind][c.to] = f.inZones[kindIn{c.to, c.kind}]
	}
	for in, n := range f.inZones {
		if out[in.kind] != nil && n > 0 {
			out[in.kind][in.zone] = n
		}
	}
	return out
}

// mostThatMay are the pods for one receiver that may go there if they are evicted now: of the receiver that gets the most.
func mostThatMay(left []crosser, held map[kindIndex]map[zoneIndex]int64) []crosser {
	var most []crosser
	for len(left) > 0 {
		var here []crosser
		receiver := left[0].receiver
		for len(left) > 0 && left[0].receiver == receiver {
			n := 1
			for n < len(left) && left[n].receiver == receiver && left[n].kind == left[0].kind {
				n++
			}
			here = append(here, thoseThatMay(left[:n], held[left[0].kind])...)
			left = left[n:]
		}
		if len(here) > len(most) {
			most = here
		}
	}
	return most
}

// thoseThatMay are the first pods of one kind and receiver that may go there if they are all evicted at the same time.
func thoseThatMay(pods []crosser, held map[zoneIndex]int64) []crosser {
	then := maps.Clone(held)
	for n, c := range pods {
		then[c.from]--
		then[c.to]++
		for zone, others := range then {
			if zone != c.to && then[c.to]-others > c.skew {
				return pods[:n]
			}
		}
	}
	return pods
}
