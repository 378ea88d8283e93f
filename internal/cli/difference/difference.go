// Package difference compares two plans, one without and one with a change, and writes what differs: in
// nodes, evictions, money, and pods without a place. It decides nothing. The document is JSON for programs,
// a table for a terminal, or Markdown for a pull request (docs/reference/plan.md).
package difference

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/internal/cli/document"
	"tenon/internal/whatif"
)

// Kind of the document. Its version is that of plans.
const Kind = "Difference"

// Difference is what a change does to a plan.
type Difference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Currency of all prices; empty is that of the catalogue, whose name is not known.
	Currency string `json:"currency"`
	// Changes are what was asked, as the user wrote it.
	Changes []string `json:"changes"`
	// Lost are the nodes that the change itself takes away.
	Lost    []string `json:"lostNodes"`
	Without Side     `json:"without"`
	With    Side     `json:"with"`
	// Nodes are the offers of which another number is bought.
	Nodes []Offer `json:"nodes"`
	// Removed are the nodes that are given up only with the change, and Kept those that are only without.
	Removed []string `json:"removed"`
	Kept    []string `json:"kept"`
	// Unschedulable are the pods that have no place only with the change, by reason, and Placed those
	// that have one only with it.
	Unschedulable []Group  `json:"unschedulable"`
	Placed        []string `json:"placed"`
}

// Side is one of the two plans.
type Side struct {
	// Nodes is how many there are once the plan is carried out; NewNodes are bought, RemovedNodes given up.
	Nodes        int `json:"nodes"`
	NewNodes     int `json:"newNodes"`
	RemovedNodes int `json:"removedNodes"`
	// Evictions are those of the plan, and of nodes that the change takes away.
	Evictions     int `json:"evictions"`
	Unschedulable int `json:"unschedulable"`
	// Prices: of the new nodes, what is proven to be the least, and of all nodes afterwards.
	New        json.Number `json:"newPerHour"`
	LowerBound json.Number `json:"lowerBoundPerHour"`
	Fleet      json.Number `json:"fleetPerHour"`

	fresh, bound, fleet model.Money
}

// Offer is an offer of which another number is bought.
type Offer struct {
	NodePool     string      `json:"nodePool"`
	InstanceType string      `json:"instanceType"`
	Zone         string      `json:"zone"`
	CapacityType string      `json:"capacityType"`
	Price        json.Number `json:"pricePerHour"`
	Without      int         `json:"without"`
	With         int         `json:"with"`
}

// Group is pods without a place for one reason.
type Group struct {
	Pods    []string `json:"pods"`
	Message string   `json:"message"`
}

// Of compares two plans.
func Of(without, with document.Planned, effect whatif.Effect, changes []string, currency string) Difference {
	d := Difference{
		APIVersion: document.APIVersion, Kind: Kind, Currency: currency, Changes: changes, Lost: listed(effect.Nodes),
		Without: sideOf(without), With: sideOf(with), Nodes: offers(without.Plan.Claims, with.Plan.Claims),
	}
	d.With.Evictions += effect.Pods
	before, after := without.Plan.Removed(), with.Plan.Removed()
	d.Removed, d.Kept = only(after, before), only(before, after)
	d.unplaced(without, with)
	return d
}

func sideOf(p document.Planned) Side {
	_, fleet := p.Fleet()
	s := Side{
		NewNodes: len(p.Plan.Claims), RemovedNodes: len(p.Plan.Removed()), Unschedulable: len(p.Plan.Unplaced),
		fresh: p.Plan.Cost.New, bound: p.Plan.Cost.LowerBound, fleet: fleet,
	}
	s.Nodes = s.NewNodes - s.RemovedNodes
	for i := range p.Snapshot.Nodes {
		if !p.Snapshot.Nodes[i].Leaving {
			s.Nodes++
		}
	}
	for i := range p.Plan.Disruptions {
		s.Evictions += p.Plan.Disruptions[i].Evictions()
	}
	s.New, s.LowerBound, s.Fleet = number(s.fresh), number(s.bound), number(s.fleet)
	return s
}

func number(m model.Money) json.Number { return json.Number(m.String()) }

// offers are those of which the two sides buy another number, the dearest difference first.
func offers(without, with []plan.Claim) []Offer {
	at := map[Offer]int{}
	list, prices := []Offer{}, []model.Money{}
	count := func(claims []plan.Claim, add func(*Offer)) {
		for i := range claims {
			c := &claims[i]
			key := Offer{NodePool: c.Pool, InstanceType: c.Offer.InstanceType, Zone: c.Offer.Zone, CapacityType: c.Offer.CapacityType, Price: number(c.Offer.Price)}
			k, known := at[key]
			if !known {
				k = len(list)
				at[key], list, prices = k, append(list, key), append(prices, c.Offer.Price)
			}
			add(&list[k])
		}
	}
	count(without, func(o *Offer) { o.Without++ })
	count(with, func(o *Offer) { o.With++ })
	byPrice := map[Offer]model.Money{}
	for i, o := range list {
		byPrice[o] = prices[i] * model.Money(max(o.With-o.Without, o.Without-o.With))
	}
	list = slices.DeleteFunc(list, func(o Offer) bool { return o.Without == o.With })
	slices.SortFunc(list, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(byPrice[b], byPrice[a]), strings.Compare(a.NodePool, b.NodePool), strings.Compare(a.InstanceType, b.InstanceType),
			strings.Compare(a.Zone, b.Zone), strings.Compare(a.CapacityType, b.CapacityType))
	})
	return list
}

// unplaced finds the pods that have a place on one side only. Pods that are only in one of the snapshots
// count: without the change they wait for nothing.
func (d *Difference) unplaced(without, with document.Planned) {
	before, after := lacking(without), lacking(with)
	d.Unschedulable, d.Placed = []Group{}, []string{}
	at := map[string]int{}
	for _, pod := range order.Keys(after) {
		if before[pod] != nil {
			continue
		}
		text := after[pod].Text()
		k, known := at[text]
		if !known {
			k = len(d.Unschedulable)
			at[text] = k
			d.Unschedulable = append(d.Unschedulable, Group{Message: text})
		}
		d.Unschedulable[k].Pods = append(d.Unschedulable[k].Pods, pod)
	}
	there := map[string]bool{}
	for i := range with.Snapshot.Pods {
		there[with.Snapshot.Pods[i].Key()] = true
	}
	for _, pod := range order.Keys(before) {
		if after[pod] == nil && there[pod] {
			d.Placed = append(d.Placed, pod)
		}
	}
}

func lacking(p document.Planned) map[string]*reason.Verdict {
	out := map[string]*reason.Verdict{}
	for _, u := range p.Plan.Unplaced {
		out[p.Snapshot.Pods[u.Pod].Key()] = u.Verdict
	}
	return out
}

func only(of, not map[string]bool) []string {
	return slices.DeleteFunc(listed(order.Keys(of)), func(name string) bool { return not[name] })
}

// listed is never nil, so that the document has a list.
func listed(names []string) []string { return append([]string{}, names...) }
