package accounts

import (
	"reflect"
	"slices"

	"tenon/lab/aws/wire"
)

// FleetOrder holds the parameters of CreateFleet. The names are EC2's.
type FleetOrder struct {
	ClientToken string
	Context     string
	DryRun      bool
	Type        string
	Configs     []FleetConfig `query:"LaunchTemplateConfigs"`
	Target      FleetTarget   `query:"TargetCapacitySpecification"`
	Spot        FleetSpot     `query:"SpotOptions"`
	OnDemand    FleetOnDemand `query:"OnDemandOptions"`
	Reserved    FleetReserved `query:"ReservedCapacityOptions"`
	TagSpecs    []TagSpec     `query:"TagSpecification"`
	// These concern fleets that persist, which the emulator does not have.
	ExcessCapacityTerminationPolicy  string
	TerminateInstancesWithExpiration bool
	ReplaceUnhealthyInstances        bool
}

// FleetConfig is a launch template with overrides of its parts.
type FleetConfig struct {
	Template  TemplateRef `query:"LaunchTemplateSpecification"`
	Overrides []Override
}

// Override is one way to fulfil a fleet.
type Override struct {
	InstanceType     string        `xml:"instanceType,omitempty"`
	SubnetID         string        `query:"SubnetId" xml:"subnetId,omitempty"`
	AvailabilityZone string        `xml:"availabilityZone,omitempty"`
	ImageID          string        `query:"ImageId" xml:"imageId,omitempty"`
	MaxPrice         string        `xml:"maxPrice,omitempty"`
	Priority         *float64      `xml:"priority"`
	WeightedCapacity float64       `xml:"weightedCapacity,omitempty"`
	Placement        PlacementSpec `xml:"-"`
}

// FleetTarget says how many instances a fleet wants.
type FleetTarget struct {
	Total    int    `query:"TotalTargetCapacity"`
	Spot     int    `query:"SpotTargetCapacity"`
	OnDemand int    `query:"OnDemandTargetCapacity"`
	Default  string `query:"DefaultTargetCapacityType"`
	Unit     string `query:"TargetCapacityUnitType"`
}

// FleetOptions say how to choose between the ways.
type FleetOptions struct {
	Strategy      string `query:"AllocationStrategy"`
	MinTarget     int    `query:"MinTargetCapacity"`
	SingleType    bool   `query:"SingleInstanceType"`
	SingleZone    bool   `query:"SingleAvailabilityZone"`
	MaxTotalPrice string
}

// FleetSpot are the options for spot instances.
type FleetSpot struct {
	FleetOptions
	Interruption string `query:"InstanceInterruptionBehavior"`
	Pools        int    `query:"InstancePoolsToUseCount"`
}

// FleetOnDemand are the options for on-demand instances.
type FleetOnDemand struct {
	FleetOptions
	ReservationUse struct{ UsageStrategy string } `query:"CapacityReservationOptions"`
}

// FleetReserved says which reservations a fleet of reserved capacity is launched into.
type FleetReserved struct {
	Strategy string   `query:"AllocationStrategy"`
	Types    []string `query:"ReservationType"` // tried one after the other
	Target   struct {
		IDs    []string `query:"CapacityReservationId"`
		Groups []string `query:"CapacityReservationResourceGroupArn"`
	} `query:"CapacityReservationTarget"`
	Fallback struct {
		Markets []string `query:"MarketType"`
	} `query:"ReservedCapacityFallbackOptions"`
}

// reservedCapacity is the target capacity type of fleets that use reservations alone.
const reservedCapacity = "reserved-capacity"

// Fleet is the result of an order.
type Fleet struct {
	ID        string
	Instances []FleetInstances
	Errors    []FleetError
	order     FleetOrder
}

// FleetInstances are instances that were launched in the same way.
type FleetInstances struct {
	Template  TemplateRef
	Override  Override
	Lifecycle string
	Instances []*Instance
}

// FleetError says why a way did not lead to an instance.
type FleetError struct {
	Template  TemplateRef
	Override  Override
	Lifecycle string
	Code      string
	Message   string
}

// CreateFleet launches as much as possible of what an order of type instant asks for.
func (r *Region) CreateFleet(o FleetOrder) (*Fleet, error) {
	if done, ok := r.fleets[o.ClientToken]; ok && o.ClientToken != "" && !o.DryRun {
		if !reflect.DeepEqual(done.order, o) {
			return nil, wire.Errorf("IdempotentParameterMismatch", "The client token '%s' was used with other parameters.", o.ClientToken)
		}
		return done, nil
	}
	ways, err := r.ways(o)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return nil, wire.DryRun()
	}
	f := &Fleet{ID: fleetID(r.world.identifier("fleet")), order: o}
	r.fulfil(f, ways)
	if o.ClientToken != "" {
		r.fleets[o.ClientToken] = f
	}
	return f, nil
}

