package aws_test

import (
	"fmt"
	"slices"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/requirement"
)

// interruptible is the kind of reservation that its owner may take back.
const interruptible = types.FleetReservationTypeInterruptibleCapacityReservation

// EC2 User Guide, "Configure your EC2 Fleet to launch instances into Interruptible Capacity
// Reservations": "When you specify multiple launch templates, each targeting a different
// Interruptible Capacity Reservation, EC2 Fleet provisions instances across all matching
// reservations." and "For Interruptible Capacity Reservations, EC2 Fleet does not fall back to
// launching On-Demand Instances or Spot Instances for the remainder".
// EC2 API, ReservedCapacityOptionsRequest: "EC2 Fleet attempts to launch instances into each Capacity
// Reservation type in the order that you specify them before moving on to the next type."
func TestFleetsOfReservedCapacity(t *testing.T) {
	t.Parallel()
	ordinary, onDemand := types.FleetReservationTypeOnDemandCapacityReservation, []types.ReservedCapacityFallbackMarketType{"on-demand"}
	cases := map[string]struct {
		templates []string // those of the fleet
		target    int32
		options   types.ReservedCapacityOptionsRequest
		want      []string // "zone lifecycle" for each instance, sorted
	}{
		"across all reservations that templates name": {[]string{"ira", "irb"}, 3, types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible}},
			[]string{"a interruptible-capacity-reservation", "b interruptible-capacity-reservation", "b interruptible-capacity-reservation"}},
		"no instance elsewhere when they are full": {[]string{"ira"}, 2, types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible}},
			[]string{"a interruptible-capacity-reservation"}},
		"on demand for the rest if asked for": {[]string{"ira"}, 2, types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible},
			ReservedCapacityFallbackOptions: &types.ReservedCapacityFallbackOptionsRequest{MarketTypes: onDemand}}, []string{"a ", "a interruptible-capacity-reservation"}},
		"not into a reservation of another kind": {[]string{"ira"}, 1, types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{ordinary}}, nil},
		"kinds in their order": {[]string{"ira", "ordinary"}, 2, types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{ordinary, interruptible}},
			[]string{"a ", "a interruptible-capacity-reservation"}},
		"the market type is missing": {[]string{"mistaken"}, 1, types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			w := e.discover()
			a := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 1, "criteria": "targeted", "interruptible": true}`)
			b := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2b", "count": 2, "criteria": "targeted", "interruptible": true}`)
			c := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 1, "criteria": "targeted"}`)
			e.template(w, "ira", targeted(a, string(interruptible)))
			e.template(w, "irb", targeted(b, string(interruptible)))
			e.template(w, "ordinary", targeted(c, ""))
			e.template(w, "mistaken", targeted(a, ""))
			out := got(e.ec2().CreateFleet(t.Context(), e.reservedFleet(w, tc.target, &tc.options, tc.templates...)))(t)
			var have []string
			for _, i := range out.Instances {
				for _, id := range i.InstanceIds {
					seen := e.instance(id)
					zone := *seen.Placement.AvailabilityZone
					have = append(have, fmt.Sprintf("%s %s", zone[len(zone)-1:], seen.InstanceLifecycle))
					if seen.InstanceLifecycle != "" && types.InstanceLifecycle(seen.InstanceLifecycle) != i.Lifecycle {
						t.Errorf("fleet calls it %s, the instance is %s", i.Lifecycle, seen.InstanceLifecycle)
					}
				}
			}
			slices.Sort(have)
			if !slices.Equal(have, tc.want) {
				t.Errorf("instances %q, want %q; errors %+v", have, tc.want, out.Errors)
			}
			if len(have) < int(tc.target) && len(out.Errors) == 0 {
				t.Error("the fleet is not whole and has no error")
			}
		})
	}
}

// reservedFleet asks for m5.large in zones a and b from each template.
func (e *emulator) reservedFleet(w world, count int32, o *types.ReservedCapacityOptionsRequest, templates ...string) *ec2.CreateFleetInput {
	in := e.fleet(w, templates[0], "reserved-capacity", count, "m5.large a", "m5.large b")
	in.OnDemandOptions, in.ReservedCapacityOptions = nil, o
	for _, name := range templates[1:] {
		more := in.LaunchTemplateConfigs[0]
		more.LaunchTemplateSpecification = &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &name, Version: sdk.String("$Latest")}
		in.LaunchTemplateConfigs = append(in.LaunchTemplateConfigs, more)
	}
	return in
}

// A fleet may name its reservations itself: ReservedCapacityOptionsRequest, "You can specify
// Capacity Reservation IDs or a Capacity Reservation Resource Group ARN".
func TestFleetsNameReservations(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "plain")
	var reserved []string
	for range 2 {
		reserved = append(reserved, e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 1, "criteria": "targeted", "interruptible": true}`))
	}
	o := &types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible},
		CapacityReservationTarget: &types.FleetCapacityReservationTargetRequest{CapacityReservationIds: reserved}}
	made := ids(got(e.ec2().CreateFleet(t.Context(), e.reservedFleet(w, 3, o, "plain")))(t))
	if len(made) != 2 {
		t.Fatalf("made %v, want one instance in each of two reservations", made)
	}
	for _, id := range reserved {
		if free := *e.reservation(id).AvailableInstanceCount; free != 0 {
			t.Errorf("reservation %s has room for %d", id, free)
		}
	}
}

