package estate

import (
	"cmp"
	"math"
	"slices"

	"tenon/core/model"
	"tenon/lab/aws/wire"
)

// candidate is a way that has been looked up.
type candidate struct {
	way
	choice choice
	price  model.Money
	depth  float64
	number int // where it stood in the request
}

// fulfil launches the on-demand part and the spot part.
func (r *Region) fulfil(f *Fleet, ways []way) {
	t := f.order.Target
	onDemand, spot := t.OnDemand, t.Spot
	if rest := t.Total - onDemand - spot; t.Default == "spot" {
		spot += rest
	} else {
		onDemand += rest
	}
	r.fulfilPart(f, ways, "on-demand", onDemand, f.order.OnDemand)
	r.fulfilPart(f, ways, "spot", spot, f.order.Spot)
}

// fulfilPart goes through the candidates from the best on, each as long as it has
// capacity, until there are enough.
func (r *Region) fulfilPart(f *Fleet, ways []way, capacityType string, target int, options FleetOptions) {
	if target == 0 {
		return
	}
	candidates, errors := r.candidates(f, ways, capacityType)
	r.rank(candidates, capacityType, options)
	groups, failed := r.place(candidates, target, options)
	var made int
	for _, g := range groups {
		made += len(g.Instances)
	}
	if made < options.MinTarget {
		for _, g := range groups {
			for _, i := range g.Instances {
				r.undo(i)
			}
		}
		groups, made = nil, 0
	}
	for _, g := range groups {
		for _, i := range g.Instances {
			r.begin(i)
		}
	}
	f.Instances = append(f.Instances, groups...)
	f.Errors = append(f.Errors, errors...)
	f.Errors = append(f.Errors, failed...)
	if made < target && len(errors)+len(failed) == 0 {
		f.Errors = append(f.Errors, fleetError(ways[0], capacityType, wire.Errorf("UnfulfillableCapacity",
			"Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.")))
	}
}

func (r *Region) candidates(f *Fleet, ways []way, capacityType string) (list []candidate, errors []FleetError) {
	tags := f.order.TagSpecs
	for n, w := range ways {
		c, err := r.resolve(order{
			spec: w.spec(), subnetID: w.override.SubnetID, capacityType: capacityType, maxPrice: w.override.MaxPrice,
			tags: tags, token: f.order.ClientToken, fleet: f.ID, bundle: f.ID,
		})
		if err != nil {
			errors = append(errors, fleetError(w, capacityType, err))
			continue
		}
		k := candidate{way: w, choice: c, number: n, price: math.MaxInt64, depth: r.Market.Depth(c.kind.Name, c.subnet.Zone.Name, r.Now())}
		if price, known := r.Market.OnDemand(c.kind.Name); known && capacityType != "spot" {
			k.price = price
		} else if p, known := r.Market.Spot(c.kind.Name, c.subnet.Zone.Name, r.Now()); known && capacityType == "spot" {
			k.price = p.Price
		}
		list = append(list, k)
	}
	return list, errors
}

func fleetError(w way, capacityType string, err error) FleetError {
	e := FleetError{Template: w.ref, Override: w.override, Lifecycle: capacityType, Code: "InternalError", Message: err.Error()}
	if known, ok := err.(*wire.Error); ok {
		e.Code, e.Message = known.Code, known.Message
	}
	return e
}

// rank sorts by the strategy, the best first.
func (r *Region) rank(list []candidate, capacityType string, o FleetOptions) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		price := cmp.Compare(a.price, b.price)
		depth := cmp.Compare(b.depth, a.depth)
		var first int
		switch {
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

// tier is which pools count as equally deep: those with plenty, some and little.
func tier(depth float64) int { return int(depth * 3) }

// priority is a number of which lower is better; overrides without one come last.
func (c candidate) priority() float64 {
	if c.override.Priority == nil {
		return math.Inf(1)
	}
	return *c.override.Priority
}

func (c candidate) weight() float64 { return max(c.override.WeightedCapacity, 0) }

// place launches along the ranking.
func (r *Region) place(list []candidate, target int, o FleetOptions) (groups []FleetInstances, failed []FleetError) {
	open := list
	if o.SingleType || o.SingleZone {
		open = r.alike(list, o)
	}
	spread := o.Strategy == "diversified"
	left := float64(target)
	byNumber := map[int]int{} // the group of a candidate
	for left > 0 && len(open) > 0 {
		best := open[0]
		i, err := r.start(best.choice)
		if err != nil {
			failed = append(failed, fleetError(best.way, best.choice.capacityType, err))
			open = open[1:]
			continue
		}
		at, known := byNumber[best.number]
		if !known {
			at = len(groups)
			byNumber[best.number] = at
			groups = append(groups, FleetInstances{Template: best.ref, Override: best.echo(), Lifecycle: best.choice.capacityType})
		}
		groups[at].Instances = append(groups[at].Instances, i)
		left -= max(best.weight(), 1)
		if spread {
			open = append(open[1:len(open):len(open)], best)
		}
	}
	return groups, failed
}

// alike keeps the candidates of the best one's type and zone, where the order wants that.
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

// echo is the override as the answer has it: with what the template filled in.
func (c candidate) echo() Override {
	o := c.override
	o.InstanceType, o.SubnetID, o.ImageID = c.choice.kind.Name, c.choice.subnet.ID, c.choice.image.ID
	o.AvailabilityZone = c.choice.subnet.Zone.Name
	return o
}
