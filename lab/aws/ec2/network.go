package ec2

import (
	"cmp"
	"slices"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type regionsInput struct {
	dry
	Names      []string      `query:"RegionName"`
	Filters    []wire.Filter `query:"Filter"`
	AllRegions bool
}

type regionsOutput struct {
	Regions []regionItem `xml:"regionInfo>item"`
}

type regionItem struct {
	Name     string `xml:"regionName"`
	Endpoint string `xml:"regionEndpoint"`
	OptIn    string `xml:"optInStatus"`
}

// describeRegions lists the region that is asked and no other.
func describeRegions(r *accounts.Region, _ *regionsInput) (*regionsOutput, error) {
	return &regionsOutput{Regions: []regionItem{{r.Name, "ec2." + r.Name + ".amazonaws.com", "opt-in-not-required"}}}, nil
}

type zonesInput struct {
	dry
	Filters  []wire.Filter `query:"Filter"`
	Names    []string      `query:"ZoneName"`
	IDs      []string      `query:"ZoneId"`
	AllZones bool          `query:"AllAvailabilityZones"`
}

type zonesOutput struct {
	Zones []zoneItem `xml:"availabilityZoneInfo>item"`
}

type zoneItem struct {
	Name   string `xml:"zoneName"`
	ID     string `xml:"zoneId"`
	Type   string `xml:"zoneType"`
	State  string `xml:"zoneState"`
	Region string `xml:"regionName"`
	Group  string `xml:"groupName"`
	OptIn  string `xml:"optInStatus"`
}

func describeZones(r *accounts.Region, in *zonesInput) (*zonesOutput, error) {
	zones, err := pick(append(in.Names, in.IDs...), r.Zones, func(name string) (facts.Zone, error) {
		for _, z := range r.Zones {
			if z.Name == name || z.ID == name {
				return z, nil
			}
		}
		return facts.Zone{}, wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", name)
	})
	if err != nil {
		return nil, err
	}
	found, _, err := list(listing{Filters: in.Filters}, zones, listed[facts.Zone]{
		key: func(z facts.Zone) string { return z.Name },
		attributes: func(z facts.Zone) (wire.Attributes, []wire.Tag) {
			item := zoneOf(r, z)
			return wire.Attributes{"zone-name": one(z.Name), "zone-id": one(z.ID), "zone-type": one(item.Type), "state": one(item.State),
				"region-name": one(r.Name), "opt-in-status": one(item.OptIn), "group-name": one(item.Group)}, nil
		},
		limits: wire.Limits{Max: 1000},
	})
	out := &zonesOutput{}
	for _, z := range found {
		out.Zones = append(out.Zones, zoneOf(r, z))
	}
	return out, err
}

func zoneOf(r *accounts.Region, z facts.Zone) zoneItem {
	item := zoneItem{z.Name, z.ID, "availability-zone", "available", r.Name, r.Name + "-zg-1", "opt-in-not-required"}
	if group, local := accounts.LocalGroup(z.Name); local {
		item.Type, item.Group, item.OptIn = "local-zone", group, "opted-in"
	}
	return item
}

type networksInput struct {
	listing
	IDs []string `query:"VpcId"`
}

type networksOutput struct {
	Networks []networkItem `xml:"vpcSet>item"`
	Next     string        `xml:"nextToken,omitempty"`
}

type networkItem struct {
	ID      string     `xml:"vpcId"`
	Owner   string     `xml:"ownerId"`
	State   string     `xml:"state"`
	Range   string     `xml:"cidrBlock"`
	Tenancy string     `xml:"instanceTenancy"`
	Default bool       `xml:"isDefault"`
	Tags    []wire.Tag `xml:"tagSet>item"`
}

func describeNetworks(r *accounts.Region, in *networksInput) (*networksOutput, error) {
	networks, err := pick(in.IDs, r.Networks(), func(id string) (*accounts.Network, error) {
		for _, n := range r.Networks() {
			if n.ID == id {
				return n, nil
			}
		}
		return nil, wire.Errorf("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, networks, listed[*accounts.Network]{
		key: func(n *accounts.Network) string { return n.ID },
		attributes: func(n *accounts.Network) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"vpc-id": one(n.ID), "cidr": one(n.Range.String()), "state": one("available"), "owner-id": one(r.Account.ID)}, n.Tags
		},
		limits: wire.Limits{Min: 5, Max: 1000},
	})
	out := &networksOutput{Next: next}
	for _, n := range found {
		out.Networks = append(out.Networks, networkItem{n.ID, r.Account.ID, "available", n.Range.String(), "default", false, n.Tags})
	}
	return out, err
}

