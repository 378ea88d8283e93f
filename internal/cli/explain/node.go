package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// node answers why a node is still here, what will be done with it, and when.
func (e *explainer) node(kind, name string) error {
	var names []string
	for i := range e.s.Nodes {
		n := &e.s.Nodes[i]
		own := n.Name
		if kind == "nodeclaim" {
			own = n.Claim
		}
		if own == name {
			e.aboutNode(n)
			return nil
		}
		if own != "" {
			names = append(names, own)
		}
	}
	return notFound(kind, name, names)
}

func (e *explainer) aboutNode(n *snapshot.Node) {
	e.a.say("node", "%s", e.describe(n))
	if e.prospect(n); e.a.State == "" {
		e.a.State = "Unknown"
	}
	e.interventions("node/"+n.Name, "nodeclaim/"+n.Claim)
	pods, used := 0, model.Resources{}
	for i := range e.s.Pods {
		if p := &e.s.Pods[i]; p.Node == n.Name {
			pods++
			used = used.Add(e.s.Templates[p.Template].Requests)
		}
	}
	e.a.say("use", "%s; cpu %s of %s, memory %s of %s requested", plural(pods, "pod", "pods"),
		reason.Quantity(model.CPU, used.CPU), reason.Quantity(model.CPU, n.Allocatable.CPU),
		reason.Quantity(model.Memory, used.Memory), reason.Quantity(model.Memory, n.Allocatable.Memory))
	if !n.Life.Quiet.IsZero() {
		e.a.say("quiet", "no pod has come or gone since %s", n.Life.Quiet.UTC().Format(time.RFC3339))
	}
	if !n.Life.Expires.IsZero() {
		e.a.say("expires", "it is deleted at %s in any case", n.Life.Expires.UTC().Format(time.RFC3339))
	}
	for i := range e.p.Plan.Existing {
		if x := &e.p.Plan.Existing[i]; x.Node == n.Name {
			e.a.say("takes", "%s their place here", plural(len(x.Pods), "more pod has", "more pods have"))
		}
	}
	cause := reason.Cause{}
	if at := slices.IndexFunc(e.p.Plan.Prospects, func(o plan.Prospect) bool { return o.Node == n.Name }); at >= 0 {
		cause = e.p.Plan.Prospects[at].Cause
	}
	e.holds(n, &cause)
}

// prospect says what the plan does with a node.
func (e *explainer) prospect(n *snapshot.Node) {
	at := slices.IndexFunc(e.p.Plan.Prospects, func(o plan.Prospect) bool { return o.Node == n.Name })
	if at < 0 {
		return
	}
	o := &e.p.Plan.Prospects[at]
	if e.a.State == "" {
		e.a.State, e.a.Code = string(o.Kind), string(o.Cause.Code)
	}
	if o.Kind != plan.Chosen {
		text := o.Cause.Text()
		if o.Reason != "" {
			text = fmt.Sprintf("%s; it would go as %s", text, o.Reason)
		}
		e.a.say("stays", "%s%s", text, until(o.Until))
		switch {
		case n.Life.Drifted != "" && n.Life.Since.IsZero():
			e.a.say("drifted", "%s", n.Life.Drifted)
		case n.Life.Drifted != "":
			e.a.say("drifted", "%s, since %s", n.Life.Drifted, n.Life.Since.UTC().Format(time.RFC3339))
		}
		return
	}
	d := &e.p.Plan.Disruptions[o.Disruption]
	text := fmt.Sprintf("%s as %s, together with %s: %s, saves %s an hour", d.Decision(), d.Reason,
		plural(len(d.Nodes)-1, "other node", "other nodes"), plural(d.Evictions(), "eviction", "evictions"), d.Savings)
	for i := range d.Replacements {
		c := &d.Replacements[i]
		text += fmt.Sprintf("; replaced by %s %s in %s, %s an hour", c.Offer.InstanceType, c.Offer.CapacityType, c.Offer.Zone, c.Offer.Price)
	}
	e.a.say("goes", "%s", text)
	if !d.Now() {
		e.a.say("when", "later: %s%s", d.Delay.Code, until(d.Delay.Until))
	}
}

