package preflight

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/network"
	"tenon/internal/preflight"
	"tenon/internal/provider"
)

// Room is provider.Room.
func Room(ctx context.Context, build string, launches []provider.Launch) []preflight.Finding {
	clients, err := api.Connect(ctx, api.Options{Version: build, Clock: clock.RealClock{}, ReadOnly: true})
	if err != nil {
		return []preflight.Finding{{Check: checkSubnets, Level: preflight.Skipped, Text: "could not be looked up: " + err.Error(),
			Remedy: "set AWS_REGION and credentials, or --skip-cloud"}}
	}
	return room(ctx, clients, launches)
}

// room looks at the network of each class as a preflight does, and at whether its subnets have addresses for the nodes.
func room(ctx context.Context, clients api.Clients, launches []provider.Launch) []preflight.Finding {
	l := &inspection{clients: clients, finder: network.New(clients.EC2, clock.RealClock{}, 0, network.NewAddresses())}
	var findings []preflight.Finding
	for _, launch := range launches {
		class, is := launch.Class.(*awsv1.EC2NodeClass)
		if !is {
			continue
		}
		if found, finding := l.selected(ctx, class); finding != nil {
			findings = append(findings, *finding)
		} else {
			findings = append(findings, l.addresses(class, found, launch.Nodes))
		}
		findings = append(findings, l.securityGroups(ctx, class))
	}
	return findings
}

// addresses compares the free addresses of subnets with a number of nodes, of which each takes at least one.
func (l *inspection) addresses(class *awsv1.EC2NodeClass, subnets []network.Subnet, nodes int) preflight.Finding {
	free := int64(0)
	for _, s := range subnets {
		free += max(s.Free, 0)
	}
	if free < int64(nodes) {
		return preflight.Finding{Check: checkSubnets, Level: preflight.Failed, Text: fmt.Sprintf("the subnets of %s have %d free addresses, and %d nodes are to be launched", l.selector(class), free, nodes),
			Means: "launches fail once there is none left, and the other nodes stay", Remedy: "add subnets to the class, or use prefix delegation or IPv6"}
	}
	return ok(checkSubnets, "the subnets of %s have %d free addresses for %d nodes", l.selector(class), free, nodes)
}