// fleetID returns an identifier in the form of a UUID after the word.
func fleetID(id string) string {
	hex := id[len("fleet-"):]
	return "fleet-" + hex[:8] + "-" + hex[8:12] + "-4" + hex[12:15] + "-a" + hex[14:17] + "-" + hex[5:17]
}

// checkOrder refuses what EC2 refuses, and what the emulator does not model.
func checkOrder(o FleetOrder) error {
	t := o.Target
	switch {
	case o.Type != "instant":
		return wire.Errorf("UnsupportedOperation", "The emulator has fleets of type instant only, not %q.", o.Type)
	case len(o.Configs) == 0:
		return wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs")
	case t.Total < 1 || t.Total > 10000:
		return wire.Errorf("InvalidParameterValue", "TotalTargetCapacity %d is not between 1 and 10000.", t.Total)
	case t.Spot+t.OnDemand > t.Total:
		return wire.Errorf("InvalidParameterValue", "The sum of on-demand and spot target capacity is above the total of %d.", t.Total)
	case t.Unit != "" && t.Unit != "units":
		return wire.Errorf("UnsupportedOperation", "The emulator counts fleets in units only, not in %s.", t.Unit)
	case o.Spot.MaxTotalPrice != "" || o.OnDemand.MaxTotalPrice != "" || o.OnDemand.ReservationUse.UsageStrategy != "":
		return wire.Errorf("UnsupportedOperation", "The emulator does not model MaxTotalPrice and CapacityReservationOptions.")
	}
	if err := checkStrategies(o); err != nil {
		return err
	}
	return checkReserved(o)
}

func checkStrategies(o FleetOrder) error {
	if s := o.OnDemand.Strategy; !slices.Contains([]string{"", "lowest-price", "prioritized"}, s) {
		return wire.Errorf("InvalidParameterValue", "Invalid on-demand allocation strategy %s", s)
	}
	spot := []string{"", "lowest-price", "diversified", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"}
	if !slices.Contains(spot, o.Spot.Strategy) {
		return wire.Errorf("InvalidParameterValue", "Invalid spot allocation strategy %s", o.Spot.Strategy)
	}
	kinds := []string{"", "spot", "on-demand", "capacity-block", reservedCapacity}
	if !slices.Contains(kinds, o.Target.Default) {
		return wire.Errorf("InvalidParameterValue", "Invalid default target capacity type %s", o.Target.Default)
	}
	return nil
}

// checkReserved enforces EC2's rules for fleets of reserved capacity.
func checkReserved(o FleetOrder) error {
	asked := o.Reserved
	if o.Target.Default != reservedCapacity {
		if asked.Strategy != "" || len(asked.Types)+len(asked.Target.IDs)+len(asked.Target.Groups)+len(asked.Fallback.Markets) > 0 {
			return wire.Errorf("InvalidParameterCombination", "ReservedCapacityOptions can be used only with the default target capacity type %s.", reservedCapacity)
		}
		return nil
	}
	switch {
	case o.Target.Spot+o.Target.OnDemand > 0:
		return wire.Errorf("InvalidParameterCombination", "OnDemandTargetCapacity and SpotTargetCapacity cannot be used with the default target capacity type %s.", reservedCapacity)
	case len(asked.Target.Groups) > 0:
		return wire.Errorf("UnsupportedOperation", "The emulator does not model groups of capacity reservations.")
	case asked.Strategy != "" && asked.Strategy != "prioritized":
		return wire.Errorf("InvalidParameterValue", "Invalid reserved capacity allocation strategy %s", asked.Strategy)
	}
	for _, kind := range asked.Types {
		if !slices.Contains(reservationTypes, kind) {
			return wire.Errorf("InvalidParameterValue", "Invalid reservation type %s", kind)
		}
	}
	for _, market := range asked.Fallback.Markets {
		if market != "on-demand" {
			return wire.Errorf("InvalidParameterValue", "Invalid fallback market type %s", market)
		}
	}
	return nil
}

// way is an override with its launch template.
type way struct {
	template *Template
	ref      TemplateRef
	override Override
}

// ways returns all ways of an order, in the order of the request.
func (r *Region) ways(o FleetOrder) ([]way, error) {
	if err := checkOrder(o); err != nil {
		return nil, err
	}
	var ways []way
	for _, c := range o.Configs {
		t, err := r.templateVersion(c.Template)
		if err != nil {
			return nil, err
		}
		ref := t.ref()
		overrides := c.Overrides
		if len(overrides) == 0 {
			overrides = []Override{{}}
		}
		for _, over := range overrides {
			ways = append(ways, way{t, ref, over})
		}
	}
	return ways, nil
}

// spec returns the template's specification with the override applied.
func (w way) spec() Spec {
	over := Spec{ImageID: w.override.ImageID, InstanceType: w.override.InstanceType}
	s := w.template.Spec.over(over)
	if w.override.AvailabilityZone != "" {
		s.Placement.AvailabilityZone = w.override.AvailabilityZone
	}
	if w.override.Placement != (PlacementSpec{}) {
		s.Placement = w.override.Placement
	}
	return s
}
