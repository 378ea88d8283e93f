// Package whatif changes a copy of a snapshot as a user asks to try: objects are added, replaced or
// taken out, workloads get other numbers of replicas, spot nodes of a zone are interrupted. A plan for
// the copy beside one for the original tells what the change would do. The package decides nothing, and
// never changes the snapshot that it is given.
package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/core/catalog"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// Trial is what is to be tried. The zero value changes nothing.
type Trial struct {
	// With are objects that are added, or replace those of the same name.
	With *ingest.Objects
	// Without are objects that are taken out.
	Without []Object
	Scales  []Scale
	// Interrupted are zones whose spot nodes are taken away, and sold no more.
	Interrupted []string
	// Around are the objects that those of With may refer to, as far as they are known.
	Around *ingest.Objects
	// Options are how objects are read. Its catalogue is asked for pools whose node class no pool of the
	// snapshot has; it may be nil.
	Options ingest.Options
}

// Effect is what a trial did by itself, before any plan.
type Effect struct {
	// Nodes are gone, by name; Pods is how many of their pods want a place elsewhere.
	Nodes []string
	Pods  int
}

// Apply makes a snapshot in which the trial is so.
func (t *Trial) Apply(s *snapshot.Snapshot) (*snapshot.Snapshot, Effect, error) {
	c := &attempt{out: copied(s)}
	for _, o := range t.Without {
		if err := c.without(o); err != nil {
			return nil, Effect{}, err
		}
	}
	if t.With != nil {
		if err := c.with(t, t.With); err != nil {
			return nil, Effect{}, err
		}
	}
	for _, scale := range t.Scales {
		if err := c.scale(t, scale); err != nil {
			return nil, Effect{}, err
		}
	}
	for _, zone := range t.Interrupted {
		if err := c.interrupt(zone); err != nil {
			return nil, Effect{}, err
		}
	}
	slices.SortStableFunc(c.out.Pods, func(a, b snapshot.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return c.out, c.effect, nil
}

// copied shares with the original only what is never written.
func copied(s *snapshot.Snapshot) *snapshot.Snapshot {
	out := *s
	out.Catalogs = slices.Clone(s.Catalogs)
	out.Pools = slices.Clone(s.Pools)
	out.Nodes = slices.Clone(s.Nodes)
	out.Templates = slices.Clone(s.Templates)
	out.Pods = slices.Clone(s.Pods)
	out.Daemons = slices.Clone(s.Daemons)
	out.Budgets = slices.Clone(s.Budgets)
	return &out
}

// attempt is one trial on its way.
type attempt struct {
	out    *snapshot.Snapshot
	effect Effect
}

// lose removes nodes at once, as an interruption does: pods whose controllers make them again want a place,
// and the others are gone.
func (c *attempt) lose(gone func(*snapshot.Node) bool) (lost int) {
	names := map[string]bool{}
	c.out.Nodes = slices.DeleteFunc(c.out.Nodes, func(n snapshot.Node) bool {
		if gone(&n) {
			names[n.Name] = true
			c.effect.Nodes = append(c.effect.Nodes, n.Name)
		}
		return names[n.Name]
	})
	c.out.Pods = slices.DeleteFunc(c.out.Pods, func(p snapshot.Pod) bool {
		return names[p.Node] && (p.Terminating || !p.Tie.Returns || c.out.Templates[p.Template].Daemon)
	})
	for i := range c.out.Pods {
		if p := &c.out.Pods[i]; names[p.Node] {
			*p = anew(p, p.Name)
			c.effect.Pods++
		}
	}
	return len(names)
}

// anew is a copy of a pod that wants a place.
func anew(p *snapshot.Pod, name string) snapshot.Pod {
	refused := p.Refused
	if len(refused) == 0 {
		refused = p.Tie.Refused
	}
	return snapshot.Pod{
		Namespace: p.Namespace, Name: name, Template: p.Template, Created: p.Created, Pending: true, Ends: p.Ends,
		Refused: refused,
	}
}

// interrupt takes the spot nodes of a zone away, and what replaces them must not be spot of that zone.
func (c *attempt) interrupt(zone string) error {
	sold := false
	for i := range c.out.Catalogs {
		types := slices.Clone(c.out.Catalogs[i].Types)
		for k := range types {
			types[k].Offerings = slices.Clone(types[k].Offerings)
			for o := range types[k].Offerings {
				if offering := &types[k].Offerings[o]; offering.Zone == zone && offering.CapacityType == catalog.Spot {
					offering.Available, sold = false, true
				}
			}
		}
		c.out.Catalogs[i] = catalog.Catalog{Types: types}
	}
	lost := c.lose(func(n *snapshot.Node) bool { return n.Zone == zone && n.CapacityType == catalog.Spot })
	if lost == 0 && !sold {
		return fmt.Errorf("zone %s has no spot node, and none is sold there", zone)
	}
	return nil
}

// Anew is the snapshot in which the nodes of pools are gone and their pods want places: a plan for it
// tells what a fleet for the same pods would cost that is bought at once.
func Anew(s *snapshot.Snapshot) *snapshot.Snapshot {
	c := &attempt{out: copied(s)}
	c.lose(func(n *snapshot.Node) bool { return n.Pool != "" })
	return c.out
}

// AnewPool is the snapshot in which the nodes of one pool are gone and their pods want places, beside those that wait
// already. All other nodes stay, and take pods for which they have room.
func AnewPool(s *snapshot.Snapshot, pool string) *snapshot.Snapshot {
	c := &attempt{out: copied(s)}
	c.lose(func(n *snapshot.Node) bool { return n.Pool == pool })
	return c.out
}
