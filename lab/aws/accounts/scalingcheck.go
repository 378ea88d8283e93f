package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// checkGroup refuses what Auto Scaling refuses, and fills in the zones of the subnets.
func (r *Region) checkGroup(s *GroupSpec) error {
	if err := checkSizes(*s); err != nil {
		return err
	}
	if err := r.checkSource(*s); err != nil {
		return err
	}
	s.complete()
	if err := r.checkPlaces(s); err != nil {
		return err
	}
	return checkWords(*s)
}

func checkSizes(s GroupSpec) error {
	least, most, desired := *s.Min, *s.Max, *s.Desired
	switch {
	case least < 0 || most < 0 || desired < 0:
		return invalid("Sizes of an AutoScalingGroup must not be negative.")
	case least > most:
		return invalid("Max bound, %d, must be greater than or equal to min bound, %d", most, least)
	case desired < least || desired > most:
		return invalid("Desired capacity:%d must be between the specified min size:%d and max size:%d", desired, least, most)
	}
	return nil
}

// checkSource checks that the group launches from exactly one of the three possible sources.
func (r *Region) checkSource(s GroupSpec) error {
	var said int
	for _, is := range []bool{s.Template != nil, s.Mixed != nil, s.Configuration != ""} {
		if is {
			said++
		}
	}
	if said != 1 {
		return invalid("Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter.")
	}
	switch {
	case s.Mixed != nil:
		return r.checkMixed(*s.Mixed)
	case s.Template != nil:
		return r.checkTemplate(*s.Template)
	default:
		_, err := r.Configuration(s.Configuration)
		return err
	}
}

func (r *Region) checkTemplate(t GroupTemplate) error {
	if _, err := r.templateVersion(TemplateRef(t)); err != nil {
		return invalid("You must use a valid fully-formed launch template. %s", messageOf(err))
	}
	return nil
}

func (r *Region) checkMixed(m MixedPolicy) error {
	if m.Template.Spec == nil {
		return invalid("Valid requests must contain a launch template in the mixed instances policy.")
	}
	if err := r.checkTemplate(*m.Template.Spec); err != nil {
		return err
	}
	weighted := 0
	for _, o := range m.Template.Overrides {
		if o.Template != nil {
			if err := r.checkTemplate(*o.Template); err != nil {
				return err
			}
		}
		if o.InstanceType != "" {
			if _, ok := r.Market.Type(o.InstanceType); !ok {
				return invalid("You must use a valid fully-formed launch template. Invalid instance type '%s'", o.InstanceType)
			}
		}
		if o.Weight != "" {
			weighted++
			if n, err := strconv.Atoi(o.Weight); err != nil || n < 1 || n > 999 {
				return invalid("WeightedCapacity %s is not between 1 and 999.", o.Weight)
			}
		}
	}
	if weighted > 0 && weighted < len(m.Template.Overrides) {
		return invalid("If you specify weights, you must specify a weight for every instance type in the overrides.")
	}
	return checkDistribution(m.Distribution)
}

func checkDistribution(d MixedDistribution) error {
	onDemand := []string{"", "prioritized", "lowest-price"}
	spot := []string{"", "lowest-price", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"}
	switch {
	case !slices.Contains(onDemand, d.OnDemandStrategy):
		return invalid("Unsupported On-Demand allocation strategy %s", d.OnDemandStrategy)
	case !slices.Contains(spot, d.SpotStrategy):
		return invalid("Unsupported Spot allocation strategy %s", d.SpotStrategy)
	case d.Base != nil && *d.Base < 0:
		return invalid("OnDemandBaseCapacity must not be negative.")
	case d.Percentage != nil && (*d.Percentage < 0 || *d.Percentage > 100):
		return invalid("OnDemandPercentageAboveBaseCapacity must be between 0 and 100.")
	}
	return nil
}

// complete fills in Auto Scaling's defaults: the default version of a template, and the distribution of a
// mixed policy.
func (s *GroupSpec) complete() {
	version := func(t *GroupTemplate) *GroupTemplate {
		if t == nil {
			return nil
		}
		return &GroupTemplate{t.ID, t.Name, cmp.Or(t.Version, "$Default")}
	}
	s.Template = version(s.Template)
	if s.Mixed == nil {
		return
	}
	mixed := *s.Mixed
	mixed.Template.Spec = version(mixed.Template.Spec)
	d := &mixed.Distribution
	d.OnDemandStrategy, d.SpotStrategy = cmp.Or(d.OnDemandStrategy, "prioritized"), cmp.Or(d.SpotStrategy, "lowest-price")
	none, all := 0, 100
	d.Base, d.Percentage = cmp.Or(d.Base, &none), cmp.Or(d.Percentage, &all)
	s.Mixed = &mixed
}

// checkPlaces finds the subnets' zones, and checks that the zones named in the request match.
func (r *Region) checkPlaces(s *GroupSpec) error {
	if s.Subnets == "" && len(s.Zones) == 0 {
		return invalid("At least one Availability Zone or VPC Subnet is required.")
	}
	var zones []string
	for _, id := range s.subnets() {
		subnet, err := r.Subnet(id)
		if err != nil {
			return invalid("The subnet ID '%s' does not exist", id)
		}
		zones = append(zones, subnet.Zone.Name)
	}
	slices.Sort(zones)
	zones = slices.Compact(zones)
	for _, z := range s.Zones {
		switch {
		case r.ZoneID(z) == "":
			return invalid("Invalid availability zones: [%s]", z)
		case s.Subnets != "" && !slices.Contains(zones, z):
			return invalid("The availability zones of the specified subnets and the Auto Scaling group do not match")
		}
	}
	if s.Subnets != "" {
		s.Zones = zones
	}
	return nil
}

func (s GroupSpec) subnets() (ids []string) {
	for id := range strings.SplitSeq(s.Subnets, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// terminationPolicies lists the policies that a group can have; Lambda functions are not modelled.
var terminationPolicies = []string{
	"Default", "OldestInstance", "NewestInstance", "OldestLaunchTemplate", "OldestLaunchConfiguration", "ClosestToNextInstanceHour", "AllocationStrategy",
}

func checkWords(s GroupSpec) error {
	for _, p := range s.Policies {
		if !slices.Contains(terminationPolicies, p) {
			return invalid("Termination policy %s is not supported.", p)
		}
	}
	switch {
	case s.HealthCheck != "EC2":
		return invalid("The emulator models health checks of type EC2 only, not %s.", s.HealthCheck)
	case s.DesiredType != "" && s.DesiredType != "units":
		return invalid("The emulator models a desired capacity in units only, not in %s.", s.DesiredType)
	case s.Lifetime != nil && *s.Lifetime != 0:
		return invalid("The emulator does not model MaxInstanceLifetime.")
	}
	return nil
}
