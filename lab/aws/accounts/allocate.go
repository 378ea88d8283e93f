package accounts

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"tenon/core/model"
	"tenon/lab/aws/wire"
)

// candidate is a way whose type, zone and price have been looked up.
type candidate struct {
	way
	choice choice
	price  model.Money
	depth  float64
	number int     // its position in the request
	dice   float64 // for the strategy without an order
}

// randomly is the strategy of reserved capacity when the request names none.
const randomly = "random"

// part is the part of a fleet that is launched in one go.
type part struct {
	capacityType string
	reservation  string // the kind of reservations, for fleets of reserved capacity
	target       int
	options      FleetOptions
}

// fulfil launches the on-demand part and the spot part, or the reserved part.
func (r *Region) fulfil(f *Fleet, ways []way) {
	t := f.order.Target
	if t.Default == reservedCapacity {
		r.fulfilReserved(f, ways)
		return
	}
	onDemand, spot := t.OnDemand, t.Spot
	if rest := t.Total - onDemand - spot; t.Default == "spot" {
		spot += rest
	} else {
		onDemand += rest
	}
	r.fulfilPart(f, ways, part{capacityType: "on-demand", target: onDemand, options: f.order.OnDemand.FleetOptions})
	r.fulfilPart(f, ways, part{capacityType: "spot", target: spot, options: f.order.Spot.FleetOptions})
}

// fulfilReserved goes through the kinds of reservations in the order of the request, or through all
// without an order. It launches the rest on demand only if the request says so.
func (r *Region) fulfilReserved(f *Fleet, ways []way) {
	asked, left := f.order.Reserved, f.order.Target.Total
	kinds := asked.Types
	if len(kinds) == 0 {
		kinds = reservationTypes
	}
	for _, kind := range kinds {
		left -= r.fulfilPart(f, ways, part{
			capacityType: "on-demand", reservation: kind, target: left, options: FleetOptions{Strategy: cmp.Or(asked.Strategy, randomly)},
		})
	}
	if len(asked.Fallback.Markets) > 0 {
		r.fulfilPart(f, unreserved(ways), part{capacityType: "on-demand", target: left})
	}
}

// unreserved returns the ways without their settings for reservations.
func unreserved(ways []way) []way {
	plain := slices.Clone(ways)
	for i := range plain {
		t := *plain[i].template
		t.Spec.Reservation, t.Spec.Market = ReservationSpec{}, MarketSpec{}
		plain[i].template = &t
	}
	return plain
}

// fulfilPart goes through the candidates from the best on, uses each as long as it has capacity, and
// stops when there are enough. It returns how much of the target it met.
func (r *Region) fulfilPart(f *Fleet, ways []way, p part) (met int) {
	if p.target <= 0 {
		return 0
	}
	candidates, errors := r.candidates(f, ways, p)
	r.rank(candidates, p.capacityType, p.options)
	groups, failed := r.place(candidates, p.target, p.options)
	var made int
	var weight float64
	for _, g := range groups {
		made += len(g.Instances)
		weight += max(g.Override.WeightedCapacity, 1) * float64(len(g.Instances))
	}
	if made < p.options.MinTarget {
		for _, g := range groups {
			for _, i := range g.Instances {
				r.undo(i)
			}
		}
		groups, made, weight = nil, 0, 0
	}
	for _, g := range groups {
		for _, i := range g.Instances {
			r.begin(i)
		}
	}
	f.Instances = append(f.Instances, groups...)
	f.Errors = append(f.Errors, errors...)
	f.Errors = append(f.Errors, failed...)
	if made < p.target && len(errors)+len(failed) == 0 {
		f.Errors = append(f.Errors, fleetError(ways[0], p.lifecycle(), wire.Errorf("UnfulfillableCapacity",
			"Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.")))
	}
	return int(weight)
}

// lifecycle returns the answer's word for the part's capacity.
func (p part) lifecycle() string {
	if p.reservation == capacityBlock || p.reservation == interruptibleReservation {
		return p.reservation
	}
	return p.capacityType
}

func (r *Region) candidates(f *Fleet, ways []way, p part) (list []candidate, errors []FleetError) {
	for _, w := range ways {
		var last error
		found := len(list)
		for _, o := range f.orders(w, p) {
			c, err := r.resolve(o)
			if last = err; err == nil {
				list = append(list, r.candidate(w, c, len(list)))
			}
		}
		if last != nil && len(list) == found {
			errors = append(errors, fleetError(w, p.lifecycle(), last))
		}
	}
	return list, errors
}

// orders returns the launches that a way stands for: one, or one for each reservation that the fleet
// names.
func (f *Fleet) orders(w way, p part) []order {
	o := order{
		spec: w.spec(), subnetID: w.override.SubnetID, capacityType: p.capacityType, maxPrice: w.override.MaxPrice,
		tags: f.order.TagSpecs, token: f.order.ClientToken, fleet: f.ID, bundle: f.ID,
	}
	if p.reservation == "" {
		return []order{o}
	}
	ids := f.order.Reserved.Target.IDs
	if len(ids) == 0 {
		ids = []string{""}
	}
	var all []order
	for _, id := range ids {
		o.reservation = &reservedLaunch{p.reservation, id}
		all = append(all, o)
	}
	return all
}

