package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// improve takes a few bins apart, the most wasteful first, and packs their pods anew;
// it keeps what is cheaper. It ends when nothing helped for a while or the effort is
// spent.
func (p *packer) improve() {
	if p.settled() {
		return
	}
	if len(p.offers) > manyOffers {
		p.choice = p.inUse()
		defer func() { p.choice = nil }()
	}
	p.overhaul()
	offers := p.promising()
	draw := sequence(1)
	stop := p.steps + p.repairEffort()
	for idle := 0; idle < patience && p.steps < stop; {
		victims := p.victims(&draw)
		if len(victims) == 0 {
			return
		}
		hosts := p.partners(&draw)
		p.scoring = scorings[draw.next(len(scorings))]
		if p.repack(victims, hosts, offers) {
			idle = 0
		} else {
			idle++
		}
	}
	p.scoring = scorings[0]
}

// settled reports whether there is nothing to improve: no bin was opened, or one for one pod,
// which had its choice of all.
func (p *packer) settled() bool {
	opened := p.bins[p.tierStart:]
	return len(opened) == 0 || len(opened) == 1 && opened[0].pods() == 1 && !p.waiting()
}

// repairEffort is how much is spent on bins that waste: less where they hardly show.
func (p *packer) repairEffort() int64 {
	if len(p.bins) > manyBins {
		return p.effort / lateRepairPart
	}
	return p.effort / repairPart
}

// overhaul takes the most wasteful bins apart, as many as is manageable at once, and
// packs them by a relaxation of their own: what rounding left behind in many bins is
// better gathered than patched.
func (p *packer) overhaul() {
	pods := 0
	for _, b := range p.bins[p.tierStart:] {
		pods += b.pods()
	}
	if pods <= manyPods/2 { // they were packed together just now
		return
	}
	stop := p.steps + p.repairEffort()
	for i := range overhauls {
		if p.steps >= stop {
			return
		}
		victims := p.mostWasteful(manyPods >> (i % 2))
		if len(victims) < 2 {
			return
		}
		p.replace(victims, nil, func() *draft {
			r := p.relax(p.effort / overhaulPart)
			d := p.bestDraft(r, 2*len(scorings), p.steps+p.effort/overhaulPart)
			for k := range p.kinds {
				p.kinds[k].value = p.kinds[k].worth
			}
			return d
		})
	}
}

// mostWasteful are positions of bins in the order of their waste, up to a number of pods.
func (p *packer) mostWasteful(pods int) []int {
	order, waste := p.byWaste()
	var out []int
	for _, i := range order {
		if waste[i] <= 0 || pods < p.bins[i].pods() {
			break
		}
		pods -= p.bins[i].pods()
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// byWaste orders the bins that may be repacked, the most wasteful first. The lists are good
// until it is asked again.
func (p *packer) byWaste() (order []int, waste []float64) {
	order, waste = p.scratch.order[:0], append(p.scratch.waste[:0], make([]float64, len(p.bins))...)
	for i, b := range p.bins {
		if !b.sealed && i >= p.tierStart {
			order = append(order, i)
			waste[i] = p.waste(b)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if waste[a] != waste[b] {
			return cmp.Compare(waste[b], waste[a])
		}
		return cmp.Compare(a, b)
	})
	p.scratch.order, p.scratch.waste = order, waste
	return order, waste
}

// promising are the offers that hold most value for their price when they are full, a
// few of every size.
func (p *packer) promising() []int {
	if len(p.bins) > manyBins || p.choice != nil {
		return p.inUse()
	}
	gain := make([]float64, len(p.offers))
	left := make([]int, len(p.kinds))
	for k := range p.kinds { // as if all pods were waiting
		left[k] = p.kinds[k].left
		for _, at := range p.kinds[k].lots {
			p.kinds[k].left += p.lots[at].given - p.lots[at].dropped - p.lots[at].Count
		}
	}
	kinds := p.waitingKinds()
	for i := range p.offers {
		gain[i] = p.judge(&p.offers[i], kinds)
	}
	for k := range p.kinds {
		p.kinds[k].left = left[k]
	}
	order := p.all()
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gain[b], gain[a]) })
	bySize := map[int]int{}
	var out []int
	for _, i := range order {
		size := bits.Len64(uint64(p.offers[i].price)) * 64
		for s := range p.offers[i].sites.All { // offers for some sites only are kept for them
			size += s
			break
		}
		if bySize[size] < perSize {
			bySize[size]++
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// inUse are the offers that some bin was bought of: of many bins, all that are worth it.
func (p *packer) inUse() []int {
	type bought struct{ machine, slot int }
	used := map[bought]bool{}
	for _, b := range p.bins[p.tierStart:] {
		used[bought{b.machine, b.slot}] = true
	}
	var out []int
	for i := range p.offers {
		if used[bought{p.offers[i].machine, p.offers[i].slot}] {
			out = append(out, i)
		}
	}
	return out
}

// sequence draws numbers that depend only on how many were drawn.
type sequence uint64

func (l *sequence) next(n int) int {
	*l = *l*6364136223846793005 + 1442695040888963407
	return int(uint64(*l>>33) % uint64(n))
}

// victims are positions of bins: one of the most wasteful, with others drawn from the
// more wasteful half.
func (p *packer) victims(draw *sequence) []int {
	order, _ := p.byWaste()
	if len(order) == 0 {
		return nil
	}
	first := draw.next(min(len(order), 8))
	victims := []int{order[first]}
	pods := p.bins[order[first]].pods()
	for want := 1 + draw.next(5); want > 0; want-- {
		i := order[draw.next(max(len(order)/2, min(len(order), 12)))]
		n := p.bins[i].pods()
		if !slices.Contains(victims, i) && pods+n <= manyPods {
			victims = append(victims, i)
			pods += n
		}
	}
	slices.Sort(victims)
	return victims
}

func (b *bin) pods() int {
	n := 0
	for _, t := range b.content {
		n += t.n
	}
	return n
}

// waste is what the bin costs beyond what its pods are worth in the relaxation.
func (p *packer) waste(b *bin) float64 {
	w := float64(b.price)
	for _, t := range b.content {
		w -= float64(float64(t.n) * p.kinds[p.lots[t.lot].kind].worth)
	}
	return w
}

// repack takes the bins apart, fills existing nodes anew, and new ones from the offers.
func (p *packer) repack(victims []int, hosts []*bin, offers []int) bool {
	from := len(p.bins) - len(victims)
	return p.replace(victims, hosts, func() *draft {
		for _, b := range hosts {
			p.fill(b, p.sitesOf(b))
		}
		p.fillFrom(offers)
		return p.takeDown(from)
	})
}

// replace takes the bins and what was put on existing nodes apart, and keeps all as it was
// unless the draft that is made of their pods is better.
func (p *packer) replace(victims []int, hosts []*bin, redo func() *draft) bool {
	rest, taken := p.bins[:0], make([]*bin, 0, len(victims))
	for i, b := range p.bins {
		if _, ok := slices.BinarySearch(victims, i); ok {
			taken = append(taken, b)
		} else {
			rest = append(rest, b)
		}
	}
	p.bins = append(rest, taken...)
	old, before := p.takeDown(len(rest)), p.vacateAll(hosts)
	fresh := redo()
	if fresh.better(old) {
		p.putUp(fresh)
		return true
	}
	p.vacateAll(hosts)
	for i, b := range hosts {
		p.restore(b, before[i])
	}
	p.putUp(old)
	return false
}

func (p *packer) countLeft() int {
	n := 0
	for k := range p.kinds {
		n += p.kinds[k].left
	}
	return n
}
