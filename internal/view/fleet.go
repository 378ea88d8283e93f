package view

import (
	"cmp"
	"slices"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/cost"
)

// Fleet returns the current picture. Nodes that did not change since the last picture are the same
// values.
func (s *State) Fleet() *Fleet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.picture()
}

func (s *State) picture() *Fleet {
	if s.made != nil && s.made.Revision == s.revision {
		return s.made
	}
	f := &Fleet{Revision: s.revision, Managed: s.managed, Published: s.published, Notices: s.notices()}
	f.Nodes = s.all()
	if covered := cover(s.plans, f.Nodes); !slices.Equal(covered.parts, s.covered.parts) {
		s.covered = covered
		for key, n := range s.built {
			if slices.ContainsFunc(s.plans, func(p SavingsPlan) bool { return p.covers(n) }) {
				delete(s.built, key)
			}
		}
		f.Nodes = s.all()
	} else {
		s.covered = covered
	}
	f.Total = Sum(f.Nodes)
	f.Pools = s.grouped(f.Nodes)
	f.Currency, f.Discounts = s.pricedIn(f.Nodes), s.paidText()
	f.Pending = s.pending()
	s.made = f
	return f
}

// all builds the nodes, and the claims that have none yet.
func (s *State) all() []*Node {
	var out []*Node
	claimed := map[string]*Node{}
	for _, name := range order.Keys(s.claims) {
		claim := s.claims[name]
		if claim.Name == "" || s.nodes[claim.Name] == nil {
			out = append(out, s.build(claimKey(name), nil, claim))
			continue
		}
		claimed[claim.Name] = claim
	}
	for _, name := range order.Keys(s.nodes) {
		out = append(out, s.build(name, s.nodes[name], claimed[name]))
	}
	slices.SortFunc(out, compareNodes)
	return out
}

func (s *State) pricedIn(nodes []*Node) string {
	if s.currency == nil {
		return ""
	}
	for _, n := range nodes {
		if n.Region != "" {
			return s.currency(n.Region)
		}
	}
	return s.currency("")
}

// build joins a node, its claim and its pods.
func (s *State) build(key string, node, claim *Node) *Node {
	if done := s.built[key]; done != nil {
		return done
	}
	n := join(node, claim)
	if node != nil {
		for _, p := range s.at[node.Name] {
			own := *p
			n.Pods = append(n.Pods, &own)
		}
	}
	n.list, n.Source = s.book.price(n)
	n.Price = s.paid(n)
	n.Used = s.used[n.Name]
	n.sum()
	s.built[key] = n
	return n
}

// share divides the price among the pods.
func (n *Node) share() {
	requests := make([]model.Resources, len(n.Pods))
	for i, p := range n.Pods {
		requests[i] = p.Requests
	}
	var parts []model.Money
	parts, n.Idle = cost.Divide(n.Price, n.Allocatable, requests)
	for i, p := range n.Pods {
		if p.Cost = parts[i]; p.Daemon {
			n.Overhead += p.Cost
		}
	}
}

func (t *Total) add(n *Node) {
	t.Nodes++
	if n.Phase == Ready {
		t.Ready++
	}
	t.Pods += len(n.Pods)
	t.Price += n.Price
	t.Idle += n.Idle
	t.Overhead += n.Overhead
	if n.Source == Unpriced {
		t.Unpriced++
	}
	if n.Verdict.Word == "Blocked" {
		t.Blocked++
	}
	if n.Leaving() {
		t.Leaving++
	}
	t.Allocatable, t.Requested, t.Daemons = t.Allocatable.Add(n.Allocatable), t.Requested.Add(n.Requested), t.Daemons.Add(n.Daemons)
	if !n.Used.IsZero() {
		t.Used, t.Measured = t.Used.Add(n.Used), t.Measured.Add(n.Allocatable)
	}
}

// Sum sums up some nodes.
func Sum(nodes []*Node) Total {
	var t Total
	for _, n := range nodes {
		t.add(n)
	}
	return t
}

// grouped returns all pools, including those without nodes, and groups that are known only from their
// nodes.
func (s *State) grouped(nodes []*Node) []*Pool {
	known := make(map[string]*Pool, len(s.pools)+len(s.groups))
	for name, p := range s.pools {
		known["NodePool/"+name] = p
	}
	for name, p := range s.groups {
		known["NodeGroup/"+name] = p
	}
	return groupedIn(known, nodes)
}

func (s *State) pending() []*Pod {
	var out []*Pod
	for _, p := range s.waiting {
		if p.Ending {
			continue
		}
		own := *p
		t := s.told[p.Key()]
		switch {
		case t.ours.Message != "" && !t.ours.At.Before(p.Created):
			own.Why, own.Teller = t.ours.Message, "node autoscaler"
		case t.theirs.Message != "" && !t.theirs.At.Before(p.Created):
			own.Why, own.Teller = t.theirs.Message, "scheduler"
		}
		out = append(out, &own)
	}
	slices.SortFunc(out, func(a, b *Pod) int { return cmp.Or(a.Created.Compare(b.Created), comparePods(a, b)) })
	return out
}

// Where returns the fleet with only the nodes that satisfy a test. Pending pods stay.
func (f *Fleet) Where(in func(*Node) bool) *Fleet {
	out := *f
	out.Nodes, out.Total, out.Pools = nil, Total{}, nil
	for _, p := range f.Pools {
		own := *p
		own.Nodes, own.Total = nil, Total{}
		for _, n := range p.Nodes {
			if in(n) {
				own.Nodes = append(own.Nodes, n)
				own.Total.add(n)
			}
		}
		if len(own.Nodes) > 0 {
			out.Pools = append(out.Pools, &own)
		}
	}
	for _, n := range f.Nodes {
		if in(n) {
			out.Nodes = append(out.Nodes, n)
			out.Total.add(n)
		}
	}
	return &out
}
