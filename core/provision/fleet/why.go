package fleet

import (
	"tenon/core/provision/advice"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// why is the key of an answer of Fleet.Why. It leaves out which offers were taken since the fleet was made:
// these change only numbers of the answer.
type why struct {
	template snapshot.TemplateIndex
	hint     reason.Reason
}

// whyEffort is what asking one machine costs, in steps.
const whyEffort = 100

// Why tells what keeps a pod from new nodes: the answer of the closest pool.
func (f *Fleet) Why(p Unplaced) reason.Refusal {
	pod := &f.Snapshot.Pods[p.Pod]
	if refused := pod.Tie.Refused; len(refused) > 0 {
		return reason.Refusal{General: refused[0]}
	}
	key := why{pod.Template, p.Hint}
	found, known := f.whys[key]
	if !known {
		found = f.findWhy(key)
		f.whys[key] = found
	}
	return found
}

func (f *Fleet) findWhy(w why) reason.Refusal {
	t := &f.Snapshot.Templates[w.template]
	buyable := advice.Pools{Snapshot: f.Snapshot, Space: f.sp, Left: f.limits}
	rq := advice.Request{Variant: f.sp.Variant(t, f.wish(w.template).dropped), Need: f.sp.Vector(t.Requests), Ports: t.HostPorts, Hint: w.hint}
	var v reason.Verdict
	for p := range snapshot.PoolIndex(len(f.Snapshot.Pools)) {
		pool, _ := buyable.Verdict(p, &rq)
		v.Pools = append(v.Pools, pool)
	}
	f.effort.spent += whyEffort * int64(len(f.sp.Machines))
	if len(v.Pools) == 0 {
		return reason.Refusal{General: reason.Reason{Code: reason.NoPools}}
	}
	return reason.Refusal{Closest: v.Promising()[0]}
}
