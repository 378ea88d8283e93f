package fleet

import (
	"tenon/core/provision/advice"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// why is what the answer to Fleet.Why depends on: which offers were taken since the fleet
// was made changes its numbers at most.
type why struct {
	template snapshot.TemplateIndex
	hint     reason.Reason
}

// whyEffort is what asking one machine costs, in steps.
const whyEffort = 100

// Why tells what keeps a pod from new nodes: what the pool says that comes closest.
func (b *Fleet) Why(p Unplaced) reason.Refusal {
	pod := &b.Snapshot.Pods[p.Pod]
	if pod.Tie.Refused != "" {
		return reason.Refusal{General: reason.Reason{Code: reason.PodRefused, Detail: pod.Tie.Refused}}
	}
	key := why{pod.Template, p.Hint}
	found, known := b.whys[key]
	if !known {
		found = b.findWhy(key)
		if b.whys == nil {
			b.whys = map[why]reason.Refusal{}
		}
		b.whys[key] = found
	}
	return found
}

func (b *Fleet) findWhy(w why) reason.Refusal {
	t := &b.Snapshot.Templates[w.template]
	buyable := advice.Pools{Snapshot: b.Snapshot, Space: b.sp, Left: b.limits}
	rq := advice.Request{Variant: b.sp.Variant(t, b.wish(w.template).dropped), Need: b.sp.Vector(t.Requests), Ports: t.HostPorts, Hint: w.hint}
	var v reason.Verdict
	for i := range b.Snapshot.Pools {
		pool, _ := buyable.Verdict(i, &rq)
		v.Pools = append(v.Pools, pool)
	}
	b.steps += whyEffort * int64(len(b.sp.Machines))
	if len(v.Pools) == 0 {
		return reason.Refusal{General: reason.Reason{Code: reason.NoPools}}
	}
	return reason.Refusal{Closest: v.Promising()[0]}
}
