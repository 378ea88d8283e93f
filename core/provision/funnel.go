package provision

import (
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/reason"
)

// poolVerdict asks the rules of one pool one after the other and counts the offerings
// that are left after each. Of several alternatives for the node, the one that gets
// furthest speaks.
func (d *decision) poolVerdict(p int, v *feasible.Variant, need []int64, hint reason.Reason) reason.PoolVerdict {
	pool := &d.s.Pools[p]
	if pool.Unready != "" {
		return reason.PoolVerdict{Pool: pool.Name, Reason: reason.Reason{Code: reason.PoolNotReady, Detail: pool.Unready}}
	}
	best := reason.PoolVerdict{}
	for i := range v.Alternatives {
		if f := d.funnel(p, &v.Alternatives[i], need, hint); i == 0 || len(f.Funnel) > len(best.Funnel) {
			best = f
		}
	}
	return best
}

func (d *decision) funnel(p int, a *feasible.Asker, need []int64, hint reason.Reason) reason.PoolVerdict {
	pool := &d.s.Pools[p]
	f := reason.PoolVerdict{Pool: pool.Name}
	first, end := d.sp.PoolMachines(p)
	if taint, kept := model.Untolerated(pool.Taints, a.Tolerations, a.Strict); kept {
		f.Funnel = []reason.Step{{Code: reason.TaintNotTolerated}}
		f.Reason = reason.Reason{Code: reason.TaintNotTolerated, Where: taint.String()}
		return f
	}
	if m, bad := pool.Requirements.FindMismatch(a.Require, d.s.Settings.WellKnown); bad {
		f.Funnel = []reason.Step{{Code: reason.TaintNotTolerated, Left: d.listed(first, end)}, {Code: reason.LabelsIncompatible}}
		f.Reason = reason.Reason{Code: reason.LabelsIncompatible, Where: m.Key(), Detail: m.String()}
		return f
	}
	f.Funnel = append(f.Funnel, reason.Step{Code: reason.LabelsIncompatible, Left: d.listed(first, end)})
	d.sieve(&f, p, a, need)
	if f.Reason.Code == reason.None {
		f.Reason = hint
	}
	return f
}

func (d *decision) listed(first, end int) int {
	n := 0
	for m := first; m < end; m++ {
		n += d.sp.Machines[m].Listed.Count()
	}
	return n
}

// sieve lets the pool's offerings fall through the rules for types, slots,
// availability, size and limits.
func (d *decision) sieve(f *reason.PoolVerdict, p int, a *feasible.Asker, need []int64) {
	first, end := d.sp.PoolMachines(p)
	types, slots := d.sp.TypesFor(p, a.Require), d.sp.SlotsAllowed(a.Require)
	var typed, offered, available, roomy, bearable int
	near := nearest{}
	for m := first; m < end; m++ {
		machine := &d.sp.Machines[m]
		if !types.Has(machine.Ordinal) {
			continue
		}
		typed += machine.Listed.Count()
		offered += machine.Listed.And(slots).Count()
		can := machine.Slots.And(slots).Count()
		available += can
		switch {
		case can == 0:
		case !feasible.Fits(need, machine.Room):
			near.consider(machine, need, d.sp.Dims)
		default:
			roomy += can
			if pack.Bears(d.left[p], machine.Capacity) {
				bearable += can
			} else {
				near.exceeds(machine, d.left[p])
			}
		}
	}
	for _, step := range []struct {
		code reason.Code
		left int
	}{
		{reason.TypeIncompatible, typed}, {reason.NoOffering, offered}, {reason.OfferingUnavailable, available},
		{reason.InsufficientRoom, roomy}, {reason.LimitReached, bearable},
	} {
		f.Funnel = append(f.Funnel, reason.Step{Code: step.code, Left: step.left})
		if step.left == 0 {
			f.Reason, f.Nearest = near.reason(step.code), near.name(step.code)
			return
		}
	}
}

// nearest remembers the machine that came closest to being large enough, and the limit
// that the smallest large enough machine exceeds.
type nearest struct {
	room      reason.Reason
	roomName  string
	shortage  float64
	limit     reason.Reason
	limitName string
	over      float64
}

func (n *nearest) consider(m *feasible.Machine, need []int64, dims []string) {
	worst, at := 0.0, 0
	for i, want := range need {
		if want > m.Room[i] && want > 0 {
			if short := float64(want-m.Room[i]) / float64(want); short > worst {
				worst, at = short, i
			}
		}
	}
	if n.roomName == "" || worst < n.shortage {
		n.room = reason.Reason{Code: reason.InsufficientRoom, Where: dims[at], Have: m.Room[at], Want: need[at]}
		n.roomName, n.shortage = m.Type.Name, worst
	}
}

func (n *nearest) exceeds(m *feasible.Machine, limits []model.Amount) {
	for _, a := range limits {
		want := pack.Share(m.Capacity, a.Name)
		if want <= a.Value {
			continue
		}
		over := float64(want - a.Value)
		if n.limitName == "" || over < n.over {
			n.limit = reason.Reason{Code: reason.LimitReached, Where: a.Name, Have: a.Value, Want: want}
			n.limitName, n.over = m.Type.Name, over
		}
	}
}

func (n *nearest) reason(code reason.Code) reason.Reason {
	switch code {
	case reason.InsufficientRoom:
		return n.room
	case reason.LimitReached:
		return n.limit
	}
	return reason.Reason{Code: code}
}

func (n *nearest) name(code reason.Code) string {
	switch code {
	case reason.InsufficientRoom:
		return n.roomName
	case reason.LimitReached:
		return n.limitName
	}
	return ""
}
