package accounts

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/wire"
)

// Network is a VPC.
type Network struct {
	ID    string
	Range netip.Prefix
	Tags  []wire.Tag
}

// Subnet is a part of a network in a zone.
type Subnet struct {
	ID      string
	Network *Network
	Zone    facts.Zone
	Range   netip.Prefix
	Range6  netip.Prefix
	// Isolated subnets have no route to the cluster: no instance in them ever joins.
	Isolated bool
	Tags     []wire.Tag

	// PublicByDefault and SixByDefault apply to launches that do not choose.
	PublicByDefault, SixByDefault bool
	Naming                        Naming

	used []bool // by the offset of the address
	next int    // the offset at which the search for a free address begins
	free int
	six  uint64 // the number of IPv6 addresses ever given
}

// SecurityGroup is a security group of a network.
type SecurityGroup struct {
	ID, Name, Description string
	Network               *Network
	Tags                  []wire.Tag
}

// kept is how many addresses AWS keeps for itself: the first four and the last.
const kept = 5

// layNetworks makes the cluster's network, with a subnet in each zone and an isolated one, and another
// network that does not belong to the cluster. The cluster's have the names and tags that eksctl gives
// them.
func (r *Region) layNetworks() {
	w := r.world
	cluster := w.config.Cluster.Name
	discovery := wire.Tag{Key: "karpenter.sh/discovery", Value: cluster}
	name := func(s string) wire.Tag { return wire.Tag{Key: "Name", Value: s} }
	owned := wire.Tag{Key: "kubernetes.io/cluster/" + cluster, Value: "owned"}

	home := &Network{ID: w.identifier("vpc"), Range: netip.MustParsePrefix("10.0.0.0/16"), Tags: r.stackTags("VPC")}
	other := &Network{ID: w.identifier("vpc"), Range: netip.MustParsePrefix("172.31.0.0/16"), Tags: []wire.Tag{name("other")}}
	r.networks = []*Network{home, other}
	for i, z := range r.Zones {
		s := r.addSubnet(home, z, i, w.config.SubnetBits)
		s.Tags = append(r.stackTags("SubnetPrivate"+strings.ToUpper(strings.ReplaceAll(z.Name, "-", ""))), discovery,
			wire.Tag{Key: "kubernetes.io/role/internal-elb", Value: "1"})
	}
	isolated := r.addSubnet(home, r.Zones[0], 250, 24)
	isolated.Isolated, isolated.Tags = true, []wire.Tag{name("isolated")}
	r.addSubnet(other, r.Zones[0], 0, 20).Tags = []wire.Tag{name("other")}

	for _, g := range []struct {
		network *Network
		name    string
		tags    []wire.Tag
	}{
		{home, "default", nil},
		{home, r.ClusterGroup(), []wire.Tag{name(r.ClusterGroup()), discovery, owned, {Key: "aws:eks:cluster-name", Value: cluster}}},
		{home, r.stackName(sharedGroup), append(r.stackTags(sharedGroup), discovery)},
		{other, "default", nil},
		{other, "other", []wire.Tag{name("other")}},
	} {
		r.groups = append(r.groups, &SecurityGroup{ID: w.identifier("sg"), Name: g.name, Description: g.name + " group", Network: g.network, Tags: g.tags})
	}
}

// sharedGroup is eksctl's name for the group of all nodes.
const sharedGroup = "ClusterSharedNodeSecurityGroup"

// ClusterGroup returns the name of the security group that EKS makes for the cluster.
func (r *Region) ClusterGroup() string {
	number := r.world.config.Seed.Number("cluster group", r.Account.ID, r.Name) % 1e9
	return fmt.Sprintf("eks-cluster-sg-%s-%d", r.Cluster().Name, number)
}

