package accounts

import (
	"fmt"
	"slices"
	"strings"

	"tenon/lab/aws/wire"
)

// The life of an instance in a group, in Auto Scaling's words:
//
//	          hook               hook
//	Pending ─▶ Pending:Wait ─▶ Pending:Proceed ─▶ InService ⇄ Standby
//	   │              │ abandoned                     │
//	   └──────────────┴──▶ Terminating ◀──────────────┘
//	                          │ hook
//	                 Terminating:Wait ─▶ Terminating:Proceed ─▶ gone

// Lifecycle states of a member.
const (
	memberPending     = "Pending"
	memberInService   = "InService"
	memberTerminating = "Terminating"
	waiting           = ":Wait"
)

// Member is an instance of a group.
type Member struct {
	Group     *ScalingGroup
	Instance  *Instance
	State     string
	Unhealthy bool
	Protected bool           // from scale-in
	Weight    int            // 0 if the group has no weights
	Template  *GroupTemplate // with the number of the version
	Config    string         // the launch configuration

	beginning, ending *Activity
	extra             bool // does not count until it is in service: it comes before another goes
	warm              bool // it belongs to the warm pool
	waits             []*hookWait
}

// arriving reports whether the member does not serve yet, leaving whether it is going.
func (m *Member) arriving() bool { return strings.HasPrefix(m.State, memberPending) }
func (m *Member) leaving() bool  { return strings.HasPrefix(m.State, memberTerminating) }

// counts returns how much of the desired capacity the member fills.
func (m *Member) counts() int {
	if m.leaving() || m.extra {
		return 0
	}
	return max(m.Weight, 1)
}

// capacity returns how much of the desired capacity the group has.
func (g *ScalingGroup) capacity() (sum int) {
	for _, m := range g.Members {
		sum += m.counts()
	}
	return sum
}

// Health returns the member's health in the words of Auto Scaling.
func (m *Member) Health() string {
	if m.Unhealthy {
		return "Unhealthy"
	}
	return "Healthy"
}

// GroupMembers returns the instances of all groups, or the named ones.
func (r *Region) GroupMembers(ids []string) []*Member {
	var found []*Member
	for _, g := range r.scaling {
		for _, m := range slices.Concat(g.Members, g.Prepared) {
			if len(ids) == 0 || slices.Contains(ids, m.Instance.ID) {
				found = append(found, m)
			}
		}
	}
	return found
}

// GroupMember finds an instance that belongs to a group.
func (r *Region) GroupMember(id string) (*Member, error) {
	if i, ok := r.byID[id]; ok && i.member != nil {
		return i.member, nil
	}
	return nil, invalid("Instance Id not found - No managed instance found for instance ID %s", id)
}

// followMember keeps a member's state in step with its instance's.
func (r *Region) followMember(m *Member) {
	switch s := m.Instance.State; {
	case m.warm:
		r.warmUp(m)
	case m.leaving() && s == Terminated:
		r.gone(m)
	case m.leaving():
	case m.State == memberPending && s == Running:
		if !r.hold(m, launching, memberPending+waiting, m.beginning) {
			r.serve(m)
		}
	case s != Pending && s != Running:
		r.world.after(r.world.config.Pace.HealthCheck, func() { r.tend(m.Group) })
	}
}

// serve takes a member into service.
func (r *Region) serve(m *Member) {
	m.State, m.extra = memberInService, false
	r.conclude(m.Group, m.beginning, activitySuccessful, "")
	r.attend(m.Group)
}

// dismiss begins a member's end. The cause goes to the history.
func (r *Region) dismiss(g *ScalingGroup, m *Member, cause string) *Activity {
	if m.leaving() {
		return m.ending
	}
	if m.arriving() {
		r.conclude(g, m.beginning, activityCancelled, "The instance was terminated before it was in service.")
	}
	m.State, m.waits = memberTerminating, nil
	m.ending = r.note(g, Activity{
		Description: "Terminating EC2 instance: " + m.Instance.ID, Cause: cause, Details: detailsOf(m.Instance.Subnet), Status: activityInProgress,
	})
	if m.Instance.State != Running || !r.hold(m, terminating, memberTerminating+waiting, m.ending) {
		r.finish(m)
	}
	return m.ending
}

// finish ends the instance of a member that no hook holds any more.
func (r *Region) finish(m *Member) {
	if m.Instance.State == Terminated {
		r.gone(m)
		return
	}
	r.shutDown(m.Instance, "Client.UserInitiatedShutdown: User initiated shutdown")
}

// gone removes a member whose instance has ended from its group.
func (r *Region) gone(m *Member) {
	g := m.Group
	m.Instance.member, m.waits = nil, nil
	r.conclude(g, m.ending, activitySuccessful, "")
	g.Members = slices.DeleteFunc(g.Members, func(other *Member) bool { return other == m })
	r.dissolve(g)
	r.attend(g)
}

func detailsOf(s *Subnet) string {
	return fmt.Sprintf(`{"Subnet ID":%q,"Availability Zone":%q}`, s.ID, s.Zone.Name)
}

// EndMember ends an instance of a group, and with decrement also lowers the desired capacity. It ignores
// protection from scale-in.
func (r *Region) EndMember(id string, decrement bool) (*Activity, error) {
	m, err := r.GroupMember(id)
	if err != nil {
		return nil, err
	}
	g, cause := m.Group, r.at("instance %s was taken out of service in response to a user request.", id)
	switch {
	case m.warm:
		return r.discard(m), nil
	case m.leaving():
		return nil, wire.Errorf("ScalingActivityInProgress", "Scaling activity %s is in progress and blocks this action: instance %s is being terminated", m.ending.ID, id)
	case decrement:
		from := *g.Spec.Desired
		to := from - max(m.Weight, 1)
		if to < *g.Spec.Min {
			return nil, invalid("Currently, desiredSize equals minSize (%d). Terminating instance without replacement will violate group's min size constraint. "+
				"Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.", *g.Spec.Min)
		}
		g.Spec.Desired = &to
		cause = r.at("instance %s was taken out of service in response to a user request, shrinking the capacity from %d to %d.", id, from, to)
	}
	a := r.dismiss(g, m, cause)
	r.attend(g)
	return a, nil
}

// ProtectMembers sets which instances of a group scale-in spares.
func (r *Region) ProtectMembers(name string, ids []string, protected bool) error {
	members, err := r.membersOf(name, ids)
	if err != nil {
		return err
	}
	for _, m := range members {
		m.Protected = protected
	}
	r.attend(members[0].Group)
	return nil
}

// membersOf returns the named instances of a group, or an error if one is missing.
func (r *Region) membersOf(name string, ids []string) ([]*Member, error) {
	g, err := r.ScalingGroup(name)
	if err != nil {
		return nil, err
	}
	var found []*Member
	for _, id := range ids {
		m, err := r.GroupMember(id)
		if err != nil || m.Group != g {
			return nil, invalid("The instance %s is not part of Auto Scaling group %s.", id, name)
		}
		found = append(found, m)
	}
	if len(found) == 0 {
		return nil, invalid("At least one instance is required.")
	}
	return found, nil
}

// SetMemberHealth sets an instance's health as an outside check reports it.
func (r *Region) SetMemberHealth(id, health string) error {
	m, err := r.GroupMember(id)
	switch {
	case err != nil:
		return err
	case health != "Healthy" && health != "Unhealthy":
		return invalid("Health status %s is neither Healthy nor Unhealthy.", health)
	}
	m.Unhealthy = health == "Unhealthy"
	r.attend(m.Group)
	return nil
}
