package accounts

import (
	"cmp"
	"slices"
	"time"

	"tenon/lab/aws/wire"
)

// Refresh replaces the instances of a group, a few at a time.
type Refresh struct {
	ID, Status, Reason string
	Start, End         time.Time
	Preferences        RefreshPreferences

	left  []*Member // yet to be replaced
	total int
}

// RefreshPreferences say how a refresh proceeds.
type RefreshPreferences struct {
	MinHealthy   *int  `query:"MinHealthyPercentage" xml:"MinHealthyPercentage"`
	Warmup       *int  `query:"InstanceWarmup" xml:"InstanceWarmup"`
	SkipMatching *bool `xml:"SkipMatching"`
}

// States of a refresh.
const (
	refreshGoes      = "InProgress"
	refreshDone      = "Successful"
	refreshCancelled = "Cancelled"
)

// StartRefresh begins to replace all instances of a group.
func (r *Region) StartRefresh(group string, p RefreshPreferences) (*Refresh, error) {
	g, err := r.ScalingGroup(group)
	switch {
	case err != nil:
		return nil, err
	case g.refresh() != nil:
		return nil, wire.Errorf("InstanceRefreshInProgress", "An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.")
	}
	usual := 90
	p.MinHealthy = cmp.Or(p.MinHealthy, &usual)
	f := &Refresh{ID: r.world.config.Seed.UUID("refresh", r.world.identifier("refresh")), Status: refreshGoes, Start: r.Now(), Preferences: p}
	for _, m := range g.Members {
		if !m.leaving() && !(p.SkipMatching != nil && *p.SkipMatching && r.matches(m)) {
			f.left = append(f.left, m)
		}
	}
	f.total = len(f.left)
	g.Refreshes = append([]*Refresh{f}, g.Refreshes...)
	r.attend(g)
	return f, nil
}

// matches reports whether the group would launch the member from the same template today.
func (r *Region) matches(m *Member) bool {
	base, _, err := r.groupSource(m.Group)
	return err == nil && m.Template != nil && m.Template.ID == base.ref.ID && m.Template.Version == base.ref.Version
}

// refresh returns the refresh under way, or nil.
func (g *ScalingGroup) refresh() *Refresh {
	if len(g.Refreshes) > 0 && g.Refreshes[0].Status == refreshGoes {
		return g.Refreshes[0]
	}
	return nil
}

// CancelRefresh ends a refresh where it is. Replaced instances stay.
func (r *Region) CancelRefresh(group string) (*Refresh, error) {
	g, err := r.ScalingGroup(group)
	if err != nil {
		return nil, err
	}
	f := g.refresh()
	if f == nil {
		return nil, wire.Errorf("ActiveInstanceRefreshNotFound", "No in progress or pending Instance Refresh found for Auto Scaling group %s", group)
	}
	f.Status, f.End, f.Reason = refreshCancelled, r.Now(), "Cancelled due to user request."
	return f, nil
}

// proceed ends as many of the remaining instances as leave enough of the group in service.
func (r *Region) proceed(g *ScalingGroup) {
	f := g.refresh()
	if f == nil || g.suspends(processRefresh) || g.suspends(processTerminate) || g.suspends(processLaunch) {
		return
	}
	f.left = slices.DeleteFunc(f.left, func(m *Member) bool { return m.leaving() || !slices.Contains(g.Members, m) })
	serving := 0
	for _, m := range g.Members {
		if m.State == memberInService && !m.Unhealthy {
			serving++
		}
	}
	desired := *g.Spec.Desired
	least := min((desired**f.Preferences.MinHealthy+99)/100, desired-1)
	for len(f.left) > 0 && serving > least {
		m := f.left[0]
		f.left = f.left[1:]
		r.dismiss(g, m, r.at("an instance was taken out of service in response to an instance refresh."))
		r.attend(g)
		serving--
	}
	if len(f.left) == 0 && serving >= desired && len(g.Members) == serving {
		f.Status, f.End = refreshDone, r.Now()
	}
}

// Replaced returns the percentage of the refresh that is done, and how many instances are left.
func (f *Refresh) Replaced() (percentage, left int) {
	if f.total == 0 || f.Status == refreshDone {
		return 100, 0
	}
	return 100 * (f.total - len(f.left)) / f.total, len(f.left)
}
