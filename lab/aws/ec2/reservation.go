package ec2

import (
	"strings"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type createReservationInput struct {
	dry
	Type     string             `query:"InstanceType"`
	Platform string             `query:"InstancePlatform"`
	Zone     string             `query:"AvailabilityZone"`
	Count    int                `query:"InstanceCount"`
	EndType  string             `query:"EndDateType"`
	End      time.Time          `query:"EndDate"`
	Criteria string             `query:"InstanceMatchCriteria"`
	Token    string             `query:"ClientToken"`
	TagSpecs []accounts.TagSpec `query:"TagSpecifications"`
	Tenancy  string
}

type reservationOutput struct {
	Reservation reservationItem `xml:"capacityReservation"`
}

type reservationItem struct {
	ID            string     `xml:"capacityReservationId"`
	ARN           string     `xml:"capacityReservationArn"`
	Owner         string     `xml:"ownerId"`
	Type          string     `xml:"instanceType"`
	Platform      string     `xml:"instancePlatform"`
	Zone          string     `xml:"availabilityZone"`
	ZoneID        string     `xml:"availabilityZoneId"`
	Tenancy       string     `xml:"tenancy"`
	Total         int        `xml:"totalInstanceCount"`
	Free          int        `xml:"availableInstanceCount"`
	State         string     `xml:"state"`
	Start         string     `xml:"startDate"`
	End           string     `xml:"endDate,omitempty"`
	EndType       string     `xml:"endDateType"`
	Criteria      string     `xml:"instanceMatchCriteria"`
	Created       string     `xml:"createDate"`
	Kind          string     `xml:"reservationType"`
	Interruptible bool       `xml:"interruptible"`
	Tags          []wire.Tag `xml:"tagSet>item"`
	// Of the source of an interruptible reservation, and of that.
	Allocation   *allocationItem   `xml:"interruptibleCapacityAllocation"`
	Interruption *interruptionItem `xml:"interruptionInfo"`
}

type allocationItem struct {
	ID     string `xml:"interruptibleCapacityReservationId"`
	Count  int    `xml:"instanceCount"`
	Target int    `xml:"targetInstanceCount"`
	Status string `xml:"status"`
	Type   string `xml:"interruptionType"`
}

type interruptionItem struct {
	Source string `xml:"sourceCapacityReservationId"`
	Type   string `xml:"interruptionType"`
}

// whenAsked is the only type of interruption: when the owner asks for capacity.
const whenAsked = "adhoc"

func createReservation(r *accounts.Region, in *createReservationInput) (*reservationOutput, error) {
	c := accounts.Reservation{InstanceType: in.Type, Zone: in.Zone, Total: in.Count, Criteria: in.Criteria, End: in.End}
	for _, s := range in.TagSpecs {
		c.Tags = append(c.Tags, s.Tags...)
	}
	made, err := r.Reserve(c)
	if err != nil {
		return nil, err
	}
	return &reservationOutput{itemOfReservation(r, made)}, nil
}

func itemOfReservation(r *accounts.Region, c *accounts.Reservation) reservationItem {
	item := reservationItem{
		ID: c.ID, ARN: r.ARN("ec2", "capacity-reservation/"+c.ID), Owner: r.Account.ID, Type: c.InstanceType, Platform: "Linux/UNIX", Zone: c.Zone,
		ZoneID: r.ZoneID(c.Zone), Tenancy: "default", Total: c.Total, Free: c.Free(), State: c.State, Start: stamp(c.Start),
		End: optionalStamp(c.End), EndType: "unlimited", Criteria: c.Criteria, Created: stamp(c.Created), Kind: c.Kind, Interruptible: c.Interruptible,
		Tags: c.Tags,
	}
	if !c.End.IsZero() {
		item.EndType = "limited"
	}
	if c.Allocation != nil {
		item.Allocation = itemOfAllocation(c.Allocation)
	}
	if c.Source != nil {
		item.Interruption = &interruptionItem{c.Source.ID, whenAsked}
	}
	return item
}

func itemOfAllocation(a *accounts.Allocation) *allocationItem {
	return &allocationItem{a.Lent.ID, a.Lent.Total, a.Target, a.Status(), whenAsked}
}

type allocateInput struct {
	dry
	ID       string             `query:"CapacityReservationId"`
	Count    int                `query:"InstanceCount"`
	Token    string             `query:"ClientToken"`
	TagSpecs []accounts.TagSpec `query:"TagSpecification"`
}

type allocateOutput struct {
	Source string `xml:"sourceCapacityReservationId"`
	Target int    `xml:"targetInstanceCount"`
	Status string `xml:"status"`
	Type   string `xml:"interruptionType"`
}

func allocateInterruptible(r *accounts.Region, in *allocateInput) (*allocateOutput, error) {
	var tags []wire.Tag
	for _, s := range in.TagSpecs {
		tags = append(tags, s.Tags...)
	}
	c, err := r.Allocate(in.ID, in.Count, tags)
	if err != nil {
		return nil, err
	}
	return &allocateOutput{c.ID, c.Allocation.Target, c.Allocation.Status(), whenAsked}, nil
}

type reallocateInput struct {
	dry
	ID     string `query:"CapacityReservationId"`
	Target int    `query:"TargetInstanceCount"`
}

type reallocateOutput struct {
	Source string `xml:"sourceCapacityReservationId"`
	allocationItem
}

func reallocateInterruptible(r *accounts.Region, in *reallocateInput) (*reallocateOutput, error) {
	c, err := r.Reallocate(in.ID, in.Target)
	if err != nil {
		return nil, err
	}
	return &reallocateOutput{c.ID, *itemOfAllocation(c.Allocation)}, nil
}

type cancelReservationInput struct {
	dry
	ID string `query:"CapacityReservationId"`
}

func cancelReservation(r *accounts.Region, in *cancelReservationInput) (*done, error) {
	return &done{true}, r.CancelReservation(in.ID)
}

type reservationsInput struct {
	listing
	IDs []string `query:"CapacityReservationId"`
}

type reservationsOutput struct {
	Reservations []reservationItem `xml:"capacityReservationSet>item"`
	Next         string            `xml:"nextToken,omitempty"`
}

func describeReservations(r *accounts.Region, in *reservationsInput) (*reservationsOutput, error) {
	all, err := pick(in.IDs, r.Reservations(), r.ReservationByID)
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, all, listed[*accounts.Reservation]{
		key: func(c *accounts.Reservation) string { return c.ID },
		attributes: func(c *accounts.Reservation) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"state": one(c.State), "owner-id": one(r.Account.ID), "instance-match-criteria": one(c.Criteria), "instance-type": one(c.InstanceType),
				"availability-zone": one(c.Zone), "tenancy": one("default"), "instance-platform": one("Linux/UNIX")}, c.Tags
		},
		limits: wire.Limits{Min: 1, Max: 1000},
	})
	out := &reservationsOutput{Next: next}
	for _, c := range found {
		out.Reservations = append(out.Reservations, itemOfReservation(r, c))
	}
	return out, err
}

