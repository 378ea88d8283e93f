package shadow

import (
	"cmp"
	"fmt"
	"time"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Look is what was seen and decided at one moment, as far as it is compared.
type Look struct {
	At time.Time
	// Nodes are there or on their way, by the name of their claim, or by their own without one.
	Nodes map[string]Node
	// Pending pods are those without a node, with the time of their creation; Bound ones have one.
	Pending map[string]time.Time
	Bound   map[string]bool
	// Planned are the pending pods that the plan has a place for.
	Planned []string
	// Purchases and GivenUp are what Tenon would do now.
	Purchases []Purchase
	GivenUp   []Removal
	// NodesAfter and PriceAfter are the fleet as the plan would leave it.
	NodesAfter int
	PriceAfter model.Money
}

// Node is one of the fleet.
type Node struct {
	Price   model.Money
	Pods    int // but for daemons
	Leaving bool
}

// Purchase is a node that would be bought.
type Purchase struct {
	Text  string
	Price model.Money
	Pods  []string
}

// Removal is a node that would be given up.
type Removal struct {
	Node, Text string
	Evictions  int
}

// LookAt reads off what is compared.
func LookAt(s *snapshot.Snapshot, p *plan.Plan) Look {
	l := Look{At: s.Now, Nodes: map[string]Node{}, Pending: map[string]time.Time{}, Bound: map[string]bool{}}
	pods := podsByNode(s)
	gone := p.Removed()
	for i := range s.Nodes {
		n := &s.Nodes[i]
		node := Node{Price: priceOf(s, n), Pods: pods[n.Name], Leaving: n.Leaving}
		l.Nodes[cmp.Or(n.Claim, n.Name)] = node
		if !n.Leaving && !gone[n.Name] {
			l.NodesAfter++
			l.PriceAfter += node.Price
		}
	}
	for i := range s.Pods {
		switch pod := &s.Pods[i]; {
		case pod.UID == "":
		case pod.Node != "":
			l.Bound[pod.UID] = true
		case pod.Pending:
			l.Pending[pod.UID] = pod.Created
		}
	}
	l.purchases(s, p)
	l.removals(p)
	l.NodesAfter += len(p.Claims)
	l.PriceAfter += p.Cost.New
	return l
}

func podsByNode(s *snapshot.Snapshot) map[string]int {
	pods := map[string]int{}
	for i := range s.Pods {
		if pod := &s.Pods[i]; pod.Node != "" && !s.Templates[pod.Template].Daemon {
			pods[pod.Node]++
		}
	}
	return pods
}

// priceOf is what a node costs. Of nodes that no pool made, the catalogue is asked: without a label that says how
// they are paid for, they are on demand.
func priceOf(s *snapshot.Snapshot, n *snapshot.Node) model.Money {
	if n.Price > 0 {
		return n.Price
	}
	kind, zone, way := n.Labels[requirement.KeyInstanceType], n.Labels[requirement.KeyZone], n.Labels[requirement.KeyCapacityType]
	if way == "" {
		way = catalog.OnDemand
	}
	for i := range s.Catalogs {
		for j := range s.Catalogs[i].Types {
			t := &s.Catalogs[i].Types[j]
			if t.Name != kind {
				continue
			}
			for _, o := range t.Offerings {
				if o.Zone == zone && o.CapacityType == way {
					return o.Price
				}
			}
		}
	}
	return 0
}

func (l *Look) purchases(s *snapshot.Snapshot, p *plan.Plan) {
	for i := range p.Claims {
		c := &p.Claims[i]
		bought := Purchase{Price: c.Offer.Price, Text: fmt.Sprintf("would buy %s in %s (%s) of pool %s for %d pods",
			c.Offer.InstanceType, c.Offer.Zone, c.Offer.CapacityType, c.Pool, len(c.Pods))}
		for _, pod := range c.Pods {
			bought.Pods = append(bought.Pods, s.Pods[pod].UID)
		}
		l.Purchases = append(l.Purchases, bought)
		l.Planned = append(l.Planned, bought.Pods...)
	}
	for _, e := range p.Existing {
		for _, pod := range e.Pods {
			l.Planned = append(l.Planned, s.Pods[pod].UID)
		}
	}
}

// removals are those that would begin now. What moves is told with the first node of a disruption.
func (l *Look) removals(p *plan.Plan) {
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		if !d.Now() {
			continue
		}
		for j, n := range d.Nodes {
			gone := Removal{Node: n.Node, Text: fmt.Sprintf("would %s node %s (%s) of pool %s", d.Decision(), n.Node, d.Reason, n.Pool)}
			if j == 0 {
				gone.Evictions = d.Evictions()
			}
			l.GivenUp = append(l.GivenUp, gone)
		}
	}
}
