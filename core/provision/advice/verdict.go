package advice

import (
	"cmp"
	"fmt"
	"slices"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// Unplaced lists the pods without a place in order, each with its verdict.
func (k *Adviser) Unplaced() []plan.Unplaced {
	var out []plan.Unplaced
	for _, p := range k.d.Invalid {
		refused := k.d.Snapshot.Pods[p].Refused
		out = append(out, plan.Unplaced{Pod: p, Verdict: &reason.Verdict{General: refused[0], Further: refused[1:]}})
	}
	for _, ask := range k.inTurn() {
		v := k.Verdict(ask.wish, ask.hint)
		for _, p := range ask.wish.Pods {
			out = append(out, plan.Unplaced{Pod: p, Verdict: v})
		}
	}
	slices.SortFunc(out, func(x, y plan.Unplaced) int { return cmp.Compare(x.Pod, y.Pod) })
	return out
}

// ask is a wish without a place, and what the packing met.
type ask struct {
	wish shape.Wish
	hint reason.Reason
}

// inTurn lists the wishes without a place, of each namespace one before the next of any: a namespace with
// many wishes that are hard to advise on leaves the others their share of the search for remedies.
func (k *Adviser) inTurn() []ask {
	var out []ask
	for _, wish := range k.d.Refused {
		out = append(out, ask{wish: wish})
	}
	for i := range k.a.Set.Shapes {
		if s := &k.a.Set.Shapes[i]; k.a.Left[i] > 0 {
			out = append(out, ask{wishOf(s, s.Pods[len(s.Pods)-k.a.Left[i]:]), k.a.Why[i]})
		}
	}
	turns, before := make([]int, len(out)), map[string]int{}
	order := make([]int, len(out))
	for i := range out {
		namespace := k.d.Snapshot.Templates[out[i].wish.Template].Namespace
		order[i], turns[i] = i, before[namespace]
		before[namespace]++
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(turns[i], turns[j]) })
	sorted := make([]ask, len(out))
	for at, i := range order {
		sorted[at] = out[i]
	}
	return sorted
}

func wishOf(s *shape.Shape, pods []snapshot.PodIndex) shape.Wish {
	return shape.Wish{Template: s.Template, Dropped: s.Dropped, Pods: pods}
}

// Verdict is why the pods of a wish have no place: pool by pool, how many offerings were
// left after each rule, and the smallest change that would place one of them. Hint is
// what the packing met, when every rule for a single pod could be met. Wishes that ask the
// same of nodes, and nothing of other pods, share their verdict.
func (k *Adviser) Verdict(w shape.Wish, hint reason.Reason) *reason.Verdict {
	t := &k.d.Snapshot.Templates[w.Template]
	rq := Request{Variant: k.d.Space.Variant(t, w.Dropped), Need: k.d.Space.Vector(t.Requests), Ports: t.HostPorts, Hint: hint}
	if k.dependsOnPods(t) {
		return k.newVerdict(w, &rq)
	}
	key := k.question(&rq, len(w.Pods))
	v, known := k.verdicts[key]
	if !known {
		v = k.newVerdict(w, &rq)
		k.verdicts[key] = v
	}
	return v
}

// question tells wishes apart that may get different verdicts. How many pods there are
// matters to limits alone.
func (k *Adviser) question(rq *Request, pods int) string {
	if !k.d.Limited() {
		pods = 0
	}
	text := fmt.Sprint(rq.Need, rq.Ports, rq.Hint, pods)
	for i := range rq.Variant.Alternatives {
		text += "\n" + rq.Variant.Alternatives[i].Key()
	}
	return text
}

func (k *Adviser) newVerdict(w shape.Wish, rq *Request) *reason.Verdict {
	v := &reason.Verdict{}
	if len(k.d.Tiers) == 0 {
		v.General = reason.Reason{Code: reason.NoPools}
	}
	var candidates []candidate
	for p := range snapshot.PoolIndex(len(k.d.Snapshot.Pools)) {
		pv, alternative := k.pools.Verdict(p, rq)
		v.Pools = append(v.Pools, pv)
		if alternative >= 0 {
			candidates = append(candidates, candidate{pool: p, alternative: alternative, verdict: len(v.Pools) - 1})
		}
	}
	if !k.Unadvised {
		v.Remedy, v.Sought = k.remedy(w, rq, v, candidates)
	}
	return v
}
