package provision

import (
	"fmt"

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
	adv := newAdviser(w)
	for _, wish := range w.d.refused {
		v := w.d.verdict(wish, reason.Reason{}, adv)
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
		v := w.d.verdict(wishOf(s, pods), w.a.why[i], adv)
		for _, p := range pods {
			out = append(out, plan.Unplaced{Pod: int(p), Verdict: v})
		}
	}
	return out
}

func wishOf(s *shape.Shape, pods []int32) shape.Wish {
	return shape.Wish{Template: s.Template, Dropped: s.Dropped, Pods: pods}
}

// verdict is why the pods of a wish have no place: pool by pool, how many offerings were
// left after each rule, and the smallest change that would place one of them. Hint is
// what the packing met, when every rule for a single pod could be met. Wishes that ask the
// same of nodes, and nothing of other pods, share their verdict.
func (d *decision) verdict(w shape.Wish, hint reason.Reason, adv *adviser) *reason.Verdict {
	t := &d.s.Templates[w.Template]
	rq := request{variant: d.sp.Variant(t, w.Dropped), need: d.sp.Vector(t.Requests), ports: t.HostPorts, hint: hint}
	if adv.hasCompany(t) {
		return d.newVerdict(w, &rq, adv)
	}
	key := d.question(&rq, len(w.Pods))
	v, known := adv.verdicts[key]
	if !known {
		v = d.newVerdict(w, &rq, adv)
		adv.verdicts[key] = v
	}
	return v
}

// question tells wishes apart that may get different verdicts. How many pods there are
// matters to limits alone.
func (d *decision) question(rq *request, pods int) string {
	if !d.limited() {
		pods = 0
	}
	text := fmt.Sprint(rq.need, rq.ports, rq.hint, pods)
	for i := range rq.variant.Alternatives {
		text += "\n" + rq.variant.Alternatives[i].Key()
	}
	return text
}

func (d *decision) newVerdict(w shape.Wish, rq *request, adv *adviser) *reason.Verdict {
	v := &reason.Verdict{}
	if len(d.tiers) == 0 {
		v.General = reason.Reason{Code: reason.NoPools}
	}
	var candidates []candidate
	for p := range d.s.Pools {
		pv, alternative := d.poolVerdict(p, rq)
		v.Pools = append(v.Pools, pv)
		if alternative >= 0 {
			candidates = append(candidates, candidate{pool: p, alternative: alternative, verdict: len(v.Pools) - 1})
		}
	}
	if !d.unadvised {
		v.Remedy, v.Sought = adv.remedy(w, rq, v, candidates)
	}
	return v
}