type createPlacementInput struct {
	dry
	Name       string `query:"GroupName"`
	Strategy   string
	Partitions int                `query:"PartitionCount"`
	TagSpecs   []accounts.TagSpec `query:"TagSpecification"`
}

type placementGroupOutput struct {
	Group placementGroupItem `xml:"placementGroup"`
}

type placementGroupItem struct {
	ID         string     `xml:"groupId"`
	Name       string     `xml:"groupName"`
	ARN        string     `xml:"groupArn"`
	Strategy   string     `xml:"strategy"`
	State      string     `xml:"state"`
	Partitions int        `xml:"partitionCount,omitempty"`
	Tags       []wire.Tag `xml:"tagSet>item"`
}

func itemOfPlacement(r *accounts.Region, g *accounts.PlacementGroup) placementGroupItem {
	return placementGroupItem{g.ID, g.Name, r.ARN("ec2", "placement-group/"+g.Name), g.Strategy, "available", g.Partitions, g.Tags}
}

func createPlacement(r *accounts.Region, in *createPlacementInput) (*placementGroupOutput, error) {
	g := accounts.PlacementGroup{Name: in.Name, Strategy: strings.ToLower(in.Strategy), Partitions: in.Partitions}
	for _, s := range in.TagSpecs {
		g.Tags = append(g.Tags, s.Tags...)
	}
	made, err := r.CreatePlacementGroup(g)
	if err != nil {
		return nil, err
	}
	return &placementGroupOutput{itemOfPlacement(r, made)}, nil
}

type deletePlacementInput struct {
	dry
	Name string `query:"GroupName"`
}

func deletePlacement(r *accounts.Region, in *deletePlacementInput) (*done, error) {
	return &done{true}, r.DeletePlacementGroup(in.Name)
}

type placementsInput struct {
	dry
	Filters []wire.Filter `query:"Filter"`
	IDs     []string      `query:"GroupId"`
	Names   []string      `query:"GroupName"`
}

type placementsOutput struct {
	Groups []placementGroupItem `xml:"placementGroupSet>item"`
}

func describePlacements(r *accounts.Region, in *placementsInput) (*placementsOutput, error) {
	all, err := pick(append(in.IDs, in.Names...), r.PlacementGroups(), func(id string) (*accounts.PlacementGroup, error) {
		for _, g := range r.PlacementGroups() {
			if g.ID == id || g.Name == id {
				return g, nil
			}
		}
		return nil, wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", id)
	})
	if err != nil {
		return nil, err
	}
	found, _, err := list(listing{Filters: in.Filters}, all, listed[*accounts.PlacementGroup]{
		key: func(g *accounts.PlacementGroup) string { return g.ID },
		attributes: func(g *accounts.PlacementGroup) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"group-name": one(g.Name), "group-arn": one(r.ARN("ec2", "placement-group/"+g.Name)), "state": one("available"), "strategy": one(g.Strategy)}, g.Tags
		},
		limits: wire.Limits{Max: 1000},
	})
	out := &placementsOutput{}
	for _, g := range found {
		out.Groups = append(out.Groups, itemOfPlacement(r, g))
	}
	return out, err
}
