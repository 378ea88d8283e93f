package provision

import (
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/shape"
)

// unplaced lists the pods without a place, each with its verdict.
func (w *writer) unplaced() []plan.Unplaced {
	var out []plan.Unplaced
	for _, p := range w.d.invalid {
		refused := reason.Reason{Code: reason.PodRefused, Detail: w.d.s.Pods[p].Refused}
		out = append(out, plan.Unplaced{Pod: int(p), Verdict: &reason.Verdict{General: refused}})
	}
	for _, wish := range w.d.refused {
		v := w.d.verdict(wish, reason.Reason{})
		for _, p := range wish.Pods {
			out = append(out, plan.Unplaced{Pod: int(p), Verdict: v})
		}
	}
	for i := range w.a.set.Shapes {
		s := &w.a.set.Shapes[i]
		if w.a.left[i] == 0 {
			continue
		}
		pods := s.Pods[len(s.Pods)-w.a.left[i]:]
		v := w.d.verdict(wishOf(s, pods), w.a.why[i])
		for _, p := range pods {
			out = append(out, plan.Unplaced{Pod: int(p), Verdict: v})
		}
	}
	return out
}

func wishOf(s *shape.Shape, pods []int32) shape.Wish {
	return shape.Wish{Template: s.Template, Level: s.Level, Pods: pods}
}

// verdict is why the pods of a wish have no place: pool by pool, how many offerings were
// left after each rule. Hint is what the packing met, when every rule for a single pod
// could be met.
func (d *decision) verdict(w shape.Wish, hint reason.Reason) *reason.Verdict {
	v := &reason.Verdict{}
	if len(d.tiers) == 0 {
		v.General = reason.Reason{Code: reason.NoPools}
	}
	t := &d.s.Templates[w.Template]
	variant := d.sp.Variant(t, w.Level)
	for p := range d.s.Pools {
		v.Pools = append(v.Pools, d.poolVerdict(p, &variant, d.sp.Vector(t.Requests), hint))
	}
	return v
}
