package expand

import (
	"maps"
	"math"
	"slices"

	"tenon/core/model"
)

// Size is the size of a group among which nodes are distributed.
type Size struct {
	Group       string
	Target, Max int64
}

// Balance distributes nodes, one at a time to the smallest group that may grow, the first of equal ones. It returns by how
// many each group grows, and how many nodes no group can take.
func Balance(groups []Size, nodes int64) (more map[string]int64, rest int64) {
	more, sizes := map[string]int64{}, slices.Clone(groups)
	for ; nodes > 0; nodes-- {
		smallest := -1
		for i := range sizes {
			if sizes[i].Target < sizes[i].Max && (smallest < 0 || sizes[i].Target < sizes[smallest].Target) {
				smallest = i
			}
		}
		if smallest < 0 {
			return more, nodes
		}
		sizes[smallest].Target++
		more[sizes[smallest].Group]++
	}
	return more, 0
}

// Likeness says when groups are alike.
type Likeness struct {
	// Ignored labels may differ. If Labels is not empty, groups are alike if their values of these labels are the same, and
	// only then.
	Ignored func(label string) bool
	Labels  []string
	// Memory, Allocatable and Free are by how much the larger amount may exceed the smaller, as a fraction of the
	// larger.
	Memory, Allocatable, Free float64
}

// Sample describes a node of a group; Free is what daemons leave of the allocatable resources.
type Sample struct {
	Labels                      map[string]string
	Capacity, Allocatable, Free model.Resources
}

// Alike reports whether groups with these nodes may stand in for each other.
func (l Likeness) Alike(a, b Sample) bool {
	if len(l.Labels) > 0 {
		return !slices.ContainsFunc(l.Labels, func(key string) bool {
			x, hasX := a.Labels[key]
			y, hasY := b.Labels[key]
			return x != y || !hasX || !hasY
		})
	}
	for name, exact := range amountsOf(a.Capacity, b.Capacity) {
		x, y := a.Capacity.Get(name), b.Capacity.Get(name)
		if name == model.Memory && !near(x, y, l.Memory) || name != model.Memory && exact {
			return false
		}
	}
	return alike(a.Allocatable, b.Allocatable, l.Allocatable) && alike(a.Free, b.Free, l.Free) && maps.Equal(l.told(a.Labels), l.told(b.Labels))
}

// amountsOf says for each resource in either of two vectors whether its amounts differ.
func amountsOf(a, b model.Resources) map[string]bool {
	differ := map[string]bool{}
	for _, amount := range slices.Concat(a.Amounts(), b.Amounts()) {
		differ[amount.Name] = a.Get(amount.Name) != b.Get(amount.Name)
	}
	return differ
}

func alike(a, b model.Resources, ratio float64) bool {
	for name := range amountsOf(a, b) {
		if !near(a.Get(name), b.Get(name), ratio) {
			return false
		}
	}
	return true
}

func near(a, b int64, ratio float64) bool {
	return math.Abs(float64(a)-float64(b)) <= float64(ratio*float64(max(a, b)))
}

// told are the labels that distinguish groups.
func (l Likeness) told(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(key, _ string) bool { return l.Ignored != nil && l.Ignored(key) })
	return out
}
