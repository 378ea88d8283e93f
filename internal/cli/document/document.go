// Package document writes a plan in the versioned form that programs read, as JSON or YAML
// (docs/reference/plan.md). Fields have a fixed order, lists are never null, and the same plan
// gives the same bytes, but for the time that it took.
//
// The document is streamed: thousands of claims with thousands of alternatives each would fill
// the memory otherwise. The package decides nothing and knows no terminal.
package document

import (
	"io"
	"strconv"
	"time"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/rulecost"
	"tenon/core/snapshot"
)

// Version and kind of the document.
const (
	APIVersion = "tenon/v1alpha1"
	Kind       = "Plan"
)

// Planned is a plan with what it was made from.
type Planned struct {
	Snapshot *snapshot.Snapshot
	Plan     plan.Plan
	// RuleCosts says what single rules cost; it is empty if the user did not ask.
	RuleCosts rulecost.Report
	// Prices says what the prices are.
	Prices Prices
	// FleetBound is proven about the price of any fleet for the pods of pools' nodes that is bought at
	// once; 0 is not known.
	FleetBound model.Money
	// Interventions are the last changes that users made by hand, by KIND/NAME of the object, as text.
	Interventions map[string]string
	// Duration of the decision: the one part that differs from run to run.
	Duration time.Duration
}

// Prices is where prices come from.
type Prices struct {
	// Currency as ISO 4217 has it; empty if it is not known.
	Currency string
	// Published is when the controller of the cluster said them; zero if it did not.
	Published time.Time
}

// WriteJSON writes the document as JSON.
func (p Planned) WriteJSON(w io.Writer) error { return p.write(newEncoder(w, jsonStyle)) }

// WriteYAML writes the document as YAML.
func (p Planned) WriteYAML(w io.Writer) error { return p.write(newEncoder(w, yamlStyle)) }

func (p Planned) write(e *encoder) error {
	e.open()
	e.text("apiVersion", APIVersion)
	e.text("kind", Kind)
	p.nodes(e)
	p.existing(e)
	p.unschedulable(e)
	p.held(e)
	p.buffers(e)
	p.disruptions(e)
	p.kept(e)
	p.cost(e)
	p.ruleCosts(e)
	p.solve(e)
	e.close()
	return e.finish()
}

func (p Planned) nodes(e *encoder) {
	e.list("nodes", len(p.Plan.Claims), func(i int) { p.node(e, &p.Plan.Claims[i]) })
}

func (p Planned) node(e *encoder, c *plan.Claim) {
	e.open()
	e.text("name", c.Name)
	e.text("nodePool", c.Pool)
	e.text("instanceType", c.Offer.InstanceType)
	e.text("zone", c.Offer.Zone)
	e.text("capacityType", c.Offer.CapacityType)
	e.text("reservationID", c.Offer.Reservation)
	e.inline("pricePerHour", append(e.scratch(), c.Offer.Price.String()...))
	if price := p.nodePrice(c.Pool); price > 0 {
		e.inline("nodePricePerHour", append(e.scratch(), price.String()...))
	}
	e.inline("allocatable", appendResources(e.scratch(), c.Allocatable))
	e.inline("requests", appendResources(e.scratch(), c.Requests))
	e.inline("labels", appendLabels(e.scratch(), c.Labels))
	e.inline("taints", appendTaints(e.scratch(), c.Taints))
	e.stream("alternatives", func(item func([]byte)) {
		for o := range c.Alternatives.All() {
			item(appendOffer(e.scratch(), o))
		}
	})
	e.inline("pods", p.appendPods(e.scratch(), c.Pods))
	if c.Spare {
		e.inline("spare", append(e.scratch(), "true"...))
	}
	e.delay(c.Delay)
	e.close()
}

func (p Planned) existing(e *encoder) {
	e.list("existing", len(p.Plan.Existing), func(i int) {
		placed := &p.Plan.Existing[i]
		e.open()
		e.text("node", placed.Node)
		e.inline("pods", p.appendPods(e.scratch(), placed.Pods))
		e.close()
	})
}

