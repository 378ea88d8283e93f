// Package plan holds the result of a decision: the claims to make, the pods that existing nodes take, the
// pods without a place and why, and the price.
//
// A Plan is a value. It never acts: internal/execute carries it out, the CLI prints it.
package plan

import (
	"slices"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Plan is the outcome of one decision. Lists are in a fixed order: the same snapshot
// gives the same plan to the byte.
type Plan struct {
	Claims   []Claim
	Existing []Placement
	Unplaced []Unplaced
	// Held are the pods that nothing is decided about yet; in order.
	Held []Held `json:",omitempty"`
	// Disruptions are the nodes to give up, if the budget asked for them. Prospects has an answer about
	// every node.
	Disruptions []Disruption
	Prospects   []Prospect
	// Rooms are what buffers have, each once, in their order; Spare are the nodes that have to be
	// bought for them, beside all that pods need.
	Rooms []Room
	Spare []Claim
	Cost  Cost
	Solve Solve
}

// Claim is a node to be bought.
type Claim struct {
	Name string // "<pool>-<n>", for reading; the API server chooses the real name
	Pool string
	// Offer is the cheapest that holds the pods; Alternatives are the others that the
	// claim allows, cheapest first.
	Offer        Offer
	Alternatives Offers
	// Requirements are everything that was narrowed while packing, but for the instance
	// types and capacity types that are left: see Narrowed.
	Requirements requirement.Set
	Allocatable  model.Resources // of Offer
	Capacity     model.Resources // of Offer
	// Requests are the pods' plus those of the daemons that will land on Offer.
	Requests      model.Resources
	Labels        map[string]string
	Taints        []model.Taint
	StartupTaints []model.Taint
	// Pods are indexes into Snapshot.Pods, ascending.
	Pods []snapshot.PodIndex
	// MinimumRelaxed says that a minValues was lowered.
	MinimumRelaxed bool
	// Replica says that a static pool lacks the node: it is bought for no pod, asks for
	// what the pool's template asks for, and may be any of the pool's offers.
	Replica bool
	// Spare says that the node has room for pods that a buffer stands for, which are not among
	// its Pods.
	Spare bool
	// Group is set if the node is to be one more instance of a group, by its name in the cloud: no claim is made then, and the
	// group's size is raised. See Increases.
	Group string `json:",omitempty"`
	// Delay is why it is not to be made now.
	Delay Delay `json:",omitzero"`
}

// Reservations are those of which the claim may take an instance: any of them, once it is launched only one.
func (c *Claim) Reservations() []string {
	if c.Offer.CapacityType != catalog.Reserved {
		return nil
	}
	out := []string{c.Offer.Reservation}
	if c.Replica { // it may be anything that its pool sells
		return out
	}
	for o := range c.Alternatives.All() {
		if o.Reservation != "" && !slices.Contains(out, o.Reservation) {
			out = append(out, o.Reservation)
		}
	}
	return out
}

// MostCapacity is, of each resource, what the largest machine has that may be launched for the claim. The types are
// those of its pool.
func (c *Claim) MostCapacity(types []catalog.Type) model.Resources {
	allowed := map[string]bool{c.Offer.InstanceType: true}
	for o := range c.Alternatives.All() {
		allowed[o.InstanceType] = true
	}
	most := c.Capacity
	for i := range types {
		if t := &types[i]; allowed[t.Name] {
			for j := range t.Offerings {
				most = most.Max(t.FullCapacity(&t.Offerings[j]))
			}
		}
	}
	return most
}

// Now reports whether the claim is to be made now.
func (c *Claim) Now() bool { return c.Delay.Code == reason.None }

// Delayed is how many pods the claims are for that wait for a reason.
func (p *Plan) Delayed(why reason.Code) int {
	n := 0
	for i := range p.Claims {
		if c := &p.Claims[i]; c.Delay.Code == why {
			n += len(c.Pods)
		}
	}
	return n
}

// Offer names one offering of one pool's catalogue with its price.
type Offer struct {
	InstanceType string
	Zone         string
	CapacityType string
	Reservation  string
	Price        model.Money
}

// Placement gives pods to an existing node (or to a claim already made).
type Placement struct {
	Node string
	Pods []snapshot.PodIndex // indexes into Snapshot.Pods, ascending
}

// Unplaced is a pod without a place, with the reason for each pool.
type Unplaced struct {
	Pod     snapshot.PodIndex // index into Snapshot.Pods; the list is in this order
	Verdict *reason.Verdict
}

// Held is a pod that will get a place without any being looked for.
type Held struct {
	Pod   snapshot.PodIndex
	Delay Delay
}

// Cost is the price of the claims against what is proven to be the least possible.
type Cost struct {
	New        model.Money
	LowerBound model.Money
}

// Gap is how far the plan may be from the best, relative to the bound.
func (c Cost) Gap() float64 {
	if c.LowerBound == 0 {
		if c.New == 0 {
			return 0
		}
		return 1
	}
	return float64(c.New-c.LowerBound) / float64(c.LowerBound)
}

// Solve counts what was looked at.
type Solve struct {
	Pods   int // that wanted a place
	Shapes int
	Offers int
	Steps  int64 // effort spent
	// Visits is what the search for remedies has cost beside that, in looks at an instance type: some
	// forty steps each.
	Visits int `json:"-"`
}
