package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/sim/cluster"
	"tenon/sim/store"
)

// groups are the cloud's groups of instances, with other writers of their sizes, and shortages.
type groups struct {
	*memory.Groups
	sim  *Sim
	dice *rand.Rand
	next map[string]*cloud.GroupTemplate
	join func(memory.Machine)
	end  func(providerID string)
}

// Groups act this often, their machines boot this long, and a Node is deleted this long after its machine
// ended.
const (
	groupTick  = 5 * time.Second
	groupBoot  = 40 * time.Second
	groupClear = time.Minute
)

// newGroups makes two groups, one of which keeps a machine.
func newGroups(s *Sim, parts *cluster.Cluster) *groups {
	g := &groups{sim: s, dice: rand.New(rand.NewPCG(s.options.Seed, 8)), next: map[string]*cloud.GroupTemplate{}, join: parts.Launch, end: parts.Terminate}
	zone := memory.Zones()[0]
	var list []cloud.Group
	for _, each := range []struct {
		name, kind string
		floor      int64
	}{{"web", "general-4", 1}, {"batch", "compute-8", 0}} {
		kind := typeOf(s.catalog, each.kind)
		if kind == nil {
			continue
		}
		list = append(list, cloud.Group{
			Name: each.name, Min: each.floor, Max: 8, Desired: each.floor, Types: []string{each.kind}, Zones: []string{zone}, CapacityTypes: []string{catalog.OnDemand},
			Next: &cloud.GroupTemplate{
				Labels: map[string]string{
					corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelInstanceTypeStable: each.kind, corev1.LabelTopologyZone: zone,
					corev1.LabelTopologyRegion: memory.Region, "group": each.name,
				},
				Capacity: kind.Capacity, Allocatable: kind.Allocatable(&kind.Offerings[0]), Price: kind.Offerings[0].Price * 2 / 3, // so that they are used
			},
		})
	}
	for i := range list {
		g.next[list[i].Name] = list[i].Next
	}
	g.Groups = memory.NewGroups(list...)
	g.Groups.Now = s.Clock.Now
	g.Groups.Launched, g.Groups.Stopped = g.launched, g.stopped
	s.watch.Disturbed() // the product has not read the sizes yet
	s.outside(s.Clock.Now().Add(groupTick), "groups", g.act)
	s.outside(s.Clock.Now().Add(2*time.Minute), "groups are handed over", g.handOver)
	s.outside(s.Clock.Now().Add(g.soon()), "others write sizes", g.meddle)
	if s.options.Seed%3 == 0 {
		s.outside(s.Clock.Now().Add(groupTurn), "groups are handed over to pools", g.toPools)
	}
	return g
}

func typeOf(c *catalog.Catalog, name string) *catalog.Type {
	for i := range c.Types {
		if c.Types[i].Name == name {
			return &c.Types[i]
		}
	}
	return nil
}

func (g *groups) soon() time.Duration {
	return time.Minute + time.Duration(g.dice.ExpFloat64()*float64(8*time.Minute))
}

// act makes the cloud bring groups to their sizes.
func (g *groups) act() {
	_, err := g.Groups.Groups(context.Background())
	g.sim.must(err)
	g.sim.outside(g.sim.Clock.Now().Add(groupTick), "groups", g.act)
}

func (g *groups) launched(group string, i cloud.GroupInstance) {
	next := g.next[group]
	g.join(memory.Machine{
		Instance: cloud.Instance{ProviderID: i.ProviderID, Capacity: next.Capacity, Allocatable: next.Allocatable}, Node: "g-" + path.Base(i.ProviderID),
		Labels: next.Labels, Boots: g.sim.Clock.Now().Add(groupBoot),
	})
}

// stopped ends the machine. If a Node remains that is not being deleted, the cloud's own controller deletes it.
func (g *groups) stopped(_ string, i cloud.GroupInstance) {
	g.end(i.ProviderID)
	g.sim.outside(g.sim.Clock.Now().Add(groupClear), "a node without an instance is deleted", func() {
		if node := g.nodeOf(i.ProviderID); node != nil && node.DeletionTimestamp == nil {
			_ = g.sim.Store.Delete(context.Background(), node) // it may be gone
		}
	})
}

func (g *groups) nodeOf(providerID string) *corev1.Node {
	for _, node := range store.All[*corev1.Node](g.sim.Store) {
		if node.Spec.ProviderID == providerID {
			return node
		}
	}
	return nil
}

// handOver lets Tenon change the groups, once their objects exist.
func (g *groups) handOver() {
	left := len(g.Groups.List())
	for _, o := range store.All[*tenonv1alpha1.NodeGroup](g.sim.Store) {
		left--
		if o.Observed() {
			given := o.DeepCopy()
			given.Spec.Mode = tenonv1alpha1.ModeNative
			given.Spec.Disruption = &karpenterv1.Disruption{
				ConsolidateAfter: karpenterv1.DurationOf(time.Minute), ConsolidationPolicy: karpenterv1.ConsolidateWhenEmptyOrUnderutilized, Budgets: []karpenterv1.Budget{{Nodes: "50%"}},
			}
			if g.sim.options.Seed%2 == 0 { // by the rules of Cluster Autoscaler
				given.Spec.Mode, given.Spec.Disruption = tenonv1alpha1.ModeCAS, nil
			}
			_ = g.sim.Store.Update(context.Background(), given) // a failed write is repeated
			left++
		}
	}
	if left > 0 {
		g.sim.outside(g.sim.Clock.Now().Add(time.Minute), "groups are handed over", g.handOver)
	}
}

