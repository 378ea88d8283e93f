package advice

import (
	"math/bits"
	"slices"
	"strconv"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Request is what one pod asks of nodes, and what the packing met when every rule for a
// single pod could be met.
type Request struct {
	Variant feasible.Variant
	Need    []int64
	Ports   []model.HostPort
	Hint    reason.Reason
}

// Pools are what can be bought where, and what limits leave.
type Pools struct {
	Snapshot *snapshot.Snapshot
	Space    *feasible.Space
	Left     [][]model.Amount
}

// Verdict asks the rules of one pool one after the other and counts the offerings
// that are left after each. Of several alternatives for the node, the one that gets
// furthest speaks. It returns that alternative's number, or -1.
func (d *Pools) Verdict(p snapshot.PoolIndex, rq *Request) (reason.PoolVerdict, int) {
	pool := &d.Snapshot.Pools[p]
	if !pool.MayLaunch() {
		code := reason.PoolNotReady
		if pool.Unready.Code == reason.PoolLimitsAwaited {
			code = pool.Unready.Code
		}
		return reason.PoolVerdict{Pool: pool.Name, Reason: reason.Reason{Code: code}, Unready: pool.Unready, Suits: d.suits(p, rq)}, -1
	}
	best, at := reason.PoolVerdict{}, -1
	for i := range rq.Variant.Alternatives {
		if f := d.funnel(p, &rq.Variant.Alternatives[i], rq); i == 0 || len(f.Funnel) > len(best.Funnel) {
			best, at = f, i
		}
	}
	return best, at
}

// suits reports whether a pool lets a pod in, by its taints and labels alone.
func (d *Pools) suits(p snapshot.PoolIndex, rq *Request) bool {
	pool := &d.Snapshot.Pools[p]
	return slices.ContainsFunc(rq.Variant.Alternatives, func(a feasible.Asker) bool {
		_, kept := model.Untolerated(pool.Taints, a.Tolerations, a.Strict)
		_, bad := pool.Requirements.FindMismatch(a.Require, d.Snapshot.Settings.WellKnown)
		return !kept && !bad && !(a.Expendable && pool.Rules() != nil)
	})
}

func (d *Pools) funnel(p snapshot.PoolIndex, a *feasible.Asker, rq *Request) reason.PoolVerdict {
	pool := &d.Snapshot.Pools[p]
	first, end := d.Space.PoolMachines(p)
	f := reason.PoolVerdict{Pool: pool.Name, Listed: d.listed(first, end)}
	pass := func(code reason.Code, left int) { f.Funnel = append(f.Funnel, reason.Step{Code: code, Left: left}) }
	if a.Expendable && pool.Rules() != nil {
		pass(reason.PodExpendable, 0)
		f.Reason = reason.Reason{Code: reason.PodExpendable, Want: int64(pool.Rules().Drain.ExpendableBelow)}
		return f
	}
	if taint, kept := model.Untolerated(pool.Taints, a.Tolerations, a.Strict); kept {
		pass(reason.TaintNotTolerated, 0)
		f.Reason = reason.Reason{Code: reason.TaintNotTolerated, Where: taint.String()}
		return f
	}
	pass(reason.TaintNotTolerated, f.Listed)
	if m, bad := pool.Requirements.FindMismatch(a.Require, d.Snapshot.Settings.WellKnown); bad {
		pass(reason.LabelsIncompatible, 0)
		f.Reason = reason.Reason{Code: reason.LabelsIncompatible, Where: m.Key(), Detail: m.String()}
		return f
	}
	pass(reason.LabelsIncompatible, f.Listed)
	d.countOfferings(&f, p, a, rq)
	if f.Reason.Code == reason.None {
		f.Reason = rq.Hint
	}
	return f
}

func (d *Pools) listed(first, end int) int {
	n := 0
	for m := first; m < end; m++ {
		n += d.Space.Machines[m].Listed.Count()
	}
	return n
}

// countOfferings counts how many of the pool's offerings pass each of the rules: for types, slots, availability,
// size, ports, variety and limits.
func (d *Pools) countOfferings(f *reason.PoolVerdict, p snapshot.PoolIndex, a *feasible.Asker, rq *Request) {
	s := offeringCount{d: d, pool: p, ask: a, request: rq, types: d.Space.TypesFor(p, a.Require), slots: d.Space.SlotsAllowed(a.Require)}
	s.variety = requirement.NewVariety(d.Snapshot.Pools[p].Requirements.Intersect(a.Require))
	first, end := d.Space.PoolMachines(p)
	for m := first; m < end; m++ {
		s.add(&d.Space.Machines[m])
	}
	f.Met = s.met
	for _, step := range s.steps() {
		f.Funnel = append(f.Funnel, step)
		if step.Left == 0 {
			f.Reason = s.reason(step.Code)
			f.Reason.Detail = s.lacking(step.Code)
			f.Nearest, f.Daemons = s.nearest(step.Code)
			s.tellAbsent(f)
			return
		}
	}
}

// offeringCount counts the offerings of one pool for one asker.
type offeringCount struct {
	d       *Pools
	pool    snapshot.PoolIndex
	ask     *feasible.Asker
	request *Request
	types   bitset.Set
	slots   bitset.Set

	typed, offered, available, roomy, ported, bearable int

	met     reason.Met
	variety *requirement.Variety
	size    miss
	limit   miss
	// missing counts offerings that would do and cannot be had now; absent is the type of the cheapest.
	missing     int
	absent      *catalog.Type
	absentSlot  int
	absentPrice model.Money
	port        reason.Reason
}

// miss is the machine that came closest to passing a rule.
type miss struct {
	machine *feasible.Machine
	by      float64
	reason  reason.Reason
}

func (s *offeringCount) add(m *feasible.Machine) {
	fits := feasible.Fits(s.request.Need, m.Room)
	typed := s.types.Has(m.Ordinal)
	offered, available := common(m.Listed, s.slots), common(m.Slots, s.slots)
	s.met.Add(typed && offered > 0, fits, available > 0)
	if !typed {
		return
	}
	if fits {
		s.lacks(m)
	}
	s.typed += m.Listed.Count()
	s.offered += offered
	s.available += available
	if available == 0 {
		return
	}
	if !fits {
		s.tooSmall(m)
		return
	}
	s.roomy += available
	if taken, clash := portClash(s.request.Ports, m.Ports); clash {
		s.port = reason.Reason{Code: reason.HostPortTaken, Where: strconv.Itoa(int(taken.Port))}
		return
	}
	s.ported += available
	s.variety.Add(m.Type.Requirements)
	if pack.LimitsAllow(s.d.Left[s.pool], m.Capacity) {
		s.bearable += available
	} else {
		s.exceeds(m)
	}
}

// lacks counts the offerings of a machine that would do in every other respect, and are out of
// stock. What has no price, and reservations that are used up, are not waited for.
func (s *offeringCount) lacks(m *feasible.Machine) {
	if m.Overdrawn != "" || !pack.LimitsAllow(s.d.Left[s.pool], m.Capacity) {
		return
	}
	if _, clash := portClash(s.request.Ports, m.Ports); clash {
		return
	}
	for slot := range m.Listed.All {
		if !s.slots.Has(slot) || m.Slots.Has(slot) || s.d.Space.Slots[slot].CapacityType == catalog.Reserved || m.Price[slot] <= s.d.Snapshot.Pools[s.pool].NodePrice {
			continue
		}
		if s.missing++; s.absent == nil || m.Price[slot] < s.absentPrice {
			s.absent, s.absentSlot, s.absentPrice = m.Type, slot, m.Price[slot]
		}
	}
}

// tellAbsent writes down what is out of stock.
func (s *offeringCount) tellAbsent(f *reason.PoolVerdict) {
	if s.absent == nil {
		return
	}
	f.Missing, f.Absent, f.AbsentPrice = s.missing, s.absent.Name, s.absentPrice
	slot := s.d.Space.Slots[s.absentSlot]
	for i := range s.absent.Offerings {
		if o := &s.absent.Offerings[i]; o.Zone == slot.Zone && o.CapacityType == slot.CapacityType && o.Outage != nil {
			f.AbsentSince, f.AbsentUntil = o.Outage.Since, o.Outage.Until
			return
		}
	}
}

// common counts what both sets have, without making a third.
func common(a, b bitset.Set) int {
	n := 0
	for w := range min(len(a), len(b)) {
		n += bits.OnesCount64(a[w] & b[w])
	}
	return n
}

func portClash(wanted, taken []model.HostPort) (model.HostPort, bool) {
	for _, w := range wanted {
		for _, t := range taken {
			if w.Conflicts(t) {
				return w, true
			}
		}
	}
	return model.HostPort{}, false
}

// steps are the counts in the order of the rules.
func (s *offeringCount) steps() []reason.Step {
	varied := s.ported
	if !s.variety.Met() && !s.d.Snapshot.Settings.BestEffortMinimum {
		varied = 0
	}
	return []reason.Step{
		{Code: reason.TypeIncompatible, Left: s.typed}, {Code: reason.NoOffering, Left: s.offered},
		{Code: reason.OfferingUnavailable, Left: s.available}, {Code: reason.InsufficientRoom, Left: s.roomy},
		{Code: reason.HostPortTaken, Left: s.ported}, {Code: reason.MinimumNotMet, Left: varied},
		{Code: reason.LimitReached, Left: s.bearable},
	}
}

// tooSmall remembers the machine whose worst shortage, relative to what is wanted, is the
// least.
func (s *offeringCount) tooSmall(m *feasible.Machine) {
	if m.Overdrawn != "" {
		s.overdrawn(m)
		return
	}
	worst, at := 0.0, 0
	for i, want := range s.request.Need {
		if want > m.Room[i] && want > 0 {
			if short := float64(want-m.Room[i]) / float64(want); short > worst {
				worst, at = short, i
			}
		}
	}
	if s.size.machine == nil || worst < s.size.by {
		why := reason.Reason{Code: reason.InsufficientRoom, Where: s.d.Space.Dims[at], Have: m.Room[at], Want: s.request.Need[at]}
		s.size = miss{m, worst, why}
	}
}

// overdrawn remembers a machine that is too small for its daemons alone, as farther away than any machine
// that only lacks room for the pod. Its room is negative.
func (s *offeringCount) overdrawn(m *feasible.Machine) {
	have := m.Allocatable.Get(m.Overdrawn) - m.Daemons.Get(m.Overdrawn)
	by := 1 - float64(have)/float64(max(m.Daemons.Get(m.Overdrawn), 1))
	if s.size.machine == nil || by < s.size.by {
		s.size = miss{m, by, reason.Reason{Code: reason.InsufficientRoom, Where: m.Overdrawn, Have: have}}
	}
}

// exceeds remembers the machine that goes least beyond the pool's limits, relative to them.
func (s *offeringCount) exceeds(m *feasible.Machine) {
	worst, at := 0.0, -1
	left := s.d.Left[s.pool]
	limits := slices.Concat(s.d.Snapshot.Pools[s.pool].Limits, s.d.Snapshot.Settings.Limits)
	for i, a := range left {
		want := pack.Share(m.Capacity, a.Name)
		if want <= a.Value {
			continue
		}
		if over := float64(want-a.Value) / float64(max(limits[i].Value, 1)); at < 0 || over > worst {
			worst, at = over, i
		}
	}
	if s.limit.machine == nil || worst < s.limit.by {
		why := reason.Reason{Code: reason.LimitReached, Where: left[at].Name, Have: left[at].Value, Want: pack.Share(m.Capacity, left[at].Name)}
		if s.d.Snapshot.OfCluster(left, at) {
			why.Code = reason.ClusterLimitReached
		}
		s.limit = miss{m, worst, why}
	}
}

func (s *offeringCount) reason(code reason.Code) reason.Reason {
	switch code {
	case reason.InsufficientRoom:
		return s.size.reason
	case reason.LimitReached:
		return s.limit.reason
	case reason.HostPortTaken:
		return s.port
	case reason.MinimumNotMet:
		short := s.variety.Shortfalls()[0]
		return reason.Reason{Code: code, Where: short.Key, Have: int64(short.Have), Want: int64(short.Want)}
	}
	return reason.Reason{Code: code}
}

// nearest names the machine that came closest, with what daemons take there.
func (s *offeringCount) nearest(code reason.Code) (string, int64) {
	switch code {
	case reason.InsufficientRoom:
		return s.size.machine.Type.Name, s.size.machine.Daemons.Get(s.size.reason.Where)
	case reason.LimitReached, reason.ClusterLimitReached:
		return s.limit.machine.Type.Name, 0
	}
	return "", 0
}
