package ec2

import (
	"strconv"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type interfacesInput struct {
	listing
	IDs                     []string `query:"NetworkInterfaceId"`
	IncludeManagedResources bool
}

type interfacesOutput struct {
	Interfaces []networkInterface `xml:"networkInterfaceSet>item"`
	Next       string             `xml:"nextToken,omitempty"`
}

// networkInterface is an interface as it is described on its own.
type networkInterface struct {
	ID          string              `xml:"networkInterfaceId"`
	Subnet      string              `xml:"subnetId"`
	Network     string              `xml:"vpcId"`
	Zone        string              `xml:"availabilityZone"`
	ZoneID      string              `xml:"availabilityZoneId"`
	Description string              `xml:"description"`
	Owner       string              `xml:"ownerId"`
	Managed     bool                `xml:"requesterManaged"`
	Status      string              `xml:"status"`
	Type        string              `xml:"interfaceType"`
	MAC         string              `xml:"macAddress,omitempty"`
	Address     string              `xml:"privateIpAddress,omitempty"`
	Name        string              `xml:"privateDnsName,omitempty"`
	Check       bool                `xml:"sourceDestCheck"`
	Groups      []groupRef          `xml:"groupSet>item"`
	Attachment  interfaceAttachment `xml:"attachment"`
	Public      *public             `xml:"association"`
	Addresses   []address           `xml:"privateIpAddressesSet>item"`
	Six         []address6          `xml:"ipv6AddressesSet>item"`
	Prefixes    []prefix            `xml:"ipv4PrefixSet>item"`
	Tags        []wire.Tag          `xml:"tagSet>item"`

	Tracking *accounts.TrackingLimits `xml:"connectionTrackingConfiguration"`
}

type interfaceAttachment struct {
	ID       string `xml:"attachmentId"`
	Instance string `xml:"instanceId"`
	Owner    string `xml:"instanceOwnerId"`
	Card     int    `xml:"networkCardIndex"`
	Device   int    `xml:"deviceIndex"`
	Status   string `xml:"status"`
	Since    string `xml:"attachTime"`
	Goes     bool   `xml:"deleteOnTermination"`
}

func describeInterfaces(r *accounts.Region, in *interfacesInput) (*interfacesOutput, error) {
	if err := whole(in.listing, in.IDs, "networkInterfaceIds"); err != nil {
		return nil, err
	}
	all, err := pick(in.IDs, r.Interfaces(), r.Interface)
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, all, listed[accounts.Attachment]{
		key:        func(n accounts.Attachment) string { return n.ID },
		attributes: func(n accounts.Attachment) (wire.Attributes, []wire.Tag) { return interfaceAttributes(r, n), n.Tags },
		limits:     wire.Limits{Min: 5, Max: 1000},
	})
	out := &interfacesOutput{Next: next}
	for _, n := range found {
		out.Interfaces = append(out.Interfaces, itemOfNetworkInterface(r, n))
	}
	return out, err
}

func itemOfNetworkInterface(r *accounts.Region, n accounts.Attachment) networkInterface {
	i, seen := n.Instance, itemOfInterface(r, n.Instance, n.Interface)
	item := networkInterface{
		ID: n.ID, Subnet: seen.Subnet, Network: seen.Network, Zone: i.Subnet.Zone.Name, ZoneID: i.Subnet.Zone.ID, Description: n.Spec.Description,
		Owner: seen.Owner, Status: seen.Status, Type: seen.Type, MAC: seen.MAC, Address: seen.Address, Check: true, Groups: seen.Groups,
		Public: seen.Public, Addresses: seen.Seconds, Six: seen.Six, Prefixes: seen.Prefixes, Tags: n.Tags, Tracking: n.Spec.ConnectionTracking,
		Attachment: interfaceAttachment{
			ID: "eni-attach-" + n.ID[len("eni-"):], Instance: i.ID, Owner: seen.Owner, Card: seen.Card, Device: seen.Device, Status: seen.Attached,
			Since: stamp(i.Launched), Goes: n.Spec.DeleteOnTermination == nil || *n.Spec.DeleteOnTermination,
		},
	}
	if n.Address.IsValid() {
		item.Name = accounts.PrivateName(n.Address, r.Name)
	}
	return item
}

func interfaceAttributes(r *accounts.Region, n accounts.Attachment) wire.Attributes {
	item := itemOfNetworkInterface(r, n)
	a := wire.Attributes{
		"network-interface-id": one(item.ID), "subnet-id": one(item.Subnet), "vpc-id": one(item.Network), "availability-zone": one(item.Zone),
		"availability-zone-id": one(item.ZoneID), "description": one(item.Description), "interface-type": one(item.Type), "mac-address": one(item.MAC),
		"owner-id": one(item.Owner), "private-dns-name": one(item.Name), "requester-managed": truth(false), "source-dest-check": truth(true),
		"status": one(item.Status), "attachment.attach-time": one(item.Attachment.Since), "attachment.attachment-id": one(item.Attachment.ID),
		"attachment.delete-on-termination": truth(item.Attachment.Goes), "attachment.device-index": one(strconv.Itoa(item.Attachment.Device)),
		"attachment.instance-id": one(item.Attachment.Instance), "attachment.instance-owner-id": one(item.Owner), "attachment.status": one("attached"),
		"addresses.primary": nil, "addresses.private-ip-address": nil, "private-ip-address": nil, "group-id": nil, "ipv6-addresses.ipv6-address": nil,
		"association.public-ip": nil, "association.public-dns-name": nil, "association.ip-owner-id": nil,
	}
	for _, x := range item.Addresses {
		a["addresses.primary"] = append(a["addresses.primary"], truth(x.Primary)...)
		a["addresses.private-ip-address"] = append(a["addresses.private-ip-address"], x.Address)
	}
	a["private-ip-address"] = a["addresses.private-ip-address"]
	for _, g := range item.Groups {
		a["group-id"] = append(a["group-id"], g.ID)
	}
	for _, x := range item.Six {
		a["ipv6-addresses.ipv6-address"] = append(a["ipv6-addresses.ipv6-address"], x.Address)
	}
	if p := item.Public; p != nil {
		a["association.public-ip"], a["association.public-dns-name"], a["association.ip-owner-id"] = one(p.Address), one(p.Name), one(p.Owner)
	}
	return a
}
