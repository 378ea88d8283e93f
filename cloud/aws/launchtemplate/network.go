package launchtemplate

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
)

type networkInterface = types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest

// interfaces returns the interfaces that the class configures, or as many for EFA as the claim asks for, or
// one. Security groups go on the interfaces, since there always is one.
func (o Options) interfaces() []networkInterface {
	switch configured := o.Class.Spec.NetworkInterfaces; {
	case len(configured) > 0:
		return o.configured(configured)
	case o.EFA > 0:
		return o.efa()
	}
	return []networkInterface{o.addressed(networkInterface{DeviceIndex: aws.Int32(0)})}
}

func (o Options) configured(list []*awsv1.NetworkInterface) []networkInterface {
	var made []networkInterface
	for _, n := range list {
		if n == nil {
			continue
		}
		request := networkInterface{
			NetworkCardIndex: aws.Int32(n.NetworkCardIndex), DeviceIndex: aws.Int32(n.DeviceIndex),
			InterfaceType: aws.String(n.InterfaceType), Groups: o.groups(),
		}
		if n.InterfaceType == "interface" {
			request = o.addressed(request)
		}
		made = append(made, request)
	}
	return made
}

func (o Options) efa() []networkInterface {
	var made []networkInterface
	for card := range int32(o.EFA) {
		device := min(card, 1) // the first is the machine's own, and each other is the only one of its card
		made = append(made, o.addressed(networkInterface{
			NetworkCardIndex: aws.Int32(card), DeviceIndex: aws.Int32(device), InterfaceType: aws.String("efa"),
		}))
	}
	return made
}

func (o Options) groups() []string {
	ids := make([]string, 0, len(o.Class.Status.SecurityGroups))
	for _, g := range o.Class.Status.SecurityGroups {
		ids = append(ids, g.ID)
	}
	return ids
}

// addressed completes an interface that carries IP traffic.
func (o Options) addressed(n networkInterface) networkInterface {
	spec := &o.Class.Spec
	n.Groups = o.groups()
	n.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
	if o.Cluster.IPv6() {
		n.PrimaryIpv6, n.Ipv6AddressCount, n.Ipv6PrefixCount = aws.Bool(true), aws.Int32(1), spec.IPPrefixCount
	} else {
		n.Ipv4PrefixCount = spec.IPPrefixCount
	}
	if t := spec.ConnectionTracking; t != nil {
		n.ConnectionTrackingSpecification = &types.ConnectionTrackingSpecificationRequest{
			TcpEstablishedTimeout: t.TCPEstablishedTimeout, UdpStreamTimeout: t.UDPStreamTimeout, UdpTimeout: t.UDPTimeout,
		}
	}
	return n
}
