// Package apply computes what a cluster looks like once a plan has been carried out, so that tests can
// make decisions in a row without a cluster: do they settle, and what do they cost on the way? It is for
// tests and benchmarks; nothing in the product may depend on it.
package apply

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Count holds what it took to carry a plan out.
type Count struct {
	Evictions, Removed, Bought int
}

// Of returns the snapshot after its plan, at a later time. Every pod is where the plan puts it; moved
// pods are new ones, like those that controllers make again. Series distinguishes the names of nodes
// bought now from those of earlier plans.
func Of(s *snapshot.Snapshot, p *plan.Plan, later time.Duration, series int) (*snapshot.Snapshot, Count) {
	f := &applier{s: s, count: Count{}, series: series}
	out := *s
	f.out = &out
	out.Now = s.Now.Add(later)
	out.Pods = append([]snapshot.Pod(nil), s.Pods...)
	gone := map[string]bool{}
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		for _, r := range d.Nodes {
			gone[r.Node] = true
		}
		f.count.Evictions += d.Evictions()
	}
	f.count.Removed = len(gone)
	out.Nodes = nil
	for i := range s.Nodes {
		if !gone[s.Nodes[i].Name] && !s.Nodes[i].Leaving {
			out.Nodes = append(out.Nodes, s.Nodes[i])
		}
	}
	f.settle(p.Claims, p.Existing, false)
	for i := range p.Disruptions {
		f.settle(p.Disruptions[i].Replacements, p.Disruptions[i].Moves, true)
	}
	for i := range out.Pods {
		if gone[out.Pods[i].Node] { // daemons, and pods that do not come back
			out.Pods[i].Terminating = true
		}
	}
	f.dropGone(gone)
	return &out, f.count
}

type applier struct {
	s, out *snapshot.Snapshot
	count  Count
	series int
}

func (f *applier) settle(claims []plan.Claim, existing []plan.Placement, rearranged bool) {
	for i := range claims {
		n := f.newNode(&claims[i])
		if rearranged {
			n.Life.Rearranged = []time.Time{f.out.Now}
		}
		f.out.Nodes = append(f.out.Nodes, n)
		f.put(claims[i].Pods, n.Name)
	}
	for _, e := range existing {
		f.put(e.Pods, e.Node)
		for i := range f.out.Nodes {
			if n := &f.out.Nodes[i]; n.Name == e.Node {
				n.Life.Quiet = f.out.Now
				if rearranged {
					n.Life.Rearranged = append(slices.Clip(n.Life.Rearranged), f.out.Now)
				}
			}
		}
	}
}

func (f *applier) put(pods []snapshot.PodIndex, node string) {
	for _, p := range pods {
		pod := &f.out.Pods[p]
		pod.Node, pod.Pending, pod.Movable, pod.Created = node, false, false, f.out.Now
		pod.Tie.Returns, pod.Tie.Asked = true, true
		if pod.Tie.Cost == 0 {
			pod.Tie.Cost = snapshot.OrdinaryCost
		}
	}
}

// newNode returns the node that a claim leads to if the cloud chooses its cheapest offer.
func (f *applier) newNode(c *plan.Claim) snapshot.Node {
	name := c.Name + "-" + strconv.Itoa(f.series)
	labels := maps.Clone(c.Labels)
	labels[requirement.KeyHostname] = name
	f.count.Bought++
	return snapshot.Node{
		Name: name, Claim: name, Pool: c.Pool, Labels: labels, Taints: c.Taints,
		Capacity: c.Capacity, Allocatable: c.Allocatable, Initialized: true,
		InstanceType: c.Offer.InstanceType, Zone: c.Offer.Zone, CapacityType: c.Offer.CapacityType, Reservation: c.Offer.Reservation,
		Price: c.Offer.Price, Created: f.out.Now,
		Life: snapshot.Life{Quiet: f.out.Now},
	}
}

// dropGone removes pods of nodes that are gone.
func (f *applier) dropGone(gone map[string]bool) {
	kept := f.out.Pods[:0:0]
	for _, p := range f.out.Pods {
		if !gone[p.Node] {
			kept = append(kept, p)
		}
	}
	f.out.Pods = kept
}

// Price returns what all nodes of pools cost an hour.
func Price(s *snapshot.Snapshot) float64 {
	sum := 0.0
	for i := range s.Nodes {
		if s.Nodes[i].Pool != "" {
			sum += s.Nodes[i].Price.Float()
		}
	}
	return sum
}