func (p Planned) unschedulable(e *encoder) {
	texts := map[*reason.Verdict][]byte{} // pods of one shape share a verdict
	e.list("unschedulable", len(p.Plan.Unplaced), func(i int) {
		u := p.Plan.Unplaced[i]
		text, known := texts[u.Verdict]
		if !known {
			text = appendReasons(nil, u.Verdict)
			texts[u.Verdict] = text
		}
		e.open()
		e.text("pod", p.Snapshot.Pods[u.Pod].Key())
		e.inline("reasons", text)
		e.close()
	})
}

// held lists the pods that will get a place by themselves, if there are any.
func (p Planned) held(e *encoder) {
	if len(p.Plan.Held) == 0 {
		return
	}
	e.list("held", len(p.Plan.Held), func(i int) {
		h := p.Plan.Held[i]
		e.open()
		e.text("pod", p.Snapshot.Pods[h.Pod].Key())
		e.delay(h.Delay)
		e.close()
	})
}

func (p Planned) cost(e *encoder) {
	before, after := p.Fleet()
	b := e.scratch()
	b = append(b, `{"newPerHour": `...)
	b = append(b, p.Plan.Cost.New.String()...)
	b = append(b, `, "lowerBoundPerHour": `...)
	b = append(b, p.Plan.Cost.LowerBound.String()...)
	b = append(b, `, "gap": `...)
	b = strconv.AppendFloat(b, roundedGap(p.Plan.Cost.Gap()), 'f', -1, 64)
	b = append(b, `, "fleetPerHourBefore": `...)
	b = append(b, before.String()...)
	b = append(b, `, "fleetPerHourAfter": `...)
	b = append(b, after.String()...)
	if price := p.NodePrice(); price > 0 {
		b = append(b, `, "nodePricePerHour": `...)
		b = append(b, price.String()...)
	}
	if p.FleetBound > 0 {
		b = append(b, `, "fleetLowerBoundPerHour": `...)
		b = append(b, p.FleetBound.String()...)
	}
	if p.Prices.Currency != "" {
		b = append(b, `, "currency": `...)
		b = appendString(b, p.Prices.Currency)
	}
	if !p.Prices.Published.IsZero() {
		b = append(b, `, "pricesPublished": `...)
		b = appendString(b, p.Prices.Published.UTC().Format(time.RFC3339))
	}
	e.inline("cost", append(b, '}'))
}

// NodePrice is the part of the new nodes' price that is not paid for machines.
func (p Planned) NodePrice() model.Money {
	var sum model.Money
	for i := range p.Plan.Claims {
		sum += p.nodePrice(p.Plan.Claims[i].Pool)
	}
	return sum
}

func (p Planned) nodePrice(pool string) model.Money {
	for i := range p.Snapshot.Pools {
		if p.Snapshot.Pools[i].Name == pool {
			return p.Snapshot.Pools[i].NodePrice
		}
	}
	return 0
}

// Fleet is what all nodes cost an hour now, and once the plan is carried out: nodes that are
// being removed are gone then, and the new ones are there.
func (p Planned) Fleet() (before, after model.Money) { return p.Plan.Fleet(p.Snapshot) }

// roundedGap keeps six digits: a millionth of the price is below the smallest price.
func roundedGap(gap float64) float64 {
	const digits = 1e6
	return float64(int64(gap*digits+0.5)) / digits
}

func (p Planned) solve(e *encoder) {
	s := p.Plan.Solve
	b := e.scratch()
	b = append(b, `{"pods": `...)
	b = strconv.AppendInt(b, int64(s.Pods), 10)
	b = append(b, `, "podClasses": `...)
	b = strconv.AppendInt(b, int64(s.Shapes), 10)
	b = append(b, `, "offers": `...)
	b = strconv.AppendInt(b, int64(s.Offers), 10)
	b = append(b, `, "duration": `...)
	b = appendString(b, Rounded(p.Duration).String())
	e.inline("solve", append(b, '}'))
}

// Rounded keeps about three digits of a duration.
func Rounded(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}
