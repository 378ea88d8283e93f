package accounts

import (
	"cmp"
	"slices"
	"time"

	"tenon/lab/aws/wire"
)

// Reservation is a capacity reservation: room for instances of a type in a zone.
type Reservation struct {
	ID            string
	InstanceType  string
	Zone          string
	Total         int
	Used          int
	Criteria      string // open or targeted
	Kind          string // default or capacity-block
	Interruptible bool
	State         string // active, expired or cancelled
	Start         time.Time
	End           time.Time // zero for unlimited
	Created       time.Time
	Tags          []wire.Tag
	Allocation    *Allocation  // what it lends to an interruptible reservation, or nil
	Source        *Reservation // of an interruptible reservation, what lends it its capacity; nil if it was made on its own
}

// The names of the kinds of reservations in fleets and instances.
const (
	onDemandReservation      = "on-demand-capacity-reservation"
	capacityBlock            = "capacity-block"
	interruptibleReservation = "interruptible-capacity-reservation"
)

var reservationTypes = []string{onDemandReservation, capacityBlock, interruptibleReservation}

// fleetType returns the reservation's kind as fleets name it.
func (c *Reservation) fleetType() string {
	switch {
	case c.Interruptible:
		return interruptibleReservation
	case c.Kind == capacityBlock:
		return capacityBlock
	default:
		return onDemandReservation
	}
}

// market returns the market type that a launch into the reservation must name, which is also the
// lifecycle of its instances; empty for ordinary reservations.
func (c *Reservation) market() string {
	if kind := c.fleetType(); kind != onDemandReservation {
		return kind
	}
	return ""
}

// blockEnd is how long before a capacity block's end its instances are ended.
const blockEnd = 30 * time.Minute

// Reserve makes a reservation.
func (r *Region) Reserve(c Reservation) (*Reservation, error) {
	kind, ok := r.Market.Type(c.InstanceType)
	switch {
	case !ok:
		return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", c.InstanceType)
	case r.ZoneID(c.Zone) == "":
		return nil, wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", c.Zone)
	case !r.Market.Offered(kind, c.Zone):
		return nil, wire.Errorf("Unsupported", "The requested instance type %s is not supported in %s.", c.InstanceType, c.Zone)
	case c.Total < 1 || c.Total > 1000:
		return nil, wire.Errorf("InvalidParameterValue", "Instance count %d is not between 1 and 1000.", c.Total)
	case !c.End.IsZero() && !c.End.After(r.Now()):
		return nil, wire.Errorf("InvalidParameterValue", "The end date lies in the past.")
	}
	c.ID, c.State, c.Created, c.Start = r.world.identifier("cr"), "active", r.Now(), r.Now()
	c.Criteria, c.Kind = cmp.Or(c.Criteria, "open"), cmp.Or(c.Kind, "default")
	made := &c
	r.reserved = append(r.reserved, made)
	if !made.End.IsZero() {
		r.world.after(made.End.Sub(r.Now()), func() { r.end(made, "expired") })
		if made.Kind == capacityBlock {
			r.world.after(max(0, made.End.Sub(r.Now())-blockEnd), func() { r.reclaim(made) })
		}
	}
	return made, nil
}

// Reservations returns all reservations that were ever made.
func (r *Region) Reservations() []*Reservation { return r.reserved }

