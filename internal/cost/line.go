package cost

import (
	"cmp"
	"iter"
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

// Names of the lines that do not belong to pods, and of what has no name.
const (
	IdleLine   = "(idle)"
	DaemonLine = "(daemons)"
	NoneLine   = "(none)"
)

// Lines sums parts up by a dimension, the largest first.
func Lines(by Dimension, parts iter.Seq[Part]) []Line {
	sums := map[string]*Line{}
	for part := range parts {
		name, count := part.in(by)
		if part.Kind == Idle && part.Price == 0 && name == IdleLine {
			continue
		}
		name = cmp.Or(name, NoneLine)
		if sums[name] == nil {
			sums[name] = &Line{Name: name}
		}
		sums[name].Price += part.Price
		sums[name].Count += count
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

// in returns the line that a part belongs to, and what it adds to the line's count. The idle part counts its
// node in dimensions of nodes.
func (p *Part) in(by Dimension) (name string, count int) {
	if p.Kind == Idle {
		count = 1
	}
	switch by {
	case ByPool:
		return p.Pool, count
	case ByType:
		return p.Type, count
	case ByZone:
		return p.Zone, count
	case ByCapacityType:
		return p.CapacityType, count
	case ByNamespace, ByOwner:
	}
	switch {
	case p.Kind == Idle:
		return IdleLine, 1
	case p.Kind == Daemons:
		return DaemonLine, 1
	case by == ByNamespace:
		return p.Namespace, 1
	case p.Owner == "":
		return "", 1
	}
	return p.Namespace + "/" + p.Owner, 1
}
