package decide_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// present is when scripts with a line "consolidate" happen.
var present = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// consolidation reads policy=, after= (a duration or Never), and allow= for all reasons or
// allow.Empty= and so on for one.
func (sc *scenario) consolidation(o map[string]string) snapshot.Consolidation {
	after := sc.duration(cmp.Or(o["after"], "0s"))
	out := snapshot.Consolidation{Policy: snapshot.Policy(cmp.Or(o["policy"], string(snapshot.WhenEmptyOrUnderutilized))), After: &after}
	if o["after"] == "Never" {
		out.After = nil
	}
	allow := func(reason plan.Reason) int {
		return int(sc.integer(cmp.Or(o["allow."+string(reason)], o["allow"], "1000")))
	}
	out.DeleteFirst = o["atLimit"] == "DeleteFirst"
	out.Allowed = snapshot.Allowance{Empty: allow(plan.Empty), Drifted: allow(plan.Drifted), Underutilized: allow(plan.Underutilized)}
	if o["pace"] != "" {
		out.Pace = &snapshot.Pace{More: int(sc.integer(o["pace"])), Rollout: reason.Rollout{Pool: "default", Phase: reason.RolloutGoesOn, Width: 1}}
	}
	out.Caution = int(sc.integer(cmp.Or(o["caution"], "0")))
	return out
}

func (sc *scenario) duration(text string) time.Duration {
	if text == "Never" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		sc.t.Fatal(err)
	}
	return d
}

// used is a node of a pool that was bought as type=, capacity=; drifted=, quiet=, held=yes
// and bounded=yes say what matters when it may be given up.
func (sc *scenario) used(n *snapshot.Node, o map[string]string) {
	if o["type"] == "" {
		return
	}
	at := slices.IndexFunc(sc.types, func(t map[string]string) bool { return t["name"] == o["type"] })
	n.Claim, n.Pool = n.Name, cmp.Or(o["pool"], "default")
	n.InstanceType, n.Zone = o["type"], n.Labels[requirement.KeyZone]
	n.CapacityType = cmp.Or(o["capacity"], catalog.OnDemand)
	n.Capacity = sc.resources(sc.types[at])
	if n.Capacity.Pods == 0 {
		n.Capacity.Pods = 110
	}
	n.Allocatable = n.Capacity
	n.Price = sc.money(sc.types[at][map[string]string{catalog.OnDemand: "price", catalog.Spot: "spot"}[n.CapacityType]])
	for i := range sc.s.Pools { // those above the node
		if sc.s.Pools[i].Name == n.Pool {
			n.Price += sc.s.Pools[i].NodePrice
		}
	}
	n.Labels[requirement.KeyCapacityType], n.Labels[requirement.KeyInstanceType] = n.CapacityType, n.InstanceType
	n.Labels[requirement.KeyNodePool], n.Labels[requirement.KeyArch] = n.Pool, "amd64"
	n.Life = snapshot.Life{Quiet: present.Add(-sc.duration(cmp.Or(o["quiet"], "100h"))), Protected: o["held"] != "", Bounded: o["bounded"] != ""}
	if o["drifted"] != "" {
		n.Life.Drifted, n.Life.Since = "NodePoolDrifted", present.Add(-sc.duration(o["drifted"]))
	}
}

// tie reads held=yes (do-not-disrupt), budget=name, and cost= in hundredths of a pod's.
func (sc *scenario) tie(o map[string]string) snapshot.Tie {
	if o["on"] == "" {
		return snapshot.Tie{}
	}
	cost := sc.integer(cmp.Or(o["cost"], "100"))
	return snapshot.Tie{Returns: true, Asked: true, Protected: o["held"] != "", Budgets: strings.Fields(o["budget"]), Cost: cost * snapshot.OrdinaryCost / 100}
}

// budget is a PodDisruptionBudget: its name and what it allows.
func (sc *scenario) budget(words []string) {
	allowed := sc.integer(sc.options(words[1:])["allowed"])
	sc.s.Budgets = append(sc.s.Budgets, snapshot.Budget{Namespace: "default", Name: words[0], Allowed: int32(allowed), Never: allowed == 0})
}

// renderFleet writes what is given up, and what is in store for the other nodes.
func renderFleet(s *snapshot.Snapshot, p *plan.Plan) string {
	var b strings.Builder
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		var nodes []string
		for _, r := range d.Nodes {
			nodes = append(nodes, r.Node)
		}
		fmt.Fprintf(&b, "\n%s %s %s saves %s", d.Decision(), strings.Join(nodes, " "), d.Reason, d.Savings)
		for _, c := range d.Replacements {
			fmt.Fprintf(&b, "\n  launch %s %s %s or %d others: %s", c.Name, c.Offer.InstanceType, c.Offer.CapacityType, c.Alternatives.Len(), pods(s, c.Pods))
		}
		for _, m := range d.Moves {
			fmt.Fprintf(&b, "\n  move to %s: %s", m.Node, pods(s, m.Pods))
		}
	}
	for _, o := range p.Prospects {
		if o.Kind != plan.Chosen {
			fmt.Fprintf(&b, "\n%s %s %s", strings.ToLower(string(o.Kind)), o.Node, o.Cause.Text())
		}
	}
	return b.String()
}
