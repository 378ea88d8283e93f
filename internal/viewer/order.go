package viewer

import (
	"cmp"
	"strings"

	"tenon/internal/view"
)

// startingSort reads COLUMN=asc or COLUMN=dsc; it also accepts eks-node-viewer's names of columns.
func startingSort(o Options) (by string, down bool) {
	by, direction, _ := strings.Cut(cmp.Or(o.Sort, "NAME=asc"), "=")
	down = direction != "asc"
	switch by {
	case "creation", "eks-node-viewer/node-age":
		return "AGE", !down // the newest have the least age
	}
	return by, down
}

// compare orders two nodes by a column, or by a label. Numbers in labels count as numbers.
func (m *Model) compare(by string, a, b *view.Node) int {
	switch by {
	case "NAME":
		return natural(a.Name, b.Name)
	case "PODS":
		return cmp.Compare(len(a.Pods), len(b.Pods))
	case "TYPE":
		return strings.Compare(a.Type, b.Type)
	case "CAPACITY":
		return strings.Compare(a.CapacityType, b.CapacityType)
	case "ZONE":
		return strings.Compare(a.Zone, b.Zone)
	case "PRICE/H", "MONTH":
		return cmp.Compare(a.Price, b.Price)
	case "AGE":
		return b.Created.Compare(a.Created)
	case "STATE":
		return strings.Compare(m.state(a), m.state(b))
	case "DISRUPTION":
		return strings.Compare(verdict(a), verdict(b))
	}
	for _, resource := range m.options.Resources {
		if strings.EqualFold(by, resource) {
			return cmp.Compare(view.Use(a.Requested, a.Allocatable, resource), view.Use(b.Requested, b.Allocatable, resource))
		}
		if strings.EqualFold(by, resource+usedSuffix) {
			return cmp.Compare(view.Use(a.Used, a.Allocatable, resource), view.Use(b.Used, b.Allocatable, resource))
		}
	}
	return natural(m.label(a, by), m.label(b, by))
}

// natural orders texts that contain numbers as people do: n9 comes before n10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if order := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); order != 0 {
				return order
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}
