package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/lab/aws/wire"
)

// GroupSpec describes an Auto Scaling group. The names are those of Auto Scaling, in requests and in
// answers; nil or empty fields were not given.
type GroupSpec struct {
	Min           *int           `query:"MinSize" xml:"MinSize"`
	Max           *int           `query:"MaxSize" xml:"MaxSize"`
	Desired       *int           `query:"DesiredCapacity" xml:"DesiredCapacity"`
	DesiredType   string         `query:"DesiredCapacityType" xml:"DesiredCapacityType,omitempty"`
	Cooldown      *int           `query:"DefaultCooldown" xml:"DefaultCooldown"`
	Zones         []string       `query:"AvailabilityZones" xml:"AvailabilityZones>member"`
	Subnets       string         `query:"VPCZoneIdentifier" xml:"VPCZoneIdentifier,omitempty"` // separated by commas
	Template      *GroupTemplate `query:"LaunchTemplate" xml:"LaunchTemplate"`
	Configuration string         `query:"LaunchConfigurationName" xml:"LaunchConfigurationName,omitempty"`
	Mixed         *MixedPolicy   `query:"MixedInstancesPolicy" xml:"MixedInstancesPolicy"`
	HealthCheck   string         `query:"HealthCheckType" xml:"HealthCheckType,omitempty"`
	Grace         *int           `query:"HealthCheckGracePeriod" xml:"HealthCheckGracePeriod"`
	Protect       *bool          `query:"NewInstancesProtectedFromScaleIn" xml:"NewInstancesProtectedFromScaleIn"`
	Policies      []string       `query:"TerminationPolicies" xml:"TerminationPolicies>member"`
	Rebalance     *bool          `query:"CapacityRebalance" xml:"CapacityRebalance"`
	Lifetime      *int           `query:"MaxInstanceLifetime" xml:"MaxInstanceLifetime"`
	Warmup        *int           `query:"DefaultInstanceWarmup" xml:"DefaultInstanceWarmup"`
	Context       string         `xml:"Context,omitempty"`
	ServiceRole   string         `query:"ServiceLinkedRoleARN" xml:"ServiceLinkedRoleARN,omitempty"`
	Distribution  *struct {
		Strategy string `query:"CapacityDistributionStrategy" xml:"CapacityDistributionStrategy"`
	} `query:"AvailabilityZoneDistribution" xml:"AvailabilityZoneDistribution"`
}

// GroupTemplate names the launch template of a group.
type GroupTemplate struct {
	ID      string `query:"LaunchTemplateId" xml:"LaunchTemplateId,omitempty"`
	Name    string `query:"LaunchTemplateName" xml:"LaunchTemplateName,omitempty"`
	Version string `xml:"Version,omitempty"`
}

// MixedPolicy lets a group launch several types, on demand and spot.
type MixedPolicy struct {
	Template struct {
		Spec      *GroupTemplate  `query:"LaunchTemplateSpecification" xml:"LaunchTemplateSpecification"`
		Overrides []GroupOverride `xml:"Overrides>member"`
	} `query:"LaunchTemplate" xml:"LaunchTemplate"`
	Distribution MixedDistribution `query:"InstancesDistribution" xml:"InstancesDistribution"`
}

// GroupOverride is a type that a mixed group may launch, with its weight.
type GroupOverride struct {
	InstanceType string         `xml:"InstanceType,omitempty"`
	Weight       string         `query:"WeightedCapacity" xml:"WeightedCapacity,omitempty"`
	Template     *GroupTemplate `query:"LaunchTemplateSpecification" xml:"LaunchTemplateSpecification"`
}

// MixedDistribution says how much of a mixed group is on demand, and how to choose between its types.
type MixedDistribution struct {
	OnDemandStrategy string `query:"OnDemandAllocationStrategy" xml:"OnDemandAllocationStrategy"`
	Base             *int   `query:"OnDemandBaseCapacity" xml:"OnDemandBaseCapacity"`
	Percentage       *int   `query:"OnDemandPercentageAboveBaseCapacity" xml:"OnDemandPercentageAboveBaseCapacity"`
	SpotStrategy     string `query:"SpotAllocationStrategy" xml:"SpotAllocationStrategy"`
	SpotPools        *int   `query:"SpotInstancePools" xml:"SpotInstancePools"`
	SpotMaxPrice     string `xml:"SpotMaxPrice,omitempty"`
}