// stackTags returns the tags of resources of eksctl's CloudFormation stack.
func (r *Region) stackTags(resource string) []wire.Tag {
	cluster := r.Cluster().Name
	stack := "eksctl-" + cluster + "-cluster"
	return []wire.Tag{
		{Key: "Name", Value: stack + "/" + resource}, {Key: "alpha.eksctl.io/cluster-name", Value: cluster},
		{Key: "aws:cloudformation:logical-id", Value: resource}, {Key: "aws:cloudformation:stack-name", Value: stack},
		{Key: "eksctl.cluster.k8s.io/v1alpha1/cluster-name", Value: cluster},
	}
}

// stackName returns the name that CloudFormation makes up for a resource of that stack.
func (r *Region) stackName(resource string) string {
	return "eksctl-" + r.Cluster().Name + "-cluster-" + resource + "-" + strings.ToUpper(r.world.config.Seed.Hex(12, "stack", r.Account.ID, r.Name, resource))
}

// addSubnet takes the n-th range of the given length from a network.
func (r *Region) addSubnet(n *Network, z facts.Zone, number, bits int) *Subnet {
	base := binary.BigEndian.Uint32(n.Range.Addr().AsSlice()) + uint32(number)<<(32-bits)
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], base)
	size := 1 << (32 - bits)
	six := netip.MustParsePrefix(fmt.Sprintf("2600:1f14:%x:%x00::/64", len(r.networks), len(r.subnets)+1))
	s := &Subnet{ID: r.world.identifier("subnet"), Network: n, Zone: z, Range: netip.PrefixFrom(netip.AddrFrom4(raw), bits),
		Range6: six, used: make([]bool, size), free: size - kept}
	for _, taken := range []int{0, 1, 2, 3, size - 1} {
		s.used[taken] = true
	}
	r.subnets = append(r.subnets, s)
	return s
}

// Free returns how many addresses can still be given.
func (s *Subnet) Free() int { return s.free }

// take gives the next free address after the last given one: an address that was given back, and with it
// the name of a dead node, is used again only after all others in the range.
func (s *Subnet) take() (netip.Addr, error) {
	for i := range s.used {
		offset := (s.next + i) % len(s.used)
		if !s.used[offset] {
			s.used[offset], s.next = true, offset+1
			s.free--
			return s.at(offset), nil
		}
	}
	return netip.Addr{}, wire.Errorf("InsufficientFreeAddressesInSubnet",
		"There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", s.ID)
}

// takeBlock gives a free, aligned block of sixteen addresses.
func (s *Subnet) takeBlock() (netip.Prefix, error) {
	const size = 16
	from := s.next / size * size
next:
	for i := 0; i < len(s.used); i += size {
		start := (from + i) % len(s.used)
		for _, used := range s.used[start : start+size] {
			if used {
				continue next
			}
		}
		for i := range size {
			s.used[start+i] = true
		}
		s.next = start + size
		s.free -= size
		return netip.PrefixFrom(s.at(start), 28), nil
	}
	return netip.Prefix{}, wire.Errorf("InsufficientCidrBlocks", "There are not enough free cidr blocks in the specified subnet %s.", s.ID)
}

func (s *Subnet) at(offset int) netip.Addr {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], binary.BigEndian.Uint32(s.Range.Addr().AsSlice())+uint32(offset))
	return netip.AddrFrom4(raw)
}

// takeSix gives an IPv6 address; they never run out.
func (s *Subnet) takeSix() netip.Addr {
	s.six++
	raw := s.Range6.Addr().As16()
	binary.BigEndian.PutUint64(raw[8:], s.six+kept)
	return netip.AddrFrom16(raw)
}

func (s *Subnet) give(p netip.Prefix) {
	first := int(binary.BigEndian.Uint32(p.Addr().AsSlice()) - binary.BigEndian.Uint32(s.Range.Addr().AsSlice()))
	for i := range 1 << (32 - p.Bits()) {
		s.used[first+i] = false
		s.free++
	}
}

// Networks returns all networks.
func (r *Region) Networks() []*Network { return r.networks }

