package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tenon/cloud"
)

// Groups are groups of instances in memory. An instance that is missing is launched when a caller looks.
type Groups struct {
	// Launched is told of every new instance; it may be nil.
	Launched func(group string, i cloud.GroupInstance)

	mu     sync.Mutex
	list   []cloud.Group
	stock  map[string]int64 // how many instances a group can have; without an entry, any number
	made   int
	writes int
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

func (g *Groups) find(name string) *cloud.Group {
	for i := range g.list {
		if g.list[i].Name == name {
			return &g.list[i]
		}
	}
	return nil
}