// GroupTag is a tag of a group. If it says so, the group's instances get it as well.
type GroupTag struct {
	wire.Tag
	AtLaunch bool
}

// ScalingGroup is an Auto Scaling group. It acts on its own: see tend.
type ScalingGroup struct {
	Name       string
	Spec       GroupSpec // complete, with all defaults
	Tags       []GroupTag
	Created    time.Time
	Status     string // "Delete in progress", or empty
	Members    []*Member
	Activities []*Activity // the newest first
	Suspended  []SuspendedProcess
	Hooks      []Hook     // in the order of names
	Refreshes  []*Refresh // the newest first
	Warm       *WarmPool
	Prepared   []*Member // of the warm pool

	change  string    // the reason for the desired capacity, until the history has it
	retry   time.Time // no launch is tried before: the last one failed
	cooling time.Time // the end of its cooldown
}

// SuspendedProcess is a process that a group does not run for now.
type SuspendedProcess struct {
	Process string `xml:"ProcessName"`
	Reason  string `xml:"SuspensionReason"`
}

// Processes of a group that can be suspended.
const (
	processLaunch     = "Launch"
	processTerminate  = "Terminate"
	processHealth     = "HealthCheck"
	processReplace    = "ReplaceUnhealthy"
	processRebalance  = "AZRebalance"
	processAlarm      = "AlarmNotification"
	processScheduled  = "ScheduledActions"
	processBalancer   = "AddToLoadBalancer"
	processRefresh    = "InstanceRefresh"
	deleteInProgress  = "Delete in progress"
	balancedOnly      = "balanced-only"
	scalingNameLength = 255
)

var processes = []string{
	processLaunch, processTerminate, processHealth, processReplace, processRebalance, processAlarm, processScheduled, processBalancer, processRefresh,
}

func (g *ScalingGroup) suspends(process string) bool {
	return slices.ContainsFunc(g.Suspended, func(s SuspendedProcess) bool { return s.Process == process })
}

