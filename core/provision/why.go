package provision

import "tenon/core/reason"

// why is what the answer to Broker.Why depends on: which offers were taken since the broker
// was made changes its numbers at most.
type why struct {
	template int32
	hint     reason.Reason
}

// whyEffort is what asking one machine costs, in steps.
const whyEffort = 100

// Why tells what keeps a pod from new nodes: what the pool says that comes closest.
func (b *Broker) Why(p Unplaced) reason.Refusal {
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

func (b *Broker) findWhy(w why) reason.Refusal {
	t := &b.Snapshot.Templates[w.template]
	d := &decision{s: b.Snapshot, sp: b.sp, limits: b.limits, left: b.limits}
	rq := request{variant: b.sp.Variant(t, b.wish(w.template).dropped), need: b.sp.Vector(t.Requests), ports: t.HostPorts, hint: w.hint}
	var v reason.Verdict
	for i := range b.Snapshot.Pools {
		pool, _ := d.poolVerdict(i, &rq)
		v.Pools = append(v.Pools, pool)
	}
	b.steps += whyEffort * int64(len(b.sp.Machines))
	if len(v.Pools) == 0 {
		return reason.Refusal{General: reason.Reason{Code: reason.NoPools}}
	}
	return reason.Refusal{Closest: v.Promising()[0]}
}
