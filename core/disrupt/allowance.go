package disrupt

import (
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// pool is what the budgets of a pool leave.
type pool struct {
	name    string
	allowed map[plan.Reason]int // at a time
	// disrupting nodes count for every reason: those that are unwell or leaving, and those
	// that this plan gives up.
	disrupting int
	// pace is how many more drifted nodes may go, apart from the budgets; paced says why not more.
	pace  int
	paced *reason.Rollout
	// broken says why the budgets cannot be evaluated.
	broken *reason.BrokenBudgets
	// above is how many more nodes of a group may go until it is as small as it may be.
	above int
}

func (x *search) readPools() {
	for i := range x.s.Pools {
		p := &x.s.Pools[i]
		allowed := p.Consolidation.Allowed
		read := pool{name: p.Name, broken: p.Consolidation.Broken, pace: snapshot.Unlimited, allowed: map[plan.Reason]int{
			plan.Empty: allowed.Empty, plan.Drifted: allowed.Drifted, plan.Underutilized: allowed.Underutilized,
		}}
		if pace := p.Consolidation.Pace; pace != nil {
			read.pace, read.paced = max(pace.More, 0), &pace.Rollout
		}
		if read.above = snapshot.Unlimited; p.Group != nil {
			read.above = int(p.Group.Desired - p.Group.Floor)
		}
		x.pools = append(x.pools, read)
	}
}

// count notes what a node takes of the budgets, and of what a group may still lose: the desired size includes a node that
// leaves until its instance ends.
func (p *pool) count(n *node) {
	if n.Initialized && !n.Life.Terminating && (n.Life.Unready || n.Leaving) {
		p.disrupting++
	}
	if n.Leaving && !n.Life.Terminating {
		p.above--
	}
}

// left is how many more nodes may be disrupted for a reason.
func (p *pool) left(reason plan.Reason) int {
	left := max(min(p.allowed[reason]-p.disrupting, p.above), 0)
	if reason == plan.Drifted {
		left = min(left, p.pace)
	}
	return left
}

// closed is the cause that keeps a node when the pool's budget is used up, its group is as small as it may be, or its
// roll-out has to make progress first.
func (p *pool) closed(why plan.Reason) reason.Cause {
	if group, is := snapshot.NodeGroup(p.name); is && p.above <= 0 {
		return reason.Cause{Code: reason.GroupFloor, Where: group}
	}
	if why == plan.Drifted && p.pace == 0 {
		return reason.Cause{Code: reason.RolloutPace, Rollout: p.paced}
	}
	return reason.Cause{Code: reason.DisruptionBudget, Where: string(why), Budgets: p.broken}
}

// headroom is how many more of a budget's pods may be evicted.
type headroom struct {
	left  int32
	never bool
}

func (x *search) readBudgets() {
	x.covers = make(map[string]*headroom, len(x.s.Budgets))
	for i := range x.s.Budgets {
		b := &x.s.Budgets[i]
		x.covers[b.Key()] = &headroom{left: b.Allowed, never: b.Never}
	}
}

// budgetUse is what some nodes would take of budgets, beside what is taken already.
type budgetUse struct {
	x      *search
	reason plan.Reason
	nodes  map[snapshot.PoolIndex]int // by pool
	covers map[string]int32           // by budget of pods
}

func (x *search) newBudgetUse(reason plan.Reason) *budgetUse {
	return &budgetUse{x, reason, map[snapshot.PoolIndex]int{}, map[string]int32{}}
}

// add enters a node if the budgets allow it; otherwise it returns the budget that does not. A node with
// several pods of one budget needs headroom for one of them only: they are evicted one after the other, as
// the budget lets them. No two nodes share the same headroom.
func (l *budgetUse) add(n *node) (reason.Cause, bool) {
	pool := &l.x.pools[n.pool]
	if l.nodes[n.pool] >= pool.left(l.reason) {
		return pool.closed(l.reason), false
	}
	needs := map[string]int32{}
	for _, p := range n.pods {
		pod := &l.x.s.Pods[p]
		if !pod.Tie.Asked || pod.Terminating || l.reason == plan.Drifted && n.Life.Bounded {
			continue
		}
		for _, key := range l.x.rules.Covering(pod) {
			if l.covers[key] >= l.x.covers[key].left {
				return reason.Cause{Code: reason.PodDisruptionBudget, Where: key}, false
			}
			needs[key]++
		}
	}
	l.nodes[n.pool]++
	for key, count := range needs {
		l.covers[key] += min(count, l.x.covers[key].left-l.covers[key])
	}
	return reason.Cause{}, true
}

// commit takes what the nodes need.
func (l *budgetUse) commit() {
	for pool, n := range l.nodes {
		l.x.pools[pool].disrupting += n
		l.x.pools[pool].above -= n
		if l.reason == plan.Drifted {
			l.x.pools[pool].pace -= n
		}
	}
	for key, n := range l.covers {
		l.x.covers[key].left -= n
	}
}
