package view

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/model"
)

// Line is one part of the fleet's hourly cost.
type Line struct {
	Name  string
	Price model.Money
	// Count is how many nodes or pods the line covers.
	Count int
}

// Dimension says how the cost is divided.
type Dimension string

// The dimensions. Those of pods also have lines for idle capacity and for daemons, so that every
// dimension has the same sum.
const (
	ByPool         Dimension = "pool"
	ByType         Dimension = "type"
	ByZone         Dimension = "zone"
	ByCapacityType Dimension = "capacity type"
	ByNamespace    Dimension = "namespace"
	ByOwner        Dimension = "owner"
)

// Dimensions lists all dimensions, in reading order.
var Dimensions = []Dimension{ByPool, ByCapacityType, ByZone, ByType, ByNamespace, ByOwner}

// Names of the lines that do not belong to pods.
const (
	idleLine   = "(idle)"
	daemonLine = "(daemons)"
	noneLine   = "(none)"
)

// Cost divides the fleet's price into lines, the largest first.
func (f *Fleet) Cost(by Dimension) []Line {
	sums := map[string]*Line{}
	add := func(name string, price model.Money) {
		name = cmp.Or(name, noneLine)
		if sums[name] == nil {
			sums[name] = &Line{Name: name}
		}
		sums[name].Price += price
		sums[name].Count++
	}
	for _, n := range f.Nodes {
		switch by {
		case ByPool:
			add(n.Pool, n.Price)
		case ByType:
			add(n.Type, n.Price)
		case ByZone:
			add(n.Zone, n.Price)
		case ByCapacityType:
			add(n.CapacityType, n.Price)
		case ByNamespace, ByOwner:
			n.divide(by, add)
		}
	}
	out := make([]Line, 0, len(sums))
	for _, line := range sums {
		out = append(out, *line)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Price, a.Price), strings.Compare(a.Name, b.Name))
	})
	return out
}

func (n *Node) divide(by Dimension, add func(string, model.Money)) {
	if n.Idle > 0 {
		add(idleLine, n.Idle)
	}
	for _, p := range n.Pods {
		switch {
		case p.Daemon:
			add(daemonLine, p.Cost)
		case by == ByNamespace:
			add(p.Namespace, p.Cost)
		case p.Owner == "":
			add("", p.Cost)
		default:
			add(p.Namespace+"/"+p.Owner, p.Cost)
		}
	}
}
