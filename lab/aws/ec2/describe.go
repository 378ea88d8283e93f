package ec2

import (
	"cmp"
	"encoding/base64"
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type instanceItem struct {
	ID             string                    `xml:"instanceId"`
	Image          string                    `xml:"imageId"`
	State          stateItem                 `xml:"instanceState"`
	DNSName        string                    `xml:"privateDnsName"`
	Reason         string                    `xml:"reason,omitempty"`
	StateReason    *reasonItem               `xml:"stateReason"`
	Type           string                    `xml:"instanceType"`
	Launched       string                    `xml:"launchTime"`
	Placement      placementItem             `xml:"placement"`
	Monitoring     string                    `xml:"monitoring>state"`
	Subnet         string                    `xml:"subnetId"`
	Network        string                    `xml:"vpcId"`
	Address        string                    `xml:"privateIpAddress"`
	Six            string                    `xml:"ipv6Address,omitempty"`
	Groups         []groupRef                `xml:"groupSet>item"`
	Architecture   string                    `xml:"architecture"`
	Platform       string                    `xml:"platform,omitempty"`
	RootType       string                    `xml:"rootDeviceType"`
	RootDevice     string                    `xml:"rootDeviceName"`
	Devices        []instanceDevice          `xml:"blockDeviceMapping>item"`
	Virtualization string                    `xml:"virtualizationType"`
	Hypervisor     string                    `xml:"hypervisor"`
	Lifecycle      string                    `xml:"instanceLifecycle,omitempty"`
	SpotRequest    string                    `xml:"spotInstanceRequestId,omitempty"`
	Reservation    string                    `xml:"capacityReservationId,omitempty"`
	ReservationUse *accounts.ReservationSpec `xml:"capacityReservationSpecification"`
	Token          string                    `xml:"clientToken,omitempty"`
	Key            string                    `xml:"keyName,omitempty"`
	Profile        *profileItem              `xml:"iamInstanceProfile"`
	Interfaces     []interfaceItem           `xml:"networkInterfaceSet>item"`
	Metadata       metadataItem              `xml:"metadataOptions"`
	PublicName     string                    `xml:"dnsName"`
	Public         string                    `xml:"ipAddress,omitempty"`
	Enclave        bool                      `xml:"enclaveOptions>enabled"`
	CPU            accounts.CPUOptions       `xml:"cpuOptions"`
	EBSOptimized   bool                      `xml:"ebsOptimized"`
	Tags           []wire.Tag                `xml:"tagSet>item"`
}

// processor returns the options of the launch, or one thread for each of the type's vCPUs.
func processor(i *accounts.Instance) accounts.CPUOptions {
	options := i.Spec.CPU
	if options.CoreCount == 0 {
		options.CoreCount, options.ThreadsPerCore = int(i.Type.VCPUs.Or(0)), 1
	}
	return options
}

// metadataItem holds the settings of the metadata service, with EC2's defaults.
type metadataItem struct {
	accounts.MetadataOptions
	State string `xml:"state"`
}

func itemOfMetadata(i *accounts.Instance) metadataItem {
	m := metadataItem{i.Spec.Metadata, "applied"}
	m.HttpEndpoint, m.HttpProtocolIpv6 = cmp.Or(m.HttpEndpoint, "enabled"), cmp.Or(m.HttpProtocolIpv6, "disabled")
	m.HttpTokens, m.HttpPutResponseHopLimit = cmp.Or(m.HttpTokens, "optional"), cmp.Or(m.HttpPutResponseHopLimit, 1)
	m.InstanceMetadataTags = cmp.Or(m.InstanceMetadataTags, "disabled")
	if i.State == accounts.Pending {
		m.State = "pending"
	}
	return m
}

type reasonItem struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
}

type placementItem struct {
	Zone      string `xml:"availabilityZone"`
	ZoneID    string `xml:"availabilityZoneId"`
	Tenancy   string `xml:"tenancy"`
	GroupName string `xml:"groupName,omitempty"`
	GroupID   string `xml:"groupId,omitempty"`
	Partition int    `xml:"partitionNumber,omitempty"`
}

type groupRef struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type instanceDevice struct {
	Name   string `xml:"deviceName"`
	Volume string `xml:"ebs>volumeId"`
	Status string `xml:"ebs>status"`
	Goes   bool   `xml:"ebs>deleteOnTermination"`
}

type profileItem struct {
	ARN string `xml:"arn"`
	ID  string `xml:"id"`
}

type interfaceItem struct {
	ID       string     `xml:"networkInterfaceId"`
	Subnet   string     `xml:"subnetId"`
	Network  string     `xml:"vpcId"`
	Owner    string     `xml:"ownerId"`
	Status   string     `xml:"status"`
	Type     string     `xml:"interfaceType"`
	MAC      string     `xml:"macAddress,omitempty"`
	Address  string     `xml:"privateIpAddress,omitempty"`
	Groups   []groupRef `xml:"groupSet>item"`
	Card     int        `xml:"attachment>networkCardIndex"`
	Device   int        `xml:"attachment>deviceIndex"`
	Attached string     `xml:"attachment>status"`
	Seconds  []address  `xml:"privateIpAddressesSet>item"`
	Six      []address6 `xml:"ipv6AddressesSet>item"`
	Prefixes []prefix   `xml:"ipv4PrefixSet>item"`
	Public   *public    `xml:"association"`
}

