package pack

import (
	"cmp"
	"slices"
)

// mostWasteful returns positions of bins by their waste, up to a number of pods.
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

// byWaste orders the bins that may be repacked, the most wasteful first. The lists are valid until
// the next call.
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

// sequence draws numbers that depend only on how many were drawn before.
type sequence uint64

func (l *sequence) next(n int) int {
	*l = *l*6364136223846793005 + 1442695040888963407
	return int(uint64(*l>>33) % uint64(n))
}

// victims returns positions of bins: one of the most wasteful, and others drawn from the more
// wasteful half.
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

// waste returns what the bin costs beyond what its pods are worth in the relaxation.
func (p *packer) waste(b *bin) float64 {
	w := float64(b.price)
	for _, t := range b.content {
		w -= float64(float64(t.n) * p.kinds[p.lots[t.lot].kind].worth)
	}
	return w
}

func (b *bin) pods() int {
	n := 0
	for _, t := range b.content {
		n += t.n
	}
	return n
}
