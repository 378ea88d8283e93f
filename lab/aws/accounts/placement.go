package accounts

import (
	"slices"

	"tenon/lab/aws/wire"
)

// PlacementGroup says how instances are placed relative to each other.
type PlacementGroup struct {
	ID, Name   string
	Strategy   string // cluster, partition or spread
	Partitions int
	Tags       []wire.Tag
}

// spreadLimit is how many instances of a spread group run in a zone.
const spreadLimit = 7

// CreatePlacementGroup makes a group.
func (r *Region) CreatePlacementGroup(g PlacementGroup) (*PlacementGroup, error) {
	for _, old := range r.placements {
		if old.Name == g.Name {
			return nil, wire.Errorf("InvalidPlacementGroup.Duplicate", "The Placement Group '%s' already exists.", g.Name)
		}
	}
	switch g.Strategy {
	case "cluster", "spread":
	case "partition":
		if g.Partitions == 0 {
			g.Partitions = 2
		}
		if g.Partitions < 1 || g.Partitions > 7 {
			return nil, wire.Errorf("InvalidParameterValue", "Partition count %d is not between 1 and 7.", g.Partitions)
		}
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Unrecognized placement strategy '%s'.", g.Strategy)
	}
	g.ID = r.world.identifier("pg")
	r.placements = append(r.placements, &g)
	return &g, nil
}

// DeletePlacementGroup removes a group without running instances.
func (r *Region) DeletePlacementGroup(name string) error {
	at := slices.IndexFunc(r.placements, func(g *PlacementGroup) bool { return g.Name == name })
	if at < 0 {
		return wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", name)
	}
	for _, i := range r.instances {
		if i.alive() && i.Placement.GroupID == r.placements[at].ID {
			return wire.Errorf("InvalidPlacementGroup.InUse", "The placement group '%s' is in use and may not be deleted.", name)
		}
	}
	r.placements = slices.Delete(r.placements, at, at+1)
	return nil
}

// PlacementGroups returns all groups.
func (r *Region) PlacementGroups() []*PlacementGroup { return r.placements }

func (r *Region) resolvePlacement(c *choice) error {
	id, name := c.spec.Placement.GroupID, c.spec.Placement.GroupName
	if id == "" && name == "" {
		return nil
	}
	for _, g := range r.placements {
		if g.ID == id || id == "" && g.Name == name {
			c.placement = g
		}
	}
	g := c.placement
	switch {
	case g == nil:
		return wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", id+name)
	case g.Strategy == "partition" && c.spec.Placement.PartitionNumber > g.Partitions:
		return wire.Errorf("InvalidParameterValue", "The Placement Group '%s' has %d partitions.", g.Name, g.Partitions)
	}
	return nil
}

// partition returns the partition of its group in which a launch is placed, 0 if the group has none. A
// group that is full or elsewhere has no place.
func (r *Region) partition(c choice) (int, error) {
	g := c.placement
	if g == nil {
		return 0, nil
	}
	inZone, elsewhere, used := 0, 0, make([]int, g.Partitions+1)
	for _, i := range r.instances {
		if !i.alive() || i.Placement.GroupID != g.ID {
			continue
		}
		if i.Subnet.Zone != c.subnet.Zone {
			elsewhere++
			continue
		}
		inZone++
		if i.Placement.PartitionNumber < len(used) {
			used[i.Placement.PartitionNumber]++
		}
	}
	switch {
	case g.Strategy == "spread" && inZone >= spreadLimit:
		return 0, wire.Errorf("InsufficientInstanceCapacity", "You have reached the limit of instances in this spread placement group for the Availability Zone %s.", c.subnet.Zone.Name)
	case g.Strategy == "cluster" && elsewhere > 0:
		return 0, wire.Errorf("InsufficientInstanceCapacity", "The cluster placement group %s is in another Availability Zone.", g.Name)
	case g.Strategy != "partition":
		return 0, nil
	case c.spec.Placement.PartitionNumber > 0:
		return c.spec.Placement.PartitionNumber, nil
	}
	best := 1
	for p := 2; p <= g.Partitions; p++ {
		if used[p] < used[best] {
			best = p
		}
	}
	return best, nil
}