// public is the public address that an interface has.
type public struct {
	Owner   string `xml:"ipOwnerId"`
	Name    string `xml:"publicDnsName"`
	Address string `xml:"publicIp"`
}

type address struct {
	Address string `xml:"privateIpAddress"`
	Primary bool   `xml:"primary"`
}

type address6 struct {
	Address string `xml:"ipv6Address"`
	Primary bool   `xml:"isPrimaryIpv6"`
}

type prefix struct {
	Prefix string `xml:"ipv4Prefix"`
}

func itemOfInstance(r *accounts.Region, i *accounts.Instance) instanceItem {
	item := instanceItem{
		ID: i.ID, Image: i.Image.ID, State: itemOfState(i.State), DNSName: i.DNSName(r.Name), Type: i.Type.Name, Launched: stamp(i.Launched),
		Monitoring: "disabled", Architecture: i.Image.Architecture, RootType: "ebs", RootDevice: i.Image.RootDevice, Virtualization: "hvm",
		Hypervisor: "xen", Lifecycle: i.Lifecycle, SpotRequest: i.SpotRequest, Reservation: i.Reservation, Token: i.Token, Key: i.Spec.KeyName,
		Metadata: itemOfMetadata(i), Enclave: i.Spec.EnclaveOptions.Enabled, CPU: processor(i), EBSOptimized: i.Type.EBSMbps.Or(0) > 0, Tags: i.Tags,
		Placement: placementItem{i.Subnet.Zone.Name, i.Subnet.Zone.ID, i.Placement.Tenancy, i.Placement.GroupName, i.Placement.GroupID, i.Placement.PartitionNumber},
	}
	if i.Spec.Monitoring.Enabled {
		item.Monitoring = "enabled"
	}
	if i.Image.Family.Windows() {
		item.Platform = "windows"
	}
	if use := i.Spec.Reservation; use.Preference != "" || use.Target.ID != "" {
		item.ReservationUse = &use
	}
	if i.Profile != nil {
		item.Profile = &profileItem{r.Account.ProfileARN(i.Profile), i.Profile.ID}
	}
	if code, message, ok := strings.Cut(i.Why, ": "); ok {
		item.Reason, item.StateReason = i.Why, &reasonItem{code, i.Why[:len(code)] + ": " + message}
	}
	if i.State != accounts.Terminated {
		attachments(&item, r, i)
	}
	return item
}

// attachments fills in attachments, which the description of a terminated instance lacks.
func attachments(item *instanceItem, r *accounts.Region, i *accounts.Instance) {
	item.Subnet, item.Network, item.Address = i.Subnet.ID, i.Subnet.Network.ID, i.Address().String()
	for _, g := range i.Groups {
		item.Groups = append(item.Groups, groupRef{g.ID, g.Name})
	}
	for _, v := range i.Volumes {
		item.Devices = append(item.Devices, instanceDevice{v.Device, v.ID, "attached", !v.Keep})
	}
	for _, n := range i.Interfaces {
		item.Interfaces = append(item.Interfaces, itemOfInterface(r, i, n))
		if n.Public.IsValid() {
			item.Public, item.PublicName = n.Public.String(), accounts.PublicName(n.Public, r.Name)
		}
		if len(n.Six) > 0 && item.Six == "" {
			item.Six = n.Six[0].String()
		}
	}
}

func itemOfInterface(r *accounts.Region, i *accounts.Instance, n *accounts.Interface) interfaceItem {
	item := interfaceItem{
		ID: n.ID, Subnet: i.Subnet.ID, Network: i.Subnet.Network.ID, Owner: r.Account.ID, Status: "in-use", Type: n.Spec.InterfaceType, MAC: n.MAC,
		Card: n.Spec.NetworkCardIndex, Device: n.Spec.DeviceIndex, Attached: "attached",
	}
	if item.Type == "" {
		item.Type = "interface"
	}
	for _, id := range n.Spec.GroupIDs {
		ref := groupRef{ID: id}
		if g, err := r.SecurityGroup(id); err == nil {
			ref.Name = g.Name
		}
		item.Groups = append(item.Groups, ref)
	}
	if n.Address.IsValid() {
		item.Address = n.Address.String()
		item.Seconds = append(item.Seconds, address{n.Address.String(), true})
	}
	for _, a := range n.Seconds {
		item.Seconds = append(item.Seconds, address{a.String(), false})
	}
	for number, a := range n.Six {
		item.Six = append(item.Six, address6{a.String(), number == 0 && n.Spec.PrimaryIpv6 != nil && *n.Spec.PrimaryIpv6})
	}
	if n.Public.IsValid() {
		item.Public = &public{"amazon", accounts.PublicName(n.Public, r.Name), n.Public.String()}
	}
	for _, p := range n.Prefixes {
		item.Prefixes = append(item.Prefixes, prefix{p.String()})
	}
	return item
}

func consoleOutput(r *accounts.Region, in *consoleInput) (*consoleOut, error) {
	i, err := r.Instance(in.ID)
	if err != nil {
		return nil, err
	}
	return &consoleOut{i.ID, stamp(r.Now()), []byte(base64.StdEncoding.EncodeToString([]byte(i.Console)))}, nil
}