func (r *Region) candidate(w way, c choice, number int) candidate {
	k := candidate{way: w, choice: c, number: number, price: math.MaxInt64, depth: r.Market.Depth(c.kind.Name, c.subnet.Zone.Name, r.Now())}
	k.dice = r.world.config.Seed.Share("fleet", c.fleet, strconv.Itoa(number))
	if price, known := r.Market.OnDemand(c.kind.Name); known && c.capacityType != "spot" {
		k.price = price
	} else if p, known := r.Market.Spot(c.kind.Name, c.subnet.Zone.Name, r.Now()); known && c.capacityType == "spot" {
		k.price = p.Price
	}
	return k
}

func fleetError(w way, lifecycle string, err error) FleetError {
	e := FleetError{Template: w.ref, Override: w.override, Lifecycle: lifecycle, Code: "InternalError", Message: err.Error()}
	if known, ok := err.(*wire.Error); ok {
		e.Code, e.Message = known.Code, known.Message
	}
	return e
}

// rank sorts candidates by the strategy, the best first.
func (r *Region) rank(list []candidate, capacityType string, o FleetOptions) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		price := cmp.Compare(a.price, b.price)
		depth := cmp.Compare(b.depth, a.depth)
		var first int
		switch {
		case o.Strategy == randomly:
			first = cmp.Compare(a.dice, b.dice)
		case capacityType != "spot" && o.Strategy == "prioritized":
			first = cmp.Compare(a.priority(), b.priority())
		case capacityType != "spot" || o.Strategy == "" || o.Strategy == "lowest-price" || o.Strategy == "diversified":
			first = price
		case o.Strategy == "price-capacity-optimized":
			first = cmp.Or(cmp.Compare(tier(b.depth), tier(a.depth)), price)
		case o.Strategy == "capacity-optimized-prioritized":
			first = cmp.Or(cmp.Compare(tier(b.depth), tier(a.depth)), cmp.Compare(a.priority(), b.priority()))
		default:
			first = depth
		}
		return cmp.Or(first, price, cmp.Compare(a.number, b.number))
	})
}

// tier groups pools that count as equally deep: those with plenty, some and little.
func tier(depth float64) int { return int(depth * 3) }

// priority returns a number of which lower is better; overrides without one come last.
func (c candidate) priority() float64 {
	if c.override.Priority == nil {
		return math.Inf(1)
	}
	return *c.override.Priority
}

func (c candidate) weight() float64 { return max(c.override.WeightedCapacity, 0) }

// place launches candidates in the order of the ranking.
func (r *Region) place(list []candidate, target int, o FleetOptions) (groups []FleetInstances, failed []FleetError) {
	open := list
	if o.SingleType || o.SingleZone {
		open = r.alike(list, o)
	}
	spread := o.Strategy == "diversified"
	left := float64(target)
	byNumber := map[int]int{} // the groups by candidate
	for left > 0 && len(open) > 0 {
		best := open[0]
		i, err := r.start(best.choice)
		if err != nil {
			failed = append(failed, fleetError(best.way, best.choice.lifecycle(), err))
			open = open[1:]
			continue
		}
		at, known := byNumber[best.number]
		if !known {
			at = len(groups)
			byNumber[best.number] = at
			groups = append(groups, FleetInstances{Template: best.ref, Override: best.echo(), Lifecycle: best.choice.lifecycle()})
		}
		groups[at].Instances = append(groups[at].Instances, i)
		left -= max(best.weight(), 1)
		if spread {
			open = append(open[1:len(open):len(open)], best)
		}
	}
	return groups, failed
}

// lifecycle returns the fleet answer's word for the capacity of the choice.
func (c choice) lifecycle() string {
	if c.reserved != nil && c.reserved.market() != "" {
		return c.reserved.market()
	}
	return c.capacityType
}

// alike keeps the candidates that have the best one's type and zone, if the order requires that.
func (r *Region) alike(list []candidate, o FleetOptions) []candidate {
	var kept []candidate
	for _, c := range list {
		sameType := c.choice.kind.Name == list[0].choice.kind.Name
		sameZone := c.choice.subnet.Zone == list[0].choice.subnet.Zone
		if (!o.SingleType || sameType) && (!o.SingleZone || sameZone) {
			kept = append(kept, c)
		}
	}
	return kept
}

// echo returns the override for the answer, completed from the template.
func (c candidate) echo() Override {
	o := c.override
	o.InstanceType, o.SubnetID, o.ImageID = c.choice.kind.Name, c.choice.subnet.ID, c.choice.image.ID
	o.AvailabilityZone = c.choice.subnet.Zone.Name
	return o
}
