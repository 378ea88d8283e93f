package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// attend makes a group look after itself in a moment.
func (r *Region) attend(g *ScalingGroup) {
	r.world.after(r.world.config.Pace.Scaling, func() { r.tend(g) })
}

// tend makes a group look after itself once: it replaces unhealthy instances, and grows or shrinks to the
// desired capacity. It does nothing when nothing is to be done, so it may be called at any time.
func (r *Region) tend(g *ScalingGroup) {
	if g.Status != "" {
		return
	}
	r.checkHealth(g)
	r.replaceUnhealthy(g)
	missing := *g.Spec.Desired - g.capacity()
	switch {
	case missing > 0:
		r.grow(g)
	case missing < 0:
		r.shrink(g)
	default:
		g.change = ""
		r.rebalance(g)
	}
	r.proceed(g)
	r.prepare(g)
}

// checkHealth checks instances as EC2's health checks do: they run, and their status checks pass.
func (r *Region) checkHealth(g *ScalingGroup) {
	if g.suspends(processHealth) {
		return
	}
	for _, m := range g.Members {
		s := m.Instance.State
		if !m.leaving() && (s != Pending && s != Running || !m.Instance.Impaired.IsZero()) {
			m.Unhealthy = true
		}
	}
}

func (r *Region) replaceUnhealthy(g *ScalingGroup) {
	if g.suspends(processReplace) || g.suspends(processTerminate) {
		return
	}
	for _, m := range slices.Clone(g.Members) {
		if !m.Unhealthy || m.leaving() {
			continue
		}
		why := "an instance was taken out of service in response to a user health-check."
		switch {
		case m.Instance.State != Running && m.Instance.State != Pending:
			why = "an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped."
		case !m.Instance.Impaired.IsZero():
			why = "an instance was taken out of service in response to an EC2 instance status checks failure."
		}
		r.dismiss(g, m, r.at("%s", why))
	}
}

// grow launches until the desired capacity is met. It does not retry a zone in this pass after a launch
// failed there; when no zone is left, the group waits and tries again.
func (r *Region) grow(g *ScalingGroup) {
	if g.suspends(processLaunch) || g.retry.After(r.Now()) {
		return
	}
	have, want := g.capacity(), *g.Spec.Desired
	cause := r.cause(g, r.at("an instance was started in response to a difference between desired and actual capacity, increasing the capacity from %d to %d.", have, want))
	open := slices.Clone(g.Spec.Zones)
	for g.capacity() < want && len(open) > 0 {
		if r.takeWarm(g, cause) {
			continue
		}
		zone := r.emptiest(g, open)
		if m := r.launchMember(g, zone, cause); m != nil {
			continue
		}
		open = slices.DeleteFunc(open, func(z string) bool { return z == zone })
		if g.onlyBalanced() {
			open = nil
		}
	}
	if g.capacity() < want {
		r.tryAgain(g, r.world.config.Pace.Relaunch)
	}
	g.change = ""
}

func (g *ScalingGroup) onlyBalanced() bool {
	return g.Spec.Distribution != nil && g.Spec.Distribution.Strategy == balancedOnly
}

// tryAgain makes the group launch again after a pause.
func (r *Region) tryAgain(g *ScalingGroup, pause time.Duration) {
	g.retry = r.Now().Add(pause)
	r.world.after(pause, func() { r.tend(g) })
}

// cause returns the reason for an action in the history's words: what changed the group's size, if that
// is new, and what follows from it.
func (r *Region) cause(g *ScalingGroup, then string) string {
	if g.change == "" {
		return then
	}
	return g.change + "  " + then
}

// zoneCounts counts, by zone, the members that fill desired capacity.
func (g *ScalingGroup) zoneCounts() map[string]int {
	counts := map[string]int{}
	for _, m := range g.Members {
		if !m.leaving() {
			counts[m.Instance.Subnet.Zone.Name] += max(m.Weight, 1)
		}
	}
	return counts
}

// emptiest returns the zone with the fewest members; among several, one by chance.
func (r *Region) emptiest(g *ScalingGroup, zones []string) string {
	counts := g.zoneCounts()
	dice := func(zone string) float64 {
		return r.world.config.Seed.Share("scaling zone", g.Name, zone, strconv.Itoa(counts[zone]))
	}
	return slices.MinFunc(zones, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(dice(a), dice(b)), cmp.Compare(a, b))
	})
}

