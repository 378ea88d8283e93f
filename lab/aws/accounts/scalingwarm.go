package accounts

import (
	"cmp"
	"slices"
)

// WarmPool holds instances that a group has launched in advance, and takes before it launches others.
type WarmPool struct {
	Min      int    `query:"MinSize" xml:"MinSize"`
	Prepared *int   `query:"MaxGroupPreparedCapacity" xml:"MaxGroupPreparedCapacity"`
	State    string `query:"PoolState" xml:"PoolState"`
}

// States of members of a warm pool.
const (
	warmPending = "Warmed:Pending"
	warmStopped = "Warmed:Stopped"
	warmRunning = "Warmed:Running"
)

// PutWarmPool gives a group a warm pool, or changes the existing one.
func (r *Region) PutWarmPool(group string, p WarmPool) error {
	g, err := r.ScalingGroup(group)
	if err != nil {
		return err
	}
	p.State = cmp.Or(p.State, "Stopped")
	switch {
	case p.State != "Stopped" && p.State != "Running":
		return invalid("The emulator does not model the warm pool state %s.", p.State)
	case g.Spec.Mixed != nil:
		return invalid("You can't add a warm pool to an Auto Scaling group that has a mixed instances policy.")
	case p.Min < 0:
		return invalid("MinSize of a warm pool must not be negative.")
	}
	g.Warm = &p
	r.attend(g)
	return nil
}

// DeleteWarmPool ends the instances of a warm pool.
func (r *Region) DeleteWarmPool(group string) error {
	g, err := r.ScalingGroup(group)
	switch {
	case err != nil:
		return err
	case g.Warm == nil:
		return invalid("No warm pool found for Auto Scaling group %s", group)
	}
	g.Warm = nil
	r.attend(g)
	return nil
}

// prepare keeps the warm pool at its size: the group's prepared capacity, by default its maximum, less
// the group's instances.
func (r *Region) prepare(g *ScalingGroup) {
	want := 0
	if g.Warm != nil {
		prepared := *g.Spec.Max
		if p := g.Warm.Prepared; p != nil && *p >= 0 {
			prepared = *p
		}
		want = max(g.Warm.Min, prepared-*g.Spec.Desired)
	}
	for len(g.Prepared) > want && !g.suspends(processTerminate) {
		m := g.Prepared[len(g.Prepared)-1]
		r.discard(m)
	}
	for len(g.Prepared) < want && !g.suspends(processLaunch) && !g.retry.After(r.Now()) {
		cause := r.at("an instance was started in response to a difference between desired and actual capacity of the warm pool.")
		m := r.launchMember(g, r.emptiest(g, g.Spec.Zones), cause)
		if m == nil {
			r.tryAgain(g, r.world.config.Pace.Relaunch)
			return
		}
		m.State, m.warm = warmPending, true
		g.Members = slices.DeleteFunc(g.Members, func(other *Member) bool { return other == m })
		g.Prepared = append(g.Prepared, m)
	}
}

// discard ends an instance of a warm pool.
func (r *Region) discard(m *Member) *Activity {
	g := m.Group
	g.Prepared = slices.DeleteFunc(g.Prepared, func(other *Member) bool { return other == m })
	m.warm = false
	g.Members = append(g.Members, m)
	return r.dismiss(g, m, r.at("an instance was taken out of the warm pool."))
}

// warmUp keeps the state of a member of a warm pool in step with its instance's.
func (r *Region) warmUp(m *Member) {
	switch m.Instance.State {
	case Running:
		if m.Group.Warm != nil && m.Group.Warm.State == "Stopped" {
			r.stop(m.Instance)
			return
		}
		m.State = warmRunning
	case Stopped:
		m.State = warmStopped
	case ShuttingDown, Terminated:
		r.discard(m)
		return
	default:
		return
	}
	r.conclude(m.Group, m.beginning, activitySuccessful, "")
	r.attend(m.Group)
}

// takeWarm moves a ready instance from the warm pool into the group, and reports whether there was one.
func (r *Region) takeWarm(g *ScalingGroup, cause string) bool {
	at := slices.IndexFunc(g.Prepared, func(m *Member) bool { return m.State == warmStopped || m.State == warmRunning })
	if at < 0 {
		return false
	}
	m := g.Prepared[at]
	g.Prepared = slices.Delete(slices.Clone(g.Prepared), at, at+1)
	g.Members = append(g.Members, m)
	m.warm, m.State = false, memberPending
	m.beginning = r.note(g, Activity{
		Description: "Launching a new EC2 instance from warm pool: " + m.Instance.ID, Cause: cause, Details: detailsOf(m.Instance.Subnet), Status: activityBegun, Progress: 30,
	})
	if m.Instance.State == Stopped {
		r.begin(m.Instance)
		return true
	}
	r.boot(m.Instance)
	r.followMember(m)
	return true
}
