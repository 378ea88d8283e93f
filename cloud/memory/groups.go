package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tenon/cloud"
)

// Groups are groups of instances in memory. An instance that is missing is launched when a caller looks.
type Groups struct {
	// Launched is told of every new instance, and Stopped of every one that has ended; they may be nil, and must not change groups.
	Launched, Stopped func(group string, i cloud.GroupInstance)
	// Now is set if groups without stock say when a launch failed.
	Now func() time.Time

	mu     sync.Mutex
	list   []cloud.Group
	stock  map[string]int64 // how many instances a group can have; without an entry, any number
	made   int
	writes int
	ended  int
}

// NewGroups makes groups with sizes, templates and what the cloud chooses from.
func NewGroups(list ...cloud.Group) *Groups {
	return &Groups{list: list, stock: map[string]int64{}}
}

var _ cloud.Groups = (*Groups)(nil)

// Named implements cloud.GroupReader.
func (g *Groups) Named() []string { return nil }

// Groups implements cloud.GroupReader.
func (g *Groups) Groups(context.Context) ([]cloud.Group, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]cloud.Group, len(g.list))
	for i := range g.list {
		g.launch(&g.list[i])
		out[i] = g.list[i]
		out[i].Instances = slices.Clone(out[i].Instances)
	}
	slices.SortFunc(out, func(a, b cloud.Group) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// launch brings a group to its size, as far as there is stock.
func (g *Groups) launch(group *cloud.Group) {
	most := group.Desired
	if stock, limited := g.stock[group.Name]; limited {
		most = min(most, stock)
	}
	if group.Failure = nil; most < group.Desired && g.Now != nil {
		group.Failure = &cloud.GroupFailure{At: g.Now(), Reason: "InsufficientInstanceCapacity", Message: "no more instances are to be had"}
	}
	for int64(len(group.Instances)) > group.Desired { // the cloud's choice
		g.remove(group, group.Instances[len(group.Instances)-1].ProviderID)
	}
	for int64(len(group.Instances)) < most {
		g.made++
		i := cloud.GroupInstance{ProviderID: fmt.Sprintf("memory:///%s/%s-%04d", group.Zones[0], group.Name, g.made), InstanceType: group.Types[0], Zone: group.Zones[0], State: cloud.Running}
		group.Instances = append(group.Instances, i)
		if g.Launched != nil {
			g.Launched(group.Name, i)
		}
	}
}

// Resize implements cloud.GroupWriter.
func (g *Groups) Resize(_ context.Context, name string, from, to int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	group := g.find(name)
	if group == nil {
		return &cloud.GroupChanged{Group: name, Message: "it is gone"}
	}
	if err := cloud.MayResize(group, from, to); err != nil {
		return err
	}
	group.Desired = to
	g.writes++
	return nil
}

// End implements cloud.GroupWriter: the instance is gone at once.
func (g *Groups) End(_ context.Context, name, providerID string) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	group := g.find(name)
	if group == nil || group.Find(providerID) == nil {
		return 0, &cloud.NotFound{ProviderID: providerID}
	}
	g.remove(group, providerID)
	if group.Desired > group.Min {
		group.Desired--
	}
	g.ended++
	return group.Desired, nil
}

// Take has the cloud end an instance, which the group replaces.
func (g *Groups) Take(name, providerID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(g.find(name), providerID)
}

func (g *Groups) remove(group *cloud.Group, providerID string) {
	gone := *group.Find(providerID)
	group.Instances = slices.DeleteFunc(slices.Clone(group.Instances), func(i cloud.GroupInstance) bool { return i.ProviderID == providerID })
	if g.Stopped != nil {
		g.Stopped(group.Name, gone)
	}
}

// List is the groups as they are, in the order of NewGroups: nothing is launched.
func (g *Groups) List() []cloud.Group {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.list)
}

// Plenty ends all shortages.
func (g *Groups) Plenty() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.stock)
}

// Set has another writer change a group's size.
func (g *Groups) Set(name string, desired int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.find(name).Desired = desired
}

// Limit bounds how many instances a group can have: the cloud has no more.
func (g *Groups) Limit(name string, stock int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stock[name] = stock
}

// Writes is how many times Resize has changed a size.
func (g *Groups) Writes() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.writes
}

// Ended is how many instances End has ended.
func (g *Groups) Ended() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

func (g *Groups) find(name string) *cloud.Group {
	for i := range g.list {
		if g.list[i].Name == name {
			return &g.list[i]
		}
	}
	return nil
}