// shrink ends members until no more than the desired capacity is left. With weights it stops before the
// group has too little.
func (r *Region) shrink(g *ScalingGroup) {
	if g.suspends(processTerminate) {
		return
	}
	have, want := g.capacity(), *g.Spec.Desired
	for g.capacity() > want {
		m := g.victim()
		cause := r.cause(g, r.at("an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from %d to %d.", have, want))
		switch {
		case m == nil:
			r.nothingToEnd(g, cause)
			return
		case g.capacity()-m.counts() < want:
			return
		}
		cause += "  " + r.at("instance %s was selected for termination.", m.Instance.ID)
		r.dismiss(g, m, cause)
	}
	g.change = ""
}

// nothingToEnd notes, once for each change, that protection keeps the group too large.
func (r *Region) nothingToEnd(g *ScalingGroup, cause string) {
	if g.change == "" {
		return
	}
	a := r.note(g, Activity{Description: "Terminating EC2 instance", Cause: cause, Details: "{}"})
	r.conclude(g, a, activityFailed, "Could not scale to desired capacity because all remaining instances are protected from scale in.")
	g.change = ""
}

// victim returns the member that scale-in ends next: in the fullest zone the first by the group's
// policies.
func (g *ScalingGroup) victim() *Member {
	var able []*Member
	for _, m := range g.Members {
		if m.counts() > 0 && !m.Protected {
			able = append(able, m)
		}
	}
	if len(able) == 0 {
		return nil
	}
	counts := g.zoneCounts()
	return slices.MinFunc(able, func(a, b *Member) int {
		zone := cmp.Compare(counts[b.Instance.Subnet.Zone.Name], counts[a.Instance.Subnet.Zone.Name])
		return cmp.Or(zone, g.byPolicy(a, b), a.Instance.Launched.Compare(b.Instance.Launched), cmp.Compare(a.Instance.Number, b.Instance.Number))
	})
}

// byPolicy says which of two members goes first.
func (g *ScalingGroup) byPolicy(a, b *Member) int {
	age := a.Instance.Launched.Compare(b.Instance.Launched)
	for _, p := range g.Spec.Policies {
		var first int
		switch p {
		case "OldestInstance":
			first = age
		case "NewestInstance":
			first = -age
		case "Default", "OldestLaunchTemplate", "OldestLaunchConfiguration":
			first = cmp.Compare(a.version(), b.version())
		}
		if first != 0 {
			return first
		}
	}
	return 0
}

// version returns the number of the template's version that the member was launched from.
func (m *Member) version() int {
	if m.Template == nil {
		return 0
	}
	n, _ := strconv.Atoi(m.Template.Version) // the group wrote the number
	return n
}

// rebalance launches in the emptiest zone when another zone has two more members. When the instance is in
// service, the group has one too many, and ends one in the fullest zone.
func (r *Region) rebalance(g *ScalingGroup) {
	if g.refresh() != nil || g.suspends(processRebalance) || g.suspends(processLaunch) || g.suspends(processTerminate) || g.retry.After(r.Now()) {
		return
	}
	for _, m := range g.Members {
		if m.State != memberInService {
			return
		}
	}
	counts := g.zoneCounts()
	low := r.emptiest(g, g.Spec.Zones)
	high := slices.MaxFunc(g.Spec.Zones, func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	if counts[high]-counts[low] < 2 || !g.endable(high) {
		return
	}
	cause := r.at("availability zones %s %s had %d %d instances respectively. An instance was launched to aid in balancing the group's zones.",
		high, low, counts[high], counts[low])
	m := r.launchMember(g, low, cause)
	if m == nil {
		r.tryAgain(g, 5*r.world.config.Pace.Relaunch)
		return
	}
	m.extra = true
}

// endable reports whether scale-in may end a member in the zone.
func (g *ScalingGroup) endable(zone string) bool {
	return slices.ContainsFunc(g.Members, func(m *Member) bool { return m.Instance.Subnet.Zone.Name == zone && !m.Protected })
}
