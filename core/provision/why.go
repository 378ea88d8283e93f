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

// Why says what keeps a pod from new nodes, in the words of the pool that comes closest.
func (b *Broker) Why(p Stranded) string {
	pod := &b.Snapshot.Pods[p.Pod]
	if pod.Tie.Refused != "" {
		return pod.Tie.Refused
	}
	key := why{pod.Template, p.Hint}
	text, known := b.whys[key]
	if !known {
		text = b.findWhy(key)
		if b.whys == nil {
			b.whys = map[why]string{}
		}
		b.whys[key] = text
	}
	return text
}

func (b *Broker) findWhy(w why) string {
	t := &b.Snapshot.Templates[w.template]
	d := &decision{s: b.Snapshot, sp: b.sp, limits: b.limits, left: b.limits}
	pl := plea{variant: b.sp.Variant(t, b.wish(w.template).dropped), need: b.sp.Vector(t.Requests), ports: t.HostPorts, hint: w.hint}
	var v reason.Verdict
	for i := range b.Snapshot.Pools {
		pool, _ := d.poolVerdict(i, &pl)
		v.Pools = append(v.Pools, pool)
	}
	b.steps += whyEffort * int64(len(b.sp.Machines))
	if len(v.Pools) == 0 {
		return (reason.Reason{Code: reason.NoPools}).Text()
	}
	closest := v.Promising()[0]
	return "pool " + closest.Pool + ": " + closest.Brief()
}