// pool answers what a pool has, what it may still buy, and what keeps its nodes.
func (e *explainer) pool(name string) error {
	var names []string
	for i := range e.s.Pools {
		if p := &e.s.Pools[i]; p.Name == name {
			e.aboutPool(p)
			return nil
		}
		names = append(names, e.s.Pools[i].Name)
	}
	return notFound("nodepool", name, names)
}

func (e *explainer) aboutPool(p *snapshot.Pool) {
	e.a.State = "Ready"
	if !p.MayLaunch() {
		e.a.State, e.a.Code = "Unready", string(reason.PoolNotReady)
		e.a.say("why", "nothing is bought from it: %s", p.Unready.Text())
	}
	object := "nodepool/" + p.Name
	if _, group := snapshot.NodeGroup(p.Name); group {
		object = p.Name // which has the kind in it
	}
	e.interventions(object)
	nodes, price, use := 0, model.Money(0), model.Resources{}
	for i := range e.s.Nodes {
		if n := &e.s.Nodes[i]; n.Pool == p.Name {
			nodes++
			price += n.Price
			if n.Counts() {
				use = use.Add(n.Capacity)
			}
		}
	}
	e.a.say("nodes", "%d, %s an hour", nodes, price)
	for _, limit := range p.Limits {
		have := use.Get(limit.Name)
		if limit.Name == "nodes" {
			have = int64(nodes)
		}
		e.a.say("limit", "%s: %s of %s are used", limit.Name, reason.Quantity(limit.Name, have), reason.Quantity(limit.Name, limit.Value))
	}
	bought := 0
	for i := range e.p.Plan.Claims {
		if c := &e.p.Plan.Claims[i]; c.Pool == p.Name {
			bought++
		}
	}
	e.a.say("buys", "%s now; it offers %s", plural(bought, "new node", "new nodes"), plural(len(e.s.Catalogs[p.Catalog].Types), "instance type", "instance types"))
	allowed := p.Consolidation.Allowed
	e.a.say("budgets", "nodes that may go at a time: %s empty, %s drifted, %s underutilised", number(allowed.Empty), number(allowed.Drifted), number(allowed.Underutilized))
	e.keeps(p)
	for _, c := range e.p.RuleCosts.Costs {
		if c.Rule.Pool == p.Name {
			e.rule(&c)
		}
	}
}

// keeps says what keeps the pool's nodes, those alike together.
func (e *explainer) keeps(p *snapshot.Pool) {
	alike := map[string][]*plan.Prospect{}
	for i := range e.p.Plan.Prospects {
		if o := &e.p.Plan.Prospects[i]; o.Pool == p.Name {
			what := string(o.Kind) + " " + string(o.Cause.Code)
			alike[what] = append(alike[what], o)
		}
	}
	for _, what := range order.Keys(alike) {
		e.a.say("stay or go", "%s", outcome(alike[what]))
	}
}

// outcome is what becomes of nodes, and why. Where the words differ from node to node, it has those of the first.
func outcome(alike []*plan.Prospect) string {
	first := alike[0]
	text := plural(len(alike), "node "+verbs[first.Kind][0], "nodes "+verbs[first.Kind][1])
	why := because(first)
	if slices.ContainsFunc(alike, func(o *plan.Prospect) bool { return because(o) != why }) {
		text += ", such as " + cmp.Or(first.Node, first.Claim)
	}
	return text + ": " + why
}

// verbs say what becomes of one node and of several.
var verbs = map[plan.Kind][2]string{
	plan.Blocked: {"may not be disrupted", "may not be disrupted"},
	plan.Kept:    {"stays", "stay"},
	plan.Waiting: {"waits", "wait"},
	plan.Chosen:  {"goes", "go"},
}

func because(o *plan.Prospect) string {
	if o.Kind == plan.Chosen {
		return string(o.Reason)
	}
	return o.Cause.Text()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func number(n int) string {
	if n == snapshot.Unlimited {
		return "any number of"
	}
	return fmt.Sprint(n)
}
