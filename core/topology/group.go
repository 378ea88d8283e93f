// Package topology holds the rules between pods: topology spread, pod affinity and
// anti-affinity, on hosts and on every other label key.
//
// Every such rule counts some pods in some domain. A Group is "these pods, counted over
// the values of this key"; the Registry numbers the groups, so that a rule becomes a
// group number with a bound. On hostname a rule is a cap on what one node may hold and
// core/pack checks it node by node. On other keys the Assigner chooses domains for pods
// before they are packed, so that the finished plan keeps every rule however the pods
// arrive.
//
//	counts.go, existing.go                   how many pods are in a domain; they know no rule
//	spread.go, antiaffinity.go, affinity.go  a rule each: what it asks of counts
//	assign.go, choose.go, follow.go          which domain each pod is told
package topology

import (
	"slices"
	"strconv"
	"strings"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// Group is a set of pods that some rule counts over the domains of a key.
type Group struct {
	Key        string
	Namespaces []string // sorted
	Selector   model.Selector
	// Filter is set for spreads: only pods on nodes that it admits are counted.
	Filter *Filter
}

// HostGroup is the place of a group over hostname in Registry.HostGroups.
type HostGroup int32

// DomainGroup is the place of a group over another key in Registry.Groups.
type DomainGroup int32

// numbered is the place of a group in one of the two lists.
type numbered interface{ HostGroup | DomainGroup }

// table numbers groups and finds those that count a pod.
type table[G numbered] struct {
	Groups []Group
	ids    map[string]G
	// byLabel finds groups whose selector asks for one of some values of a label;
	// others are tried one by one.
	byLabel map[labelValue][]G
	others  []G
}

type labelValue struct{ key, value string }

func newTable[G numbered]() table[G] {
	return table[G]{ids: map[string]G{}, byLabel: map[labelValue][]G{}}
}

func (t *table[G]) id(g Group) G {
	key := g.text()
	if id, ok := t.ids[key]; ok {
		return id
	}
	id := G(len(t.Groups))
	t.ids[key] = id
	t.Groups = append(t.Groups, g)
	t.index(id, g.Selector)
	return id
}

func (t *table[G]) index(id G, s model.Selector) {
	for _, e := range s.Expressions {
		if e.Operator == "In" {
			for _, v := range e.Values {
				t.byLabel[labelValue{e.Key, v}] = append(t.byLabel[labelValue{e.Key, v}], id)
			}
			return
		}
	}
	if s.All || len(s.Expressions) > 0 {
		t.others = append(t.others, id)
	}
}

// counting lists, ascending, the groups that count pods of the template.
func (t *table[G]) counting(tpl *snapshot.Template) []G {
	var out []G
	try := func(ids []G) {
		for _, id := range ids {
			if t.Groups[id].Counts(tpl.Namespace, tpl.Labels) {
				out = append(out, id)
			}
		}
	}
	for key, value := range tpl.Labels { // in any order: what is found is sorted
		try(t.byLabel[labelValue{key, value}])
	}
	try(t.others)
	slices.Sort(out)
	return slices.Compact(out)
}

// Counts reports whether a pod with these labels is one of the group.
func (g *Group) Counts(namespace string, labels map[string]string) bool {
	if _, ok := slices.BinarySearch(g.Namespaces, namespace); !ok {
		return false
	}
	return g.Selector.Matches(labels)
}

// text tells groups apart.
func (g *Group) text() string {
	var b strings.Builder
	b.WriteString(strconv.Quote(g.Key))
	for _, ns := range g.Namespaces {
		b.WriteString("," + ns)
	}
	b.WriteString(selectorText(g.Selector))
	if g.Filter != nil {
		b.WriteString("|" + strconv.FormatBool(g.Filter.Affinity) + strconv.FormatBool(g.Filter.Taints) + g.Filter.Of.Key)
	}
	return b.String()
}

func selectorText(s model.Selector) string {
	if len(s.Expressions) == 0 {
		return "|" + strconv.FormatBool(s.All)
	}
	parts := make([]string, len(s.Expressions))
	for i, e := range s.Expressions {
		parts[i] = strconv.Quote(e.Key) + e.Operator
		for _, v := range e.Values {
			parts[i] += "," + strconv.Quote(v)
		}
	}
	slices.Sort(parts) // the order of conditions does not matter
	return "|" + strings.Join(slices.Compact(parts), "&")
}
