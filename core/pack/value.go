package pack

import "tenon/core/shape"

// Values returns for each lot what one more pod of it costs in the best of fleets, if all lots are
// packed on new nodes: the dual prices of the relaxation, in millionths.
func Values(set *shape.Set, lots []Lot, steps int64) []float64 {
	p := newPacker(set, lots)
	p.askAll()
	r := rows{index: map[string]int{}}
	row := make([]int, len(lots))
	for i, l := range lots {
		row[i] = r.add(p, &set.Shapes[l.Shape], l.Count, set.Shapes[l.Shape].Alternatives)
	}
	out := make([]float64, len(lots))
	dual := p.solve(&r, steps).Dual
	for i := range lots {
		if row[i] < len(dual) {
			out[i] = dual[row[i]]
		}
	}
	return out
}