// Subnets returns the subnets of all networks.
func (r *Region) Subnets() []*Subnet { return r.subnets }

// SecurityGroups returns the security groups of all networks.
func (r *Region) SecurityGroups() []*SecurityGroup { return r.groups }

// Subnet finds a subnet.
func (r *Region) Subnet(id string) (*Subnet, error) {
	for _, s := range r.subnets {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
}

// Naming is how the instances of a subnet get their private names: "ip-name" is after the address, "resource-name" after the instance. Record is
// whether resource names resolve to addresses.
type Naming struct {
	HostnameType string
	Record       bool
}

// byResource is the type of names after instances.
const byResource = "resource-name"

// SubnetChange is a change of one attribute of a subnet; the others are nil or empty.
type SubnetChange struct {
	Public, Six, Record *bool
	HostnameType        string
}

// ChangeSubnet sets one of a subnet's attributes, as ModifySubnetAttribute does.
func (r *Region) ChangeSubnet(id string, c SubnetChange) error {
	s, err := r.Subnet(id)
	if err != nil {
		return err
	}
	asked := 0
	for _, one := range []bool{c.Public != nil, c.Six != nil, c.Record != nil, c.HostnameType != ""} {
		if one {
			asked++
		}
	}
	switch {
	case asked > 1:
		return wire.Errorf("InvalidParameterCombination", "You can modify one attribute of a subnet at a time.")
	case c.Public != nil:
		s.PublicByDefault = *c.Public
	case c.Six != nil:
		s.SixByDefault = *c.Six
	case c.Record != nil:
		s.Naming.Record = *c.Record
	case c.HostnameType != "":
		s.Naming.HostnameType = c.HostnameType
	default:
		return wire.Errorf("MissingParameter", "The request must contain an attribute to modify.")
	}
	return nil
}

// Network finds a network.
func (r *Region) Network(id string) (*Network, error) {
	for _, n := range r.networks {
		if n.ID == id {
			return n, nil
		}
	}
	return nil, wire.Errorf("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
}

// CreateSecurityGroup makes a group in a network. Names are case-insensitive.
func (r *Region) CreateSecurityGroup(g SecurityGroup, network string) (*SecurityGroup, error) {
	if network == "" {
		return nil, wire.Errorf("VPCIdNotSpecified", "No default VPC for this user")
	}
	var err error
	if g.Network, err = r.Network(network); err != nil {
		return nil, err
	}
	switch {
	case g.Name == "" || g.Description == "":
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameters groupName and groupDescription")
	case len(g.Name) > 255 || len(g.Description) > 255 || strings.HasPrefix(g.Name, "sg-"):
		return nil, wire.Errorf("InvalidParameterValue", "Name and description have at most 255 characters, and a name does not start with sg-.")
	}
	for _, old := range r.groups {
		if old.Network == g.Network && strings.EqualFold(old.Name, g.Name) {
			return nil, wire.Errorf("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", g.Name, network)
		}
	}
	g.ID = r.world.identifier("sg")
	r.groups = append(r.groups, &g)
	return &g, nil
}

// DeleteSecurityGroup removes a group that no interface has.
func (r *Region) DeleteSecurityGroup(id string) error {
	g, err := r.SecurityGroup(id)
	if err != nil {
		return err
	}
	if g.Name == "default" {
		return wire.Errorf("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", id)
	}
	for _, i := range r.instances {
		for _, n := range i.Interfaces {
			if i.alive() && slices.Contains(n.Spec.GroupIDs, id) {
				return wire.Errorf("DependencyViolation", "resource %s has a dependent object", id)
			}
		}
	}
	r.groups = slices.DeleteFunc(r.groups, func(other *SecurityGroup) bool { return other == g })
	return nil
}

// SecurityGroup finds a group.
func (r *Region) SecurityGroup(id string) (*SecurityGroup, error) {
	for _, g := range r.groups {
		if g.ID == id {
			return g, nil
		}
	}
	return nil, wire.Errorf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
}