// groupTurn is how long a user leaves the groups in a mode, in seeds in which they are handed over to pools.
const groupTurn = 13 * time.Minute

// toPools begins, pauses or takes back the hand-over of the groups to pools, in turn.
func (g *groups) toPools() {
	if g.sim.calm {
		return
	}
	for _, o := range store.All[*tenonv1alpha1.NodeGroup](g.sim.Store) {
		given := o.DeepCopy()
		switch {
		case o.Observed():
			continue
		case o.Spec.Mode != tenonv1alpha1.ModeHandover:
			given.Spec.Mode = tenonv1alpha1.ModeHandover
		case !o.HandoverPaused():
			metav1.SetMetaDataAnnotation(&given.ObjectMeta, tenonv1alpha1.AnnotationHandoverPaused, "true")
		default:
			given.Spec.Mode = tenonv1alpha1.ModeNative
			delete(given.Annotations, tenonv1alpha1.AnnotationHandoverPaused)
		}
		_ = g.sim.Store.Update(context.Background(), given) // a failed write is repeated in the next turn
	}
	g.sim.outside(g.sim.Clock.Now().Add(groupTurn), "groups are handed over to pools", g.toPools)
}

// meddle changes a group like another writer, or begins or ends a shortage.
func (g *groups) meddle() {
	list := g.Groups.List()
	each := &list[g.dice.IntN(len(list))]
	switch {
	case g.sim.calm:
		g.Groups.Plenty()
		return
	case g.dice.IntN(3) == 0 && g.sim.mishap("a group is sold out:", each.Name):
		g.Groups.Limit(each.Name, each.Alive())
	case g.dice.IntN(3) == 0:
		g.Groups.Plenty()
	case g.dice.IntN(2) == 0 && g.sim.mishap("another writer sets the size of", each.Name):
		g.Groups.Set(each.Name, each.Min+g.dice.Int64N(each.Max-each.Min+1))
		g.sim.watch.Disturbed()
	}
	g.sim.outside(g.sim.Clock.Now().Add(g.soon()), "others write sizes", g.meddle)
}

// groupClient is one process's client of the groups: calls may fail, before their effect or after it, and the process may end.
type groupClient struct {
	*groups
	of *process
}

var _ cloud.Groups = groupClient{}

// Groups implements cloud.GroupReader.
func (c groupClient) Groups(ctx context.Context) ([]cloud.Group, error) {
	return around(c.of, "a look at groups", func() ([]cloud.Group, error) {
		if c.fails("refused:", "a look at groups") {
			return nil, memory.ErrUnreachable
		}
		return c.groups.Groups.Groups(ctx)
	})
}

// Resize implements cloud.GroupWriter.
func (c groupClient) Resize(ctx context.Context, name string, from, to int64) error {
	what := fmt.Sprintf("group %s from %d to %d", name, from, to)
	_, err := around(c.of, what, func() (struct{}, error) {
		if c.fails("refused:", what) {
			return struct{}{}, memory.ErrUnreachable
		}
		err := c.groups.Groups.Resize(ctx, name, from, to)
		if err == nil {
			c.sim.watch.Resized(name, from, to)
		}
		if err == nil && c.fails("answer lost:", what) {
			err = memory.ErrUnreachable
		}
		return struct{}{}, err
	})
	return err
}

// End implements cloud.GroupWriter.
func (c groupClient) End(ctx context.Context, name, id string) (int64, error) {
	what := "the end of " + id + " of group " + name
	return around(c.of, what, func() (int64, error) {
		if c.fails("refused:", what) {
			return 0, memory.ErrUnreachable
		}
		c.sim.watch.EndingMember(id)
		before := c.desired(name)
		desired, err := c.groups.Groups.End(ctx, name, id)
		if err == nil && desired == before { // the cloud launches another one
			c.sim.watch.Disturbed()
		}
		c.sim.watch.Bounded(name)
		if err == nil && c.fails("answer lost:", what) {
			err = memory.ErrUnreachable
		}
		return desired, err
	})
}

func (c groupClient) desired(name string) int64 {
	for _, g := range c.groups.Groups.List() {
		if g.Name == name {
			return g.Desired
		}
	}
	return 0
}

func (c groupClient) fails(what, to string) bool {
	rate := c.sim.options.Faults.Refused
	if what != "refused:" {
		rate = c.sim.options.Faults.Lost
	}
	return c.of.faulty && !c.sim.calm && c.sim.happens(rate, what, to)
}
