package accounts

import (
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/market"
	"tenon/lab/aws/wire"
)

// Region holds what an account owns in a region.
type Region struct {
	Account *Account
	Name    string
	Zones   []facts.Zone
	Market  *market.Market

	world          *World
	networks       []*Network
	subnets        []*Subnet
	groups         []*SecurityGroup
	images         []*Image
	releases       int
	parameters     map[string]Parameter
	templates      []*Template
	instances      []*Instance // in the order of their launch
	byID           map[string]*Instance
	running        map[pool]int
	outlived       []*Volume // volumes whose instance has ended
	placements     []*PlacementGroup
	reserved       []*Reservation
	fleets         map[string]*Fleet    // by client token
	runs           map[string]*runToken // by client token
	queues         map[string]*Queue
	scaling        []*ScalingGroup
	formerScaling  []*ScalingGroup // their history can still be read
	configurations []*LaunchConfiguration
	entries        []*AccessEntry // of the cluster
	nodeGroups     []*NodeGroup
	systemAlias    string
}

func newRegion(a *Account, name string) *Region {
	r := &Region{
		Account: a, Name: name, world: a.world, parameters: map[string]Parameter{}, byID: map[string]*Instance{},
		running: map[pool]int{}, fleets: map[string]*Fleet{}, runs: map[string]*runToken{}, queues: map[string]*Queue{},
		systemAlias: "amazon",
	}
	zones, _ := facts.ZonesOf(name)
	r.Zones = zones[:min(len(zones), a.world.config.Zones)]
	for i, z := range r.Zones {
		if z.ID == "" {
			r.Zones[i].ID = name + "-az" + string(rune('1'+i))
		}
	}
	var names []string
	for _, z := range r.Zones {
		names = append(names, z.Name)
	}
	r.Market = market.New(a.world.config.Seed, name, names)
	r.Zones = append(r.Zones, r.localZones()...)
	r.layNetworks()
	r.admitNodes()
	r.publishImages()
	r.addQueue(a.world.config.queue())
	return r
}

// ARN names a resource of a service in this region.
func (r *Region) ARN(service, resource string) string {
	return strings.Join([]string{"arn", "aws", service, r.Name, r.Account.ID, resource}, ":")
}

// ZoneID returns a zone's identifier, which is the same for all accounts.
func (r *Region) ZoneID(name string) string {
	for _, z := range r.Zones {
		if z.Name == name {
			return z.ID
		}
	}
	return ""
}

// Cluster returns the lab's EKS cluster.
func (r *Region) Cluster() Cluster { return r.world.config.Cluster }

// Tags returns the tags of a resource, for reading and changing them.
func (r *Region) Tags(id string) (*[]wire.Tag, error) {
	for _, s := range r.subnets {
		if s.ID == id {
			return &s.Tags, nil
		}
	}
	for _, g := range r.groups {
		if g.ID == id {
			return &g.Tags, nil
		}
	}
	for _, i := range r.images {
		if i.ID == id {
			return &i.Tags, nil
		}
	}
	for _, p := range r.placements {
		if p.ID == id {
			return &p.Tags, nil
		}
	}
	return r.tagsOfMade(id)
}

// tagsOfMade searches the resources that callers make.
func (r *Region) tagsOfMade(id string) (*[]wire.Tag, error) {
	for _, t := range r.templates {
		if t.ID == id {
			return &t.Tags, nil
		}
	}
	for _, c := range r.reserved {
		if c.ID == id {
			return &c.Tags, nil
		}
	}
	if strings.HasPrefix(id, "i-") {
		i, err := r.Instance(id)
		if err != nil {
			return nil, err
		}
		return &i.Tags, nil
	}
	for _, i := range r.instances {
		if tags := i.partTags(id); tags != nil {
			return tags, nil
		}
	}
	for _, v := range r.outlived {
		if v.ID == id {
			return &v.Tags, nil
		}
	}
	return nil, wire.Errorf("InvalidID", "The ID '%s' is not valid", id)
}

// putTags returns a new list with the tags of over added, which replace those with the same keys.
func putTags(list, over []wire.Tag) []wire.Tag {
	result := append([]wire.Tag{}, list...)
next:
	for _, t := range over {
		for i := range result {
			if result[i].Key == t.Key {
				result[i].Value = t.Value
				continue next
			}
		}
		result = append(result, t)
	}
	return result
}

// PutTags tags all resources or none.
func (r *Region) PutTags(ids []string, tags []wire.Tag) error {
	var targets []*[]wire.Tag
	for _, id := range ids {
		target, err := r.Tags(id)
		if err != nil {
			return err
		}
		if len(putTags(*target, tags)) > 50 {
			return wire.Errorf("TagLimitExceeded", "The maximum number of Tags for the resource '%s' has been reached.", id)
		}
		targets = append(targets, target)
	}
	for _, target := range targets {
		*target = putTags(*target, tags)
	}
	return nil
}

// RemoveTags removes tags; a tag given with a value goes only if it has that value.
func (r *Region) RemoveTags(ids []string, tags []wire.Tag) error {
	for _, id := range ids {
		target, err := r.Tags(id)
		if err != nil {
			return err
		}
		var kept []wire.Tag
		for _, t := range *target {
			if !tagged(tags, t) {
				kept = append(kept, t)
			}
		}
		*target = kept
	}
	return nil
}

func tagged(tags []wire.Tag, t wire.Tag) bool {
	for _, gone := range tags {
		if gone.Key == t.Key && (gone.Value == "" || gone.Value == t.Value) {
			return true
		}
	}
	return false
}
