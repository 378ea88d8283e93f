package pack

import (
	"cmp"
	"slices"

	"tenon/core/model"
)

// improve takes a few bins apart, the most wasteful first, and packs their pods anew;
// it keeps what is cheaper. It ends when nothing helped for a while or the effort is
// spent.
func (p *packer) improve() {
	if len(p.bins) == 0 {
		return
	}
	draw := lottery(1)
	for idle := 0; idle < patience && p.steps < p.effort; {
		victims := p.victims(&draw)
		if len(victims) == 0 {
			return
		}
		p.taste = tastes[draw.next(len(tastes))]
		if p.repack(victims) {
			idle = 0
		} else {
			idle++
		}
	}
}

// patience is how many failed attempts in a row end the search.
const patience = 60

// manyPods bounds how much is taken apart at a time.
const manyPods = 600

// lottery draws numbers that depend on nothing but how many were drawn.
type lottery uint64

func (l *lottery) next(n int) int {
	*l = *l*6364136223846793005 + 1442695040888963407
	return int(uint64(*l>>33) % uint64(n))
}

// victims are positions of bins: one of the most wasteful, with others drawn from the
// more wasteful half.
func (p *packer) victims(draw *lottery) []int {
	var order []int
	for i, b := range p.bins {
		if !b.sealed {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return nil
	}
	waste := make([]float64, len(p.bins))
	for _, i := range order {
		waste[i] = p.waste(p.bins[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(waste[b], waste[a]) })
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
		w -= float64(t.n) * p.kinds[p.lots[t.lot].kind].value
	}
	return w
}

// repack takes the bins apart and packs their pods anew. It keeps the old bins unless
// the new ones are cheaper, or as cheap and fewer.
func (p *packer) repack(victims []int) bool {
	old := make([]*bin, 0, len(victims))
	rest := make([]*bin, 0, len(p.bins))
	var oldPrice model.Money
	for i, b := range p.bins {
		if _, ok := slices.BinarySearch(victims, i); ok {
			old = append(old, b)
			oldPrice += b.price
		} else {
			rest = append(rest, b)
		}
	}
	before := p.countLeft()
	contents := make([][]taken, len(old))
	for i, b := range old {
		contents[i] = b.content
		p.unload(b)
		p.release(b)
	}
	p.bins = rest
	p.fillRest()
	var newPrice model.Money
	for _, b := range p.bins[len(rest):] {
		newPrice += b.price
	}
	if p.countLeft() <= before && (newPrice < oldPrice || newPrice == oldPrice && len(p.bins)-len(rest) < len(old)) {
		return true
	}
	for _, b := range p.bins[len(rest):] {
		p.unload(b)
		p.release(b)
	}
	p.bins = rest
	for i, b := range old {
		again := p.newBin(b.machine, b.slot)
		for _, t := range contents[i] {
			p.put(again, t.lot, t.n, t.alternative)
		}
		p.open(again)
	}
	return false
}

func (p *packer) countLeft() int {
	n := 0
	for k := range p.kinds {
		n += p.kinds[k].left
	}
	return n
}
