package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// allocated checks a reservation that lends instances: its free capacity, what it lends, what it is asked to lend, and the status.
func (e *emulator) allocated(id string, free, count, target int32, status types.InterruptibleCapacityReservationAllocationStatus) (lent types.CapacityReservation) {
	e.t.Helper()
	c := e.reservation(id)
	a := c.InterruptibleCapacityAllocation
	if a == nil || *c.AvailableInstanceCount != free || *a.InstanceCount != count || *a.TargetInstanceCount != target || a.Status != status || a.InterruptionType != "adhoc" {
		e.t.Fatalf("%d are free, and lent is %+v; want %d free, %d of %d lent, %s", *c.AvailableInstanceCount, a, free, count, target, status)
	}
	return e.reservation(*a.InterruptibleCapacityReservationId)
}

// EC2 API, CreateInterruptibleCapacityReservationAllocation: "Creates an interruptible Capacity Reservation by specifying the number of unused
// instances you want to allocate from your source reservation." InterruptibleCapacityAllocation: "The current status of the allocation
// (updating during reclamation, active when complete)." EC2 User Guide: "You can create only one interruptible allocation per source
// Capacity Reservation."
func TestAllocateAndReclaim(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	e.template(w, "plain")
	source := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 3, "criteria": "targeted"}`)
	out := got(e.ec2().CreateInterruptibleCapacityReservationAllocation(ctx, &ec2.CreateInterruptibleCapacityReservationAllocationInput{
		CapacityReservationId: &source, InstanceCount: sdk.Int32(2),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeCapacityReservation, Tags: []types.Tag{{Key: sdk.String("team"), Value: sdk.String("a")}}}},
	}))(t)
	if *out.SourceCapacityReservationId != source || *out.TargetInstanceCount != 2 {
		t.Errorf("answered %+v", out)
	}
	lent := e.allocated(source, 1, 2, 2, "active")
	if !*lent.Interruptible || *lent.InterruptionInfo.SourceCapacityReservationId != source || lent.InstanceMatchCriteria != "targeted" || *lent.AvailableInstanceCount != 2 || len(lent.Tags) != 1 {
		t.Errorf("the interruptible reservation is %+v", lent)
	}

	o := &types.ReservedCapacityOptionsRequest{ReservationTypes: []types.FleetReservationType{interruptible},
		CapacityReservationTarget: &types.FleetCapacityReservationTargetRequest{CapacityReservationIds: []string{*lent.CapacityReservationId}}}
	made := ids(got(e.ec2().CreateFleet(ctx, e.reservedFleet(w, 1, o, "plain")))(t))
	e.pass(10 * time.Second)
	cancel := func() error {
		_, err := e.ec2().CancelCapacityReservation(ctx, &ec2.CancelCapacityReservationInput{CapacityReservationId: &source})
		return err
	}
	if err := cancel(); code(err) != "InvalidState" {
		t.Errorf("a reservation that lends capacity is cancelled: %v", err)
	}

	back := got(e.ec2().UpdateInterruptibleCapacityReservationAllocation(ctx, &ec2.UpdateInterruptibleCapacityReservationAllocationInput{
		CapacityReservationId: &source, TargetInstanceCount: sdk.Int32(0)}))(t)
	if *back.InstanceCount != 1 || *back.TargetInstanceCount != 0 || back.Status != "updating" || *back.InterruptibleCapacityReservationId != *lent.CapacityReservationId {
		t.Errorf("answered %+v", back)
	}
	if lent = e.allocated(source, 2, 1, 0, "updating"); *lent.AvailableInstanceCount != 0 {
		t.Errorf("what is asked back takes %d more instances", *lent.AvailableInstanceCount)
	}
	if told := e.notices(false); len(told) != 1 || told[0].Kind != "EC2 Capacity Reservation Instance Interruption Warning" || told[0].Detail.ID != made[0] {
		t.Errorf("told is %+v", told)
	}
	e.pass(2*time.Minute - time.Second)
	if s := e.instance(made[0]).State.Name; s != "running" {
		t.Errorf("a second before the end it is %s", s)
	}
	e.pass(time.Minute)
	if lent = e.allocated(source, 3, 0, 0, "canceled"); lent.State != types.CapacityReservationStateCancelled {
		t.Errorf("when all is given back, the interruptible reservation is %s", lent.State)
	}
	if err := cancel(); err != nil {
		t.Error(err)
	}
}

// What is missing in free capacity is not lent, and only reservations without an end lend.
func TestAllocationsRefused(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	const zone = `"instanceType": "m5.large", "zone": "us-west-2a", "criteria": "targeted"`
	source, limited := e.reserve(`{`+zone+`, "count": 3}`), e.reserve(`{`+zone+`, "count": 3, "for": "24h"}`)
	lends, foreign := e.reserve(`{`+zone+`, "count": 3}`), "cr-0"
	allocate := func(id string, count int32) error {
		_, err := e.ec2().CreateInterruptibleCapacityReservationAllocation(t.Context(),
			&ec2.CreateInterruptibleCapacityReservationAllocationInput{CapacityReservationId: &id, InstanceCount: &count})
		return err
	}
	reallocate := func(id string, target int32) error {
		_, err := e.ec2().UpdateInterruptibleCapacityReservationAllocation(t.Context(),
			&ec2.UpdateInterruptibleCapacityReservationAllocationInput{CapacityReservationId: &id, TargetInstanceCount: &target})
		return err
	}
	if err := allocate(lends, 1); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"more than is free":            {allocate(source, 4), "InsufficientCapacity"},
		"none":                         {allocate(source, 0), "InvalidParameterValue"},
		"from one with an end":         {allocate(limited, 1), "InvalidState"},
		"a second time":                {allocate(lends, 1), "InvalidState"},
		"from an interruptible one":    {allocate(*e.allocated(lends, 2, 1, 1, "active").CapacityReservationId, 1), "InvalidState"},
		"from an unknown one":          {allocate(foreign, 1), "InvalidCapacityReservationId.NotFound"},
		"changed where none is":        {reallocate(source, 1), "InvalidState"},
		"changed to more than is free": {reallocate(lends, 4), "InsufficientCapacity"},
		"changed to all":               {reallocate(lends, 3), "no error"},
	} {
		if code(c.err) != c.want {
			t.Errorf("%s: %v, want %q", name, c.err, c.want)
		}
	}
	e.allocated(lends, 0, 3, 3, "active")
}
