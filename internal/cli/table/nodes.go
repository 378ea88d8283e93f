package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// manyNodes is from where on nodes are grouped rather than listed one by one.
const manyNodes = 20

// manyRows is how many groups are shown without --explain.
const manyRows = 30

func (t *writer) nodes() {
	claims := t.p.Plan.Claims
	if len(claims) == 0 {
		return
	}
	t.line("%s", t.colored(bold, "New nodes"))
	switch {
	case t.o.Explain:
		t.everyNode(claims)
	case len(claims) <= manyNodes:
		t.nodeRows(claims)
	default:
		t.groupedNodes(claims)
	}
	t.line("")
}

var nodeColumns = []column{
	{title: "NAME", shrinks: true}, {title: "POOL", shrinks: true, spare: 9}, {title: "TYPE", shrinks: true}, {title: "ZONE", shrinks: true}, {title: "CAPACITY"},
	{title: "PRICE/H", right: true}, {title: "CPU", right: true, spare: 6}, {title: "MEMORY", right: true, spare: 7}, {title: "PODS", right: true},
}

func (t *writer) nodeRows(claims []plan.Claim) {
	rows := make([][]string, len(claims))
	for i := range claims {
		rows[i] = nodeRow(&claims[i])
	}
	t.grid(nodeColumns, rows)
}

func nodeRow(c *plan.Claim) []string {
	name := c.Name
	if !c.Now() {
		name += ", later"
	}
	return []string{
		name, c.Pool, c.Offer.InstanceType, c.Offer.Zone, capacityType(c.Offer), price(c.Offer.Price),
		share(c.Requests.CPU, c.Allocatable.CPU), share(c.Requests.Memory, c.Allocatable.Memory), strconv.Itoa(len(c.Pods)),
	}
}

func capacityType(o plan.Offer) string {
	if o.Reservation != "" {
		return o.CapacityType + " " + o.Reservation
	}
	return o.CapacityType
}

// everyNode tells of each node which pods it takes and what else it could be.
func (t *writer) everyNode(claims []plan.Claim) {
	for i := range claims {
		c := &claims[i]
		t.line("%s  %s  %s  %s  %s an hour  cpu %s, memory %s", t.colored(bold, c.Name), c.Offer.InstanceType, c.Offer.Zone, capacityType(c.Offer),
			price(c.Offer.Price), share(c.Requests.CPU, c.Allocatable.CPU), share(c.Requests.Memory, c.Allocatable.Memory))
		if c.Replica {
			t.paragraph(2, plain, "a replica of a static pool, for no pod in particular")
		} else {
			t.paragraph(2, plain, "pods: "+strings.Join(t.podGroups(c.Pods), ", "))
		}
		t.paragraph(2, faint, "could also be: "+alternatives(c))
	}
}

// fewAlternatives are named; the others are counted.
const fewAlternatives = 4

func alternatives(c *plan.Claim) string {
	var first []string
	n := 0
	for o := range c.Alternatives.All() {
		if n < fewAlternatives {
			first = append(first, fmt.Sprintf("%s %s %s %s", o.InstanceType, o.CapacityType, o.Zone, price(o.Price)))
		}
		n++
	}
	if n == 0 {
		return "nothing else"
	}
	text := strings.Join(first, ", ")
	if n > fewAlternatives {
		text += fmt.Sprintf(" and %s more", thousands(n-fewAlternatives))
	}
	return text
}

// podGroups counts pods by the workload that makes them; others are named.
func (t *writer) podGroups(pods []snapshot.PodIndex) []string {
	counts := map[string]int{}
	var names []string
	for _, p := range pods {
		name := t.workload(p)
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name]++
	}
	slices.Sort(names)
	for i, name := range names {
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%d × %s", counts[name], name)
		}
	}
	return names
}

// workload is what people call a pod: its owner with the namespace or, without one, itself.
func (t *writer) workload(pod snapshot.PodIndex) string {
	p := &t.p.Snapshot.Pods[pod]
	owner := t.p.Snapshot.Templates[p.Template].Owner
	if owner == "" {
		return p.Key()
	}
	kind, name, _ := strings.Cut(owner, "/")
	return kind + " " + p.Namespace + "/" + name
}

// nodeGroup is nodes that are bought alike.
type nodeGroup struct {
	pool          string
	offer         plan.Offer
	nodes, pods   int
	price         model.Money
	requested, of model.Resources
}

func (t *writer) groupedNodes(claims []plan.Claim) {
	groups := groupNodes(claims)
	shown := groups[:min(len(groups), manyRows)]
	rows := make([][]string, len(shown))
	for i, g := range shown {
		rows[i] = []string{
			thousands(g.nodes), g.pool, g.offer.InstanceType, g.offer.Zone, capacityType(g.offer), price(g.offer.Price), price(g.price),
			share(g.requested.CPU, g.of.CPU), share(g.requested.Memory, g.of.Memory), thousands(g.pods),
		}
	}
	t.grid([]column{
		{title: "NODES", right: true}, {title: "POOL", shrinks: true, spare: 1}, {title: "TYPE", shrinks: true}, {title: "ZONE", shrinks: true}, {title: "CAPACITY"},
		{title: "EACH/H", right: true, spare: 9}, {title: "PRICE/H", right: true}, {title: "CPU", right: true, spare: 6}, {title: "MEMORY", right: true, spare: 7}, {title: "PODS", right: true},
	}, rows)
	nodes, cost := 0, model.Money(0)
	for _, g := range groups[len(shown):] {
		nodes += g.nodes
		cost += g.price
	}
	if nodes > 0 {
		t.paragraph(0, faint, fmt.Sprintf("and %s of %d other kinds for %s an hour; --explain lists every node", plural(nodes, "node", "nodes"), len(groups)-len(shown), price(cost)))
	}
}

// groupNodes puts the groups that cost most first.
func groupNodes(claims []plan.Claim) []nodeGroup {
	type key struct {
		pool  string
		offer plan.Offer
	}
	at := map[key]int{}
	var groups []nodeGroup
	for i := range claims {
		c := &claims[i]
		k := key{c.Pool, c.Offer}
		n, known := at[k]
		if !known {
			n = len(groups)
			at[k] = n
			groups = append(groups, nodeGroup{pool: c.Pool, offer: c.Offer})
		}
		g := &groups[n]
		g.nodes++
		g.pods += len(c.Pods)
		g.price += c.Offer.Price
		g.requested, g.of = g.requested.Add(c.Requests), g.of.Add(c.Allocatable)
	}
	slices.SortFunc(groups, func(a, b nodeGroup) int {
		return cmp.Or(
			cmp.Compare(b.price, a.price), strings.Compare(a.pool, b.pool), strings.Compare(a.offer.InstanceType, b.offer.InstanceType),
			strings.Compare(a.offer.Zone, b.offer.Zone), strings.Compare(a.offer.CapacityType, b.offer.CapacityType), strings.Compare(a.offer.Reservation, b.offer.Reservation),
		)
	})
	return groups
}

func share(part, whole int64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// price has more digits when it is small.
func price(m model.Money) string {
	if m >= 10*model.Unit {
		return fmt.Sprintf("%.2f", m.Float())
	}
	return fmt.Sprintf("%.4f", m.Float())
}