// ReservationByID finds a reservation.
func (r *Region) ReservationByID(id string) (*Reservation, error) {
	for _, c := range r.reserved {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, wire.Errorf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
}

// CancelReservation gives the capacity back. Its instances keep running. It may be repeated.
func (r *Region) CancelReservation(id string) error {
	c, err := r.ReservationByID(id)
	if err != nil {
		return err
	}
	switch {
	case c.State == "expired":
		return wire.Errorf("InvalidState", "The capacity reservation '%s' is %s.", id, c.State)
	case c.Allocation.lends():
		return wire.Errorf("InvalidState", "The capacity reservation '%s' has an active interruptible capacity allocation.", id)
	}
	r.end(c, "cancelled")
	return nil
}

// end turns the reservation's instances into ordinary ones.
func (r *Region) end(c *Reservation, state string) {
	if c.State != "active" {
		return
	}
	c.State, c.Used = state, 0
	for _, i := range r.instances {
		if i.Reservation == c.ID {
			i.Reservation = ""
		}
	}
}

// reclaim ends the instances of a capacity block, which do not outlive it.
func (r *Region) reclaim(c *Reservation) {
	for _, i := range slices.Clone(r.instances) {
		if i.Reservation == c.ID && i.alive() {
			r.shutDown(i, "Server.CapacityBlockEnded: the capacity block ends")
		}
	}
}

// Free is for how many more instances it has room.
func (c *Reservation) Free() int {
	switch {
	case c.State != "active":
		return 0
	case c.Source != nil: // what is asked back takes no more instances
		return max(0, min(c.Total, c.Source.Allocation.Target)-c.Used)
	case c.Allocation.lends():
		return c.Total - c.Used - c.Allocation.Lent.Total
	}
	return c.Total - c.Used
}

func (c *Reservation) room() error {
	if c.Free() > 0 {
		return nil
	}
	return wire.Errorf("ReservationCapacityExceeded", "The requested reservation does not have sufficient compatible and available capacity for this request.")
}

// resolveReservation finds the reservation that a launch names or would match.
func (r *Region) resolveReservation(c *choice) error {
	s := c.spec.Reservation
	switch {
	case c.reservation != nil:
		return r.reserveForFleet(c)
	case c.capacityType == "spot" || s.Preference == "none":
		return nil
	case s.Target.ID != "":
		return r.target(c, s.Target.ID)
	}
	for _, open := range r.reserved {
		if open.Criteria == "open" && open.Kind == "default" && open.fits(c) && open.room() == nil {
			c.reserved = open
			return nil
		}
	}
	if s.Preference == "capacity-reservations-only" {
		return wire.Errorf("ReservationCapacityExceeded", "There is no open capacity reservation for %s in %s.", c.kind.Name, c.subnet.Zone.Name)
	}
	return nil
}

// reserveForFleet finds the reservation into which a fleet of reserved capacity launches: the fleet's
// own, the one that the template names, or an open one. Such a fleet never launches elsewhere.
func (r *Region) reserveForFleet(c *choice) error {
	want, template := *c.reservation, c.spec.Reservation.Target.ID
	if want.id == "" && template != "" {
		if err := r.target(c, template); err != nil || c.reserved.fleetType() == want.kind {
			return err
		}
	}
	for _, have := range r.reserved {
		open := want.id == "" && template == "" && have.Criteria == "open"
		if (have.ID == want.id || open) && have.fleetType() == want.kind && have.fits(c) && have.room() == nil {
			c.reserved = have
			return nil
		}
	}
	return wire.Errorf("ReservationCapacityExceeded", "There is no capacity for %s in %s in a reservation of type %s.", c.kind.Name, c.subnet.Zone.Name, want.kind)
}

func (r *Region) target(c *choice, id string) error {
	found, err := r.ReservationByID(id)
	if err != nil {
		return err
	}
	if !found.fits(c) {
		return wire.Errorf("InvalidParameterValue", "The capacity reservation %s is for %s in %s.", id, found.InstanceType, found.Zone)
	}
	want := found.market()
	if c.spec.Market.MarketType != want {
		return wire.Errorf("InvalidParameterCombination", "The capacity reservation %s wants the market type %q, not %q.", id, want, c.spec.Market.MarketType)
	}
	c.reserved = found
	return nil
}

func (c *Reservation) fits(o *choice) bool {
	return c.InstanceType == o.kind.Name && c.Zone == o.subnet.Zone.Name
}

func (r *Region) useReservation(i *Instance, c choice) {
	if c.reserved == nil {
		return
	}
	c.reserved.Used++
	i.Reservation, i.Lifecycle = c.reserved.ID, c.reserved.market()
}

// leaveReservation gives an instance's place in its reservation back.
func (r *Region) leaveReservation(i *Instance) {
	for _, c := range r.reserved {
		if c.ID == i.Reservation && c.Used > 0 {
			c.Used--
			c.giveBack()
		}
	}
}