// ScalingGroups returns all groups, or the named ones, sorted by name.
func (r *Region) ScalingGroups(names []string) []*ScalingGroup {
	var found []*ScalingGroup
	for _, g := range r.scaling {
		if len(names) == 0 || slices.Contains(names, g.Name) {
			found = append(found, g)
		}
	}
	slices.SortFunc(found, func(a, b *ScalingGroup) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// ScalingGroup finds a group by its name.
func (r *Region) ScalingGroup(name string) (*ScalingGroup, error) {
	for _, g := range r.scaling {
		if g.Name == name {
			return g, nil
		}
	}
	return nil, invalid("AutoScalingGroup name not found - AutoScalingGroup %s not found", name)
}

// invalid returns Auto Scaling's error for a bad request.
func invalid(format string, args ...any) error {
	return wire.Errorf("ValidationError", format, args...)
}

// GroupARN names a group.
func (r *Region) GroupARN(g *ScalingGroup) string {
	id := r.world.config.Seed.UUID("scaling group", r.Account.ID, r.Name, g.Name, strconv.FormatInt(g.Created.UnixNano(), 10))
	return r.ARN("autoscaling", "autoScalingGroup:"+id+":autoScalingGroupName/"+g.Name)
}

// CreateScalingGroup makes a group, which begins to act.
func (r *Region) CreateScalingGroup(name string, s GroupSpec, tags []GroupTag) (*ScalingGroup, error) {
	if name == "" || len(name) > scalingNameLength || strings.Contains(name, ":") {
		return nil, invalid("1 validation error detected: Value '%s' at 'autoScalingGroupName' failed to satisfy constraint", name)
	}
	if _, err := r.ScalingGroup(name); err == nil {
		return nil, wire.Errorf("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists", name)
	}
	if s.Min == nil || s.Max == nil {
		return nil, invalid("MinSize and MaxSize are required.")
	}
	s = usualGroup().over(s)
	if s.Desired == nil {
		s.Desired = s.Min
	}
	if s.ServiceRole == "" {
		s.ServiceRole = "arn:aws:iam::" + r.Account.ID + ":role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
	}
	if err := r.checkGroup(&s); err != nil {
		return nil, err
	}
	g := &ScalingGroup{Name: name, Spec: s, Created: r.Now()}
	if err := g.putTags(tags); err != nil {
		return nil, err
	}
	r.scaling = append(r.scaling, g)
	g.change = r.at("a user request created an AutoScalingGroup changing the desired capacity from 0 to %d.", *s.Desired)
	r.attend(g)
	return g, nil
}

// usualGroup returns the defaults of a group.
func usualGroup() GroupSpec {
	n := func(n int) *int { return &n }
	no := new(bool)
	return GroupSpec{Cooldown: n(300), HealthCheck: "EC2", Grace: n(0), Protect: no, Policies: []string{"Default"}, Rebalance: no}
}

// UpdateScalingGroup changes the fields that the specification sets.
func (r *Region) UpdateScalingGroup(name string, s GroupSpec) error {
	g, err := r.ScalingGroup(name)
	if err != nil {
		return err
	}
	if g.Status != "" {
		return invalid("AutoScalingGroup %s is pending delete", name)
	}
	next := g.Spec
	if s.Template != nil || s.Mixed != nil || s.Configuration != "" {
		next.Template, next.Mixed, next.Configuration = nil, nil, ""
	}
	if s.Subnets != "" {
		next.Zones = nil
	}
	next = next.over(s)
	if s.Desired == nil { // AWS moves it into the new bounds
		within := max(*next.Min, min(*next.Max, *next.Desired))
		next.Desired = &within
	}
	if err := r.checkGroup(&next); err != nil {
		return err
	}
	if from, to := *g.Spec.Desired, *next.Desired; from != to {
		g.change = r.at("a user request update of AutoScalingGroup constraints to min: %d, max: %d, desired: %d changing the desired capacity from %d to %d.",
			*next.Min, *next.Max, to, from, to)
	}
	g.Spec, g.retry = next, time.Time{}
	r.attend(g)
	return nil
}

// SetDesired changes the desired capacity of a group.
func (r *Region) SetDesired(name string, desired int, honorCooldown bool) error {
	g, err := r.ScalingGroup(name)
	switch {
	case err != nil:
		return err
	case g.Status != "":
		return invalid("AutoScalingGroup %s is pending delete", name)
	case desired > *g.Spec.Max:
		return invalid("New SetDesiredCapacity value %d is above max value %d for the AutoScalingGroup.", desired, *g.Spec.Max)
	case desired < *g.Spec.Min:
		return invalid("New SetDesiredCapacity value %d is below min value %d for the AutoScalingGroup.", desired, *g.Spec.Min)
	case honorCooldown && g.cooling.After(r.Now()):
		return wire.Errorf("ScalingActivityInProgress", "Scaling activity is in progress and blocks this action: the cooldown of %s lasts until %s", name, stamp(g.cooling))
	}
	if from := *g.Spec.Desired; from != desired {
		g.change = r.at("a user request explicitly set group desired capacity changing the desired capacity from %d to %d.", from, desired)
	}
	g.Spec.Desired, g.retry = &desired, time.Time{}
	r.attend(g)
	return nil
}

// DeleteScalingGroup removes a group without instances, or, with force, any group after its instances
// have ended.
func (r *Region) DeleteScalingGroup(name string, force bool) error {
	g, err := r.ScalingGroup(name)
	switch {
	case err != nil:
		return err
	case len(g.Members)+len(g.Prepared) > 0 && !force:
		return wire.Errorf("ResourceInUse", "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still in the group.")
	}
	zero := 0
	g.Status, g.Spec.Min, g.Spec.Desired = deleteInProgress, &zero, &zero
	for _, m := range slices.Clone(g.Prepared) {
		r.discard(m)
	}
	for _, m := range slices.Clone(g.Members) {
		r.dismiss(g, m, r.at("instance %s was taken out of service in response to a user request to delete the group.", m.Instance.ID))
	}
	r.dissolve(g)
	return nil
}

// dissolve removes a group that is being deleted once it has no instances.
func (r *Region) dissolve(g *ScalingGroup) {
	if g.Status == deleteInProgress && len(g.Members) == 0 {
		r.scaling = slices.DeleteFunc(r.scaling, func(other *ScalingGroup) bool { return other == g })
		r.formerScaling = append(r.formerScaling, g)
		r.dissolveNodeGroups()
	}
}

// SuspendProcesses stops some processes of a group, or all of them.
func (r *Region) SuspendProcesses(name string, which []string) error {
	return r.eachProcess(name, which, func(g *ScalingGroup, process string) {
		if !g.suspends(process) {
			g.Suspended = append(g.Suspended, SuspendedProcess{process, "User suspended at " + stamp(r.Now())})
		}
	})
}

// ResumeProcesses resumes suspended processes of a group.
func (r *Region) ResumeProcesses(name string, which []string) error {
	return r.eachProcess(name, which, func(g *ScalingGroup, process string) {
		g.Suspended = slices.DeleteFunc(g.Suspended, func(s SuspendedProcess) bool { return s.Process == process })
	})
}

func (r *Region) eachProcess(name string, which []string, do func(*ScalingGroup, string)) error {
	g, err := r.ScalingGroup(name)
	if err != nil {
		return err
	}
	for _, process := range which {
		if !slices.Contains(processes, process) {
			return invalid("Invalid scaling process: %s. Valid scaling processes are %s", process, strings.Join(processes, ", "))
		}
	}
	if len(which) == 0 {
		which = processes
	}
	for _, process := range which {
		do(g, process)
	}
	g.retry = time.Time{}
	r.attend(g)
	return nil
}

// putTags puts tags on the group, over those with the same keys.
func (g *ScalingGroup) putTags(tags []GroupTag) error {
	list := slices.Clone(g.Tags)
	for _, t := range tags {
		if t.Key == "" {
			return invalid("Tag keys must not be empty.")
		}
		list = append(slices.DeleteFunc(list, func(have GroupTag) bool { return have.Key == t.Key }), t)
	}
	if len(list) > 50 {
		return wire.Errorf("LimitExceeded", "The maximum number of tags for the group %s, 50, has been reached.", g.Name)
	}
	slices.SortFunc(list, func(a, b GroupTag) int { return cmp.Compare(a.Key, b.Key) })
	g.Tags = list
	return nil
}

// PutGroupTags puts tags on a group. Existing instances stay as they are.
func (r *Region) PutGroupTags(name string, tags []GroupTag) error {
	g, err := r.ScalingGroup(name)
	if err != nil {
		return err
	}
	return g.putTags(tags)
}

// RemoveGroupTags removes tags of a group; a tag given with a value goes only if it has that value.
func (r *Region) RemoveGroupTags(name string, tags []wire.Tag) error {
	g, err := r.ScalingGroup(name)
	if err != nil {
		return err
	}
	g.Tags = slices.DeleteFunc(g.Tags, func(have GroupTag) bool { return tagged(tags, have.Tag) })
	return nil
}

// PlainTags returns the tags in the form that filters use.
func (g *ScalingGroup) PlainTags() (tags []wire.Tag) {
	for _, t := range g.Tags {
		tags = append(tags, t.Tag)
	}
	return tags
}

// Told returns the specification as descriptions have it: launch templates with identifier and name.
func (r *Region) Told(s GroupSpec) GroupSpec {
	s.Template = r.toldTemplate(s.Template)
	if s.Mixed == nil {
		return s
	}
	mixed := *s.Mixed
	mixed.Template.Spec = r.toldTemplate(mixed.Template.Spec)
	mixed.Template.Overrides = slices.Clone(mixed.Template.Overrides)
	for n, o := range mixed.Template.Overrides {
		mixed.Template.Overrides[n].Template = r.toldTemplate(o.Template)
	}
	s.Mixed = &mixed
	return s
}

func (r *Region) toldTemplate(t *GroupTemplate) *GroupTemplate {
	if t == nil {
		return nil
	}
	found, err := r.Template(TemplateRef(*t))
	if err != nil {
		return t // it was deleted: only what the request said is known
	}
	return &GroupTemplate{found.ID, found.Name, t.Version}
}