// ReservedCapacityOptionsRequest: "When you specify ReservedCapacityOptions, you must also set
// DefaultTargetCapacityType to reserved-capacity"; the tutorial: "Using OnDemandTargetCapacity or
// SpotTargetCapacity while also setting reserved-capacity as the DefaultTargetCapacityType is not
// supported." The only strategy is prioritized, the only fallback on-demand.
func TestFleetsOfReservedCapacityRefused(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "plain")
	cases := map[string]struct {
		change func(*ec2.CreateFleetInput)
		want   string
	}{
		"another default":  {func(in *ec2.CreateFleetInput) { in.TargetCapacitySpecification.DefaultTargetCapacityType = "on-demand" }, "InvalidParameterCombination"},
		"a spot part":      {func(in *ec2.CreateFleetInput) { in.TargetCapacitySpecification.SpotTargetCapacity = sdk.Int32(1) }, "InvalidParameterCombination"},
		"another strategy": {func(in *ec2.CreateFleetInput) { in.ReservedCapacityOptions.AllocationStrategy = "lowest-price" }, "InvalidParameterValue"},
		"another fallback": {func(in *ec2.CreateFleetInput) {
			in.ReservedCapacityOptions.ReservedCapacityFallbackOptions = &types.ReservedCapacityFallbackOptionsRequest{MarketTypes: []types.ReservedCapacityFallbackMarketType{"spot"}}
		}, "InvalidParameterValue"},
		"another kind": {func(in *ec2.CreateFleetInput) {
			in.ReservedCapacityOptions.ReservationTypes = []types.FleetReservationType{"spare"}
		}, "InvalidParameterValue"},
		"groups, which are not modelled": {func(in *ec2.CreateFleetInput) {
			in.ReservedCapacityOptions.CapacityReservationTarget = &types.FleetCapacityReservationTargetRequest{CapacityReservationResourceGroupArns: []string{"arn:aws:resource-groups:us-west-2:000000000001:group/a"}}
		}, "UnsupportedOperation"},
	}
	for name, tc := range cases {
		in := e.reservedFleet(w, 1, &types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible}}, "plain")
		tc.change(in)
		if _, err := e.ec2().CreateFleet(t.Context(), in); code(err) != tc.want {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

// The provider buys the capacity of an interruptible reservation through CreateFleet, and reads from the
// instance that it is interruptible.
func TestInterruptibleReservation(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	class := classOf("ready", "al2023@latest")
	class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "a"}}}
	n := newNear(t, class)
	id := n.reserve(`{"instanceType":"m5.large","zone":"us-west-2b","count":1,"criteria":"targeted","interruptible":true,"tags":{"team":"a"}}`)
	p := n.connect()
	n.ready(p, "ready")
	claim := request("1")
	claim.Requirements = requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "m5.large"))
	bought := got(p.Create(ctx, claim))(t)
	if bought.Offer.CapacityType != "reserved" || bought.Offer.Reservation != id {
		t.Fatalf("bought %s, want a place in %s", bought.Offer, id)
	}
	if seen := got(p.Get(ctx, bought.ProviderID))(t); seen.Labels[awsv1.LabelCapacityReservationInterruptible] != "true" {
		t.Errorf("seen with labels %v", seen.Labels)
	}
}
