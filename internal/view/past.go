package view

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// Past returns the picture at the time of a recorded decision, from its snapshot and its plan; without a plan nodes have no
// verdicts and pending pods no reasons. Its prices are those that the decision was made with. It has no events.
func Past(s *snapshot.Snapshot, p *plan.Plan, currency string) *Fleet {
	f := &Fleet{Managed: true, Currency: currency}
	verdicts, whys := prospectsOf(p), whysOf(p)
	at := map[string][]*Pod{}
	for i := range s.Pods {
		pod := pastPod(s, &s.Pods[i])
		switch {
		case s.Pods[i].Tie.Virtual:
		case pod.Node != "":
			at[pod.Node] = append(at[pod.Node], pod)
		case !pod.Ending && s.Pods[i].Pending:
			if pod.Why = whys[snapshot.PodIndex(i)]; pod.Why == "" {
				pod.Why = "It has a place in the plan of this decision"
			}
			pod.Teller = "node autoscaler"
			f.Pending = append(f.Pending, pod)
		}
	}
	for i := range s.Nodes {
		n := pastNode(&s.Nodes[i], verdicts[s.Nodes[i].Name])
		n.Pods = at[n.Name]
		n.sum()
		f.Nodes = append(f.Nodes, n)
	}
	slices.SortFunc(f.Nodes, compareNodes)
	slices.SortFunc(f.Pending, func(a, b *Pod) int { return cmp.Or(a.Created.Compare(b.Created), comparePods(a, b)) })
	f.Total = Sum(f.Nodes)
	f.Pools = groupedIn(pastPools(s), f.Nodes)
	return f
}

func compareNodes(a, b *Node) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Claim, b.Claim))
}

// prospectsOf returns what a plan does with each node, by the node's name.
func prospectsOf(p *plan.Plan) map[string]Verdict {
	out := map[string]Verdict{}
	if p == nil {
		return out
	}
	for i := range p.Prospects {
		o := &p.Prospects[i]
		v := Verdict{Word: string(o.Kind), Message: o.Cause.Text()}
		if o.Kind == plan.Chosen {
			v = Verdict{Word: string(o.Reason), Message: "chosen by this decision"}
		}
		out[o.Node] = v
	}
	return out
}

func whysOf(p *plan.Plan) map[snapshot.PodIndex]string {
	out := map[snapshot.PodIndex]string{}
	if p == nil {
		return out
	}
	for _, u := range p.Unplaced {
		out[u.Pod] = u.Verdict.Text()
	}
	return out
}

func pastNode(o *snapshot.Node, verdict Verdict) *Node {
	n := &Node{Name: o.Name, Claim: o.Claim, Created: o.Created, Cordoned: o.Unschedulable, Allocatable: o.Allocatable, Verdict: verdict}
	n.labelled(o.Labels)
	n.Type, n.Zone, n.CapacityType = cmp.Or(o.InstanceType, n.Type), cmp.Or(o.Zone, n.Zone), cmp.Or(o.CapacityType, n.CapacityType)
	if o.Pool != "" {
		n.Pool, n.PoolKind = o.Pool, "NodePool"
		if group, is := snapshot.NodeGroup(o.Pool); is {
			n.Pool, n.PoolKind = group, "NodeGroup"
		}
	}
	switch {
	case o.Life.Terminating:
		n.Phase = Deleting
	case o.Leaving && o.Life.Underway == "":
		n.Phase = Draining
	case o.Life.Unborn:
		n.Phase = Registering
	case o.Life.Unready:
		n.Phase = NotReady
	case o.Initialized || o.Claim == "":
		n.Phase = Ready
	default:
		n.Phase = Initializing
	}
	n.Going = o.Life.Underway
	if o.Price > 0 {
		n.Price, n.Source = o.Price, FromRecord
	}
	return n
}

func pastPod(s *snapshot.Snapshot, o *snapshot.Pod) *Pod {
	t := &s.Templates[o.Template]
	p := &Pod{
		Namespace: o.Namespace, Name: o.Name, Owner: t.Owner, Node: o.Node, Created: o.Created, Requests: t.Requests, Daemon: t.Daemon, Ending: o.Terminating, uid: o.UID, Phase: "Running",
	}
	if o.Node == "" {
		p.Phase = "Pending"
	}
	switch {
	case o.Tie.Protected && o.Tie.Unsafe:
		p.Flags = []string{"not safe-to-evict"}
	case o.Tie.Protected:
		p.Flags = []string{"do-not-disrupt"}
	}
	return p
}

func pastPools(s *snapshot.Snapshot) map[string]*Pool {
	out := map[string]*Pool{}
	for i := range s.Pools {
		o := &s.Pools[i]
		p := &Pool{Name: o.Name, Kind: "NodePool", Object: o.Name, Limits: slices.Clone(o.Limits)}
		if group, is := snapshot.NodeGroup(o.Name); is {
			p.Name, p.Kind, p.Object = group, "NodeGroup", group
		}
		for j := range s.Nodes {
			if n := &s.Nodes[j]; n.Pool == o.Name && n.Counts() {
				p.Has = p.Has.Add(n.Capacity)
			}
		}
		out[o.Name] = p
	}
	return out
}

// sum adds up what the pods request, and divides the price among them.
func (n *Node) sum() {
	slices.SortFunc(n.Pods, comparePods)
	for _, p := range n.Pods {
		n.Requested = n.Requested.Add(p.Requests)
		if p.Daemon {
			n.Daemons = n.Daemons.Add(p.Requests)
		}
	}
	n.share()
}

// groupedIn returns pools with their nodes, by name: the known ones, and those that only nodes name. The nodes without a
// pool come last.
func groupedIn(known map[string]*Pool, nodes []*Node) []*Pool {
	groups := map[string]*Pool{}
	for _, name := range order.Keys(known) {
		own := *known[name]
		groups[own.Name+"\x00"+own.Kind] = &own
	}
	for _, n := range nodes {
		key := n.Pool + "\x00" + n.PoolKind
		if groups[key] == nil {
			groups[key] = &Pool{Name: n.Pool, Kind: n.PoolKind}
		}
		groups[key].Nodes = append(groups[key].Nodes, n)
		groups[key].Total.add(n)
	}
	out := make([]*Pool, 0, len(groups))
	for _, key := range order.Keys(groups) {
		if groups[key].Name != "" {
			out = append(out, groups[key])
		}
	}
	if rest := groups["\x00"]; rest != nil {
		out = append(out, rest)
	}
	return out
}