type subnetsInput struct {
	listing
	IDs []string `query:"SubnetId"`
}

type subnetsOutput struct {
	Subnets []subnetItem `xml:"subnetSet>item"`
	Next    string       `xml:"nextToken,omitempty"`
}

type subnetItem struct {
	ID      string     `xml:"subnetId"`
	ARN     string     `xml:"subnetArn"`
	Network string     `xml:"vpcId"`
	Owner   string     `xml:"ownerId"`
	State   string     `xml:"state"`
	Zone    string     `xml:"availabilityZone"`
	ZoneID  string     `xml:"availabilityZoneId"`
	Free    int        `xml:"availableIpAddressCount"`
	Range   string     `xml:"cidrBlock"`
	Default bool       `xml:"defaultForAz"`
	Public  bool       `xml:"mapPublicIpOnLaunch"`
	GetsSix bool       `xml:"assignIpv6AddressOnCreation"`
	Six     []sixRange `xml:"ipv6CidrBlockAssociationSet>item"`
	Naming  naming     `xml:"privateDnsNameOptionsOnLaunch"`
	Tags    []wire.Tag `xml:"tagSet>item"`
}

type naming struct {
	HostnameType string `xml:"hostnameType"`
	Record       bool   `xml:"enableResourceNameDnsARecord"`
}

type sixRange struct {
	Range string `xml:"ipv6CidrBlock"`
	State string `xml:"ipv6CidrBlockState>state"`
}

func describeSubnets(r *accounts.Region, in *subnetsInput) (*subnetsOutput, error) {
	subnets, err := pick(in.IDs, r.Subnets(), r.Subnet)
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, subnets, listed[*accounts.Subnet]{
		key: func(s *accounts.Subnet) string { return s.ID },
		attributes: func(s *accounts.Subnet) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{
				"subnet-id": one(s.ID), "vpc-id": one(s.Network.ID), "availability-zone": one(s.Zone.Name), "availability-zone-id": one(s.Zone.ID),
				"cidr-block": one(s.Range.String()), "state": one("available"), "owner-id": one(r.Account.ID), "default-for-az": truth(false),
				"map-public-ip-on-launch": truth(s.PublicByDefault),
			}, s.Tags
		},
		limits: wire.Limits{Min: 5, Max: 1000},
	})
	out := &subnetsOutput{Next: next}
	for _, s := range found {
		out.Subnets = append(out.Subnets, subnetItem{
			ID: s.ID, ARN: r.ARN("ec2", "subnet/"+s.ID), Network: s.Network.ID, Owner: r.Account.ID, State: "available", Zone: s.Zone.Name,
			ZoneID: s.Zone.ID, Free: s.Free(), Range: s.Range.String(), Six: []sixRange{{s.Range6.String(), "associated"}}, Tags: s.Tags,
			Public: s.PublicByDefault, GetsSix: s.SixByDefault, Naming: naming{cmp.Or(s.Naming.HostnameType, "ip-name"), s.Naming.Record},
		})
	}
	return out, err
}

type changeSubnetInput struct {
	ID     string   `query:"SubnetId"`
	Public *boolean `query:"MapPublicIpOnLaunch"`
	Six    *boolean `query:"AssignIpv6AddressOnCreation"`
	Record *boolean `query:"EnableResourceNameDnsARecordOnLaunch"`

	HostnameType string `query:"PrivateDnsHostnameTypeOnLaunch"`
}

// boolean is an attribute that is true or false.
type boolean struct {
	Value bool `xml:"value"`
}

func (b *boolean) said() *bool {
	if b == nil {
		return nil
	}
	return &b.Value
}

