package accounts

import (
	"slices"

	"tenon/lab/aws/wire"
)

// Allocation is what a reservation lends to an interruptible one. EC2 User Guide, "Interruptible Capacity Reservations": the owner of a
// reservation allocates unused capacity, and may reclaim it. Instances are told two minutes before they are ended for that.
type Allocation struct {
	Lent   *Reservation // has the instances that are allocated
	Target int          // how many instances it shall have
}

// largestAllocation is how many instances may be allocated.
const largestAllocation = 1000

// Status is updating while instances of what is reclaimed run, and canceled once nothing is left.
func (a *Allocation) Status() string {
	switch {
	case !a.lends():
		return "canceled"
	case a.Lent.Total != a.Target:
		return "updating"
	}
	return "active"
}

// lends reports whether there is an allocation with instances.
func (a *Allocation) lends() bool { return a != nil && a.Lent.State == "active" }

// Allocate makes an interruptible reservation of a part of another's free capacity.
func (r *Region) Allocate(source string, count int, tags []wire.Tag) (*Reservation, error) {
	c, err := r.ReservationByID(source)
	switch {
	case err != nil:
		return nil, err
	case c.State != "active" || !c.End.IsZero() || c.market() != "":
		return nil, wire.Errorf("InvalidState", "The capacity reservation '%s' is not active, has an end date, or is not of the default type.", source)
	case c.Allocation.lends():
		return nil, wire.Errorf("InvalidState", "The capacity reservation '%s' has an active interruptible capacity allocation.", source)
	}
	if err := checkAllocation(count, 1, c.Free()); err != nil {
		return nil, err
	}
	lent, err := r.Reserve(Reservation{InstanceType: c.InstanceType, Zone: c.Zone, Total: count, Criteria: "targeted", Interruptible: true, Tags: tags, Source: c})
	if err != nil {
		return nil, err
	}
	c.Allocation = &Allocation{Lent: lent, Target: count}
	return c, nil
}

// Reallocate changes how many instances a reservation lends. What is missing in free capacity is reclaimed: instances are interrupted.
func (r *Region) Reallocate(source string, target int) (*Reservation, error) {
	c, err := r.ReservationByID(source)
	switch {
	case err != nil:
		return nil, err
	case !c.Allocation.lends():
		return nil, wire.Errorf("InvalidState", "The capacity reservation '%s' doesn't have an active interruptible capacity allocation.", source)
	}
	lent := c.Allocation.Lent
	if err := checkAllocation(target, 0, lent.Total+c.Free()); err != nil {
		return nil, err
	}
	c.Allocation.Target = target
	lent.Total = max(lent.Total, target)
	r.interrupt(lent, lent.Used-target)
	lent.giveBack()
	return c, nil
}

func checkAllocation(count, least, free int) error {
	switch {
	case count < least || count > largestAllocation:
		return wire.Errorf("InvalidParameterValue", "Instance count %d is not between %d and %d.", count, least, largestAllocation)
	case count > free:
		return wire.Errorf("InsufficientCapacity", "The capacity reservation has capacity for %d instances, not %d.", free, count)
	}
	return nil
}

// interrupt interrupts instances of a reservation, those that were launched last first.
func (r *Region) interrupt(c *Reservation, instances int) {
	for _, i := range slices.Backward(slices.Clone(r.instances)) {
		if instances > 0 && i.Reservation == c.ID && i.alive() {
			r.interruptReserved(i, usualNotice)
			instances--
		}
	}
}

// giveBack returns to the source what it asks back and no instance uses. A reservation of which nothing is left is cancelled.
func (c *Reservation) giveBack() {
	if c.Source == nil || c.State != "active" {
		return
	}
	if target := c.Source.Allocation.Target; c.Total > target {
		c.Total = max(target, c.Used)
	}
	if c.Total == 0 {
		c.State = "cancelled"
	}
}
