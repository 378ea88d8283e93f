// Package shape groups pods that no rule can tell apart, so that every expensive
// question is asked once for a shape and never for a pod.
package shape

import (
	"encoding/binary"
	"slices"
	"strings"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// Shape is a number of pods with the same needs.
type Shape struct {
	// Template represents the pods; others of the shape differ in what no rule sees.
	Template snapshot.TemplateIndex
	// Dropped are the preferences that were given up.
	Dropped feasible.Dropped
	// Pods are indexes into Snapshot.Pods, oldest first.
	Pods     []snapshot.PodIndex
	Priority int32
	Need     []int64
	// Alternatives say where it may go: one must hold.
	Alternatives []*feasible.Places
	Rules        topology.Rules
	Ports        []model.HostPort
	// Attach are the volumes whose driver limits matter on existing nodes.
	Attach []snapshot.Volume
}

// Wish is a template with the preferences that it has given up.
type Wish struct {
	Template snapshot.TemplateIndex
	Dropped  feasible.Dropped
	Pods     []snapshot.PodIndex
}

// Set is the shapes of one decision, with the rules between them.
type Set struct {
	Space    *feasible.Space
	Registry *topology.Registry
	Shapes   []Shape
}

// Compile groups pods into shapes. Wishes come in the order of their first pod.
func Compile(sp *feasible.Space, wishes []Wish) *Set {
	out := &Set{Space: sp, Registry: topology.NewRegistry(), Shapes: make([]Shape, 0, len(wishes))}
	variants := make([]feasible.Variant, len(wishes))
	nodes := make([]topology.Node, len(wishes))
	for i, w := range wishes {
		t := &sp.Snapshot.Templates[w.Template]
		variants[i] = sp.Variant(t, w.Dropped)
		nodes[i] = node(sp, &variants[i])
		out.Registry.Enter(t, &variants[i], nodes[i])
	}
	enterBound(sp, out.Registry)
	index := make(map[string]int, len(wishes))
	ids := placeIDs{}
	for i, w := range wishes {
		s := out.newShape(w, &variants[i], nodes[i])
		key := ids.key(&s)
		if at, ok := index[key]; ok {
			out.Shapes[at].Pods = append(out.Shapes[at].Pods, w.Pods...)
			continue
		}
		index[key] = len(out.Shapes)
		s.Pods = slices.Clone(w.Pods)
		out.Shapes = append(out.Shapes, s)
	}
	for i := range out.Shapes {
		slices.Sort(out.Shapes[i].Pods) // they are numbered by age
	}
	return out
}

func (o *Set) newShape(w Wish, v *feasible.Variant, n topology.Node) Shape {
	t := &o.Space.Snapshot.Templates[w.Template]
	s := Shape{
		Template: w.Template, Dropped: w.Dropped, Priority: t.Priority,
		Need:  o.Space.Vector(t.Requests),
		Rules: o.Registry.Rules(t, v, n),
		Ports: t.HostPorts,

		Alternatives: places(o.Space, v.Alternatives),
	}
	for _, volume := range t.Volumes {
		if volume.Driver != "" {
			s.Attach = append(s.Attach, volume)
		}
	}
	return s
}

// places finds where each alternative leads; the same place is not listed twice.
func places(sp *feasible.Space, askers []feasible.Asker) []*feasible.Places {
	var out []*feasible.Places
	for i := range askers {
		if p := sp.Find(askers[i]); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// node is what a spread's node filter sees of the variant.
func node(sp *feasible.Space, v *feasible.Variant) topology.Node {
	if len(v.Spreads) == 0 {
		return topology.Node{}
	}
	key := ""
	for i := range v.Nodes {
		key += v.Nodes[i].Key() + "\n"
	}
	nodes, keys := v.Nodes, spreadKeys(v)
	if len(keys) > 1 {
		key += strings.Join(keys, "\x00")
	}
	return topology.Node{
		Several: len(keys) > 1,
		Key:     key, Places: places(sp, nodes),
		Find: func(affinity, taints bool) []*feasible.Places { return places(sp, asking(nodes, affinity, taints)) },
		Admits: func(class int, affinity, taints bool) bool {
			if slices.ContainsFunc(keys, func(key string) bool { _, has := sp.ClassLabel(class, key); return !has }) {
				return false
			}
			for i := range nodes {
				if sp.Admits(class, &nodes[i], affinity, taints) {
					return true
				}
			}
			return false
		},
	}
}

// spreadKeys are the keys of the variant's spreads, sorted. To the scheduler a node without
// one of them counts for none. Every node has a hostname.
func spreadKeys(v *feasible.Variant) []string {
	var keys []string
	for i := range v.Spreads {
		if s := &v.Spreads[i]; !s.Soft && s.Key != feasible.HostnameKey {
			keys = append(keys, s.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// asking are the askers with no more rules than a filter's policies look at.
func asking(nodes []feasible.Asker, affinity, taints bool) []feasible.Asker {
	out := slices.Clone(nodes)
	for i := range out {
		if !affinity {
			out[i].Require = requirement.Set{}
		}
		if !taints {
			out[i].Tolerations = []model.Toleration{{Operator: "Exists"}}
		}
	}
	return out
}

// enterBound numbers the groups of running pods' anti-affinity: they keep others away.
func enterBound(sp *feasible.Space, r *topology.Registry) {
	seen := map[snapshot.TemplateIndex]bool{}
	for _, h := range slices.Concat(sp.Hosts, sp.Departing) {
		for _, p := range h.Bound {
			t := sp.Snapshot.Pods[p].Template
			if !seen[t] {
				seen[t] = true
				r.EnterBound(&sp.Snapshot.Templates[t])
			}
		}
	}
}

// placeIDs numbers places, so that keys are short.
type placeIDs map[*feasible.Places]uint64

// key tells shapes apart by everything that a rule sees.
func (ids placeIDs) key(s *Shape) string {
	b := make([]byte, 0, 128)
	put := func(n int64) { b = binary.AppendVarint(b, n) }
	put(int64(s.Priority))
	for _, n := range s.Need {
		put(n)
	}
	for _, p := range s.Alternatives {
		if _, ok := ids[p]; !ok {
			ids[p] = uint64(len(ids))
		}
		put(int64(ids[p]))
	}
	putRules(put, s.Rules.HostCounts, s.Rules.HostCaps, s.Rules.HostNeeds)
	putRules(put, s.Rules.Counts, s.Rules.Caps, s.Rules.Needs)
	put(-4)
	for _, sp := range s.Rules.Spreads {
		put(int64(sp.Group))
		put(int64(sp.MaxSkew))
		put(int64(sp.MinDomains))
		put(flag(sp.Soft))
	}
	for _, p := range s.Ports {
		b = append(b, p.IP+"/"+p.Protocol...)
		put(int64(p.Port))
	}
	for _, v := range s.Attach {
		b = append(b, v.ID+"\x00"+v.Driver...)
	}
	return string(b)
}

// putRules writes the rules over the groups of one list.
func putRules[G topology.HostGroup | topology.DomainGroup](put func(int64), counts []G, caps []topology.Cap[G], needs []topology.Need[G]) {
	put(-1)
	for _, g := range counts {
		put(int64(g))
	}
	put(-2)
	for _, c := range caps {
		put(int64(c.Group))
		put(int64(c.Max))
		put(flag(c.Soft))
	}
	put(-3)
	for _, n := range needs {
		put(int64(n.Group))
		put(flag(n.Soft))
	}
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Narrow is the part of one of the shape's places where the pins hold, or nil when
// there is none.
func (o *Set) Narrow(places *feasible.Places, s *Shape, pins []topology.Pin) *feasible.Places {
	asked := places.Require
	for _, pin := range pins {
		operator := requirement.In
		if len(pin.Values) == 0 {
			operator = requirement.DoesNotExist
		}
		asked = asked.With(requirement.New(pin.Key, operator, pin.Values...))
		if asked.Get(pin.Key).Impossible() {
			return nil
		}
	}
	a := places.Asker
	a.Require = asked
	return o.Space.Find(a)
}
