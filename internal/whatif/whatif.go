// Package whatif changes a copy of a snapshot as a user asks: objects are added, replaced or removed,
// workloads get other numbers of replicas, spot nodes of a zone are interrupted. A plan for the copy
// beside one for the original shows the effect of the change. The package decides nothing, and never
// changes the given snapshot.
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

// Trial is a set of changes to try. The zero value changes nothing.
type Trial struct {
	// With are objects that are added, or replace those of the same name.
	With *ingest.Objects
	// Without are objects to remove.
	Without []Object
	Scales  []Scale
	// Interrupted are zones whose spot nodes are lost, and where spot is no longer sold.
	Interrupted []string
	// Around are the known objects that those of With may refer to, and the quotas that bound additional pods; nil knows none.
	Around *ingest.Objects
	// Options say how objects are read. Their catalogue is used for pools whose node class no pool of
	// the snapshot has; it may be nil.
	Options ingest.Options
}

// Effect is the immediate effect of a trial, before any plan.
type Effect struct {
	// Nodes are the names of lost nodes; Pods is how many of their pods need a place elsewhere.
	Nodes []string
	Pods  int
}

// Apply makes a snapshot with the changes of the trial.
func (t *Trial) Apply(s *snapshot.Snapshot) (*snapshot.Snapshot, Effect, error) {
	c := &attempt{out: copied(s), rooms: ingest.Rooms{}}
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

// copied shares with the original only data that is never written.
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

// attempt is one trial in progress.
type attempt struct {
	out    *snapshot.Snapshot
	effect Effect
	// rooms are what quotas leave for additional pods.
	rooms ingest.Rooms
}

// lose removes nodes at once, as an interruption does: pods whose controllers create them again need a
// place, and the others are lost.
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

// anew is a pending copy of a pod.
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

// interrupt removes the spot nodes of a zone; their replacements must not be spot in that zone.
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

// Anew is the snapshot without the nodes of pools, in which their pods need places: a plan for it
// shows the cost of a fleet for the same pods that is bought at once.
func Anew(s *snapshot.Snapshot) *snapshot.Snapshot {
	c := &attempt{out: copied(s)}
	c.lose(func(n *snapshot.Node) bool { return n.Pool != "" })
	return c.out
}

// AnewPool is the snapshot without the nodes of one pool, in which their pods need places, beside the pending pods.
// All other nodes stay, and take pods for which they have room.
func AnewPool(s *snapshot.Snapshot, pool string) *snapshot.Snapshot {
	c := &attempt{out: copied(s)}
	c.lose(func(n *snapshot.Node) bool { return n.Pool == pool })
	return c.out
}