func changeSubnet(r *accounts.Region, in *changeSubnetInput) (*done, error) {
	return &done{true}, r.ChangeSubnet(in.ID, accounts.SubnetChange{Public: in.Public.said(), Six: in.Six.said(), Record: in.Record.said(), HostnameType: in.HostnameType})
}

type createGroupInput struct {
	dry
	Name        string             `query:"GroupName"`
	Description string             `query:"GroupDescription"`
	Network     string             `query:"VpcId"`
	TagSpecs    []accounts.TagSpec `query:"TagSpecification"`
}

type createGroupOutput struct {
	ID   string     `xml:"groupId"`
	ARN  string     `xml:"securityGroupArn"`
	Tags []wire.Tag `xml:"tagSet>item"`
}

func createGroup(r *accounts.Region, in *createGroupInput) (*createGroupOutput, error) {
	tags, err := tagsOf(in.TagSpecs, "security-group")
	if err != nil {
		return nil, err
	}
	g, err := r.CreateSecurityGroup(accounts.SecurityGroup{Name: in.Name, Description: in.Description, Tags: tags}, in.Network)
	if err != nil {
		return nil, err
	}
	return &createGroupOutput{g.ID, r.ARN("ec2", "security-group/"+g.ID), g.Tags}, nil
}

// tagsOf returns the tags for a new resource of one of the kinds that the request may name.
func tagsOf(specs []accounts.TagSpec, kinds ...string) (tags []wire.Tag, err error) {
	for _, s := range specs {
		switch {
		case !slices.Contains(kinds, s.ResourceType):
			return nil, wire.Errorf("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", s.ResourceType)
		case s.ResourceType == kinds[0]:
			tags = append(tags, s.Tags...)
		}
	}
	return tags, nil
}

type deleteGroupInput struct {
	dry
	ID   string `query:"GroupId"`
	Name string `query:"GroupName"`
}

type deleteGroupOutput struct {
	Return bool   `xml:"return"`
	ID     string `xml:"groupId"`
}

// deleteGroup finds names only in the default VPC, as EC2 does, and there is none.
func deleteGroup(r *accounts.Region, in *deleteGroupInput) (*deleteGroupOutput, error) {
	if in.ID == "" {
		return nil, wire.Errorf("InvalidGroup.NotFound", "The security group '%s' does not exist in the default VPC", in.Name)
	}
	return &deleteGroupOutput{true, in.ID}, r.DeleteSecurityGroup(in.ID)
}

type groupsInput struct {
	listing
	IDs   []string `query:"GroupId"`
	Names []string `query:"GroupName"`
}

type groupsOutput struct {
	Groups []groupItem `xml:"securityGroupInfo>item"`
	Next   string      `xml:"nextToken,omitempty"`
}

type groupItem struct {
	ID          string     `xml:"groupId"`
	Name        string     `xml:"groupName"`
	Description string     `xml:"groupDescription"`
	Network     string     `xml:"vpcId"`
	Owner       string     `xml:"ownerId"`
	Tags        []wire.Tag `xml:"tagSet>item"`
}

func describeGroups(r *accounts.Region, in *groupsInput) (*groupsOutput, error) {
	groups, err := pick(in.IDs, r.SecurityGroups(), r.SecurityGroup)
	if err != nil {
		return nil, err
	}
	if len(in.Names) > 0 {
		in.Filters = append(in.Filters, wire.Filter{Name: "group-name", Values: in.Names})
	}
	found, next, err := list(in.listing, groups, listed[*accounts.SecurityGroup]{
		key: func(g *accounts.SecurityGroup) string { return g.ID },
		attributes: func(g *accounts.SecurityGroup) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"group-id": one(g.ID), "group-name": one(g.Name), "description": one(g.Description),
				"vpc-id": one(g.Network.ID), "owner-id": one(r.Account.ID)}, g.Tags
		},
		limits: wire.Limits{Min: 5, Max: 1000},
	})
	out := &groupsOutput{Next: next}
	for _, g := range found {
		out.Groups = append(out.Groups, groupItem{g.ID, g.Name, g.Description, g.Network.ID, r.Account.ID, g.Tags})
	}
	return out, err
}
