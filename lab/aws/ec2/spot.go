package ec2

import (
	"strings"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type spotRequestsInput struct {
	listing
	IDs []string `query:"SpotInstanceRequestId"`
}

type spotRequestsOutput struct {
	Requests []spotRequest `xml:"spotInstanceRequestSet>item"`
	Next     string        `xml:"nextToken,omitempty"`
}

type spotRequest struct {
	ID           string     `xml:"spotInstanceRequestId"`
	Instance     string     `xml:"instanceId"`
	Price        string     `xml:"spotPrice"`
	Kind         string     `xml:"type"`
	State        string     `xml:"state"`
	Status       spotStatus `xml:"status"`
	Created      string     `xml:"createTime"`
	Zone         string     `xml:"launchedAvailabilityZone"`
	ZoneID       string     `xml:"launchedAvailabilityZoneId"`
	Product      string     `xml:"productDescription"`
	Interruption string     `xml:"instanceInterruptionBehavior"`
	Launch       spotLaunch `xml:"launchSpecification"`
	Tags         []wire.Tag `xml:"tagSet>item"`
}

// profileName is an instance profile as a request names it.
type profileName struct {
	ARN string `xml:"arn"`
}

type spotStatus struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
	Updated string `xml:"updateTime"`
}

type spotLaunch struct {
	Image   string       `xml:"imageId"`
	Type    string       `xml:"instanceType"`
	Key     string       `xml:"keyName,omitempty"`
	Subnet  string       `xml:"subnetId"`
	Groups  []groupRef   `xml:"groupSet>item"`
	Profile *profileName `xml:"iamInstanceProfile"`
	Zone    string       `xml:"placement>availabilityZone"`
	Tenancy string       `xml:"placement>tenancy"`
	Watched bool         `xml:"monitoring>enabled"`
}

func describeSpotRequests(r *accounts.Region, in *spotRequestsInput) (*spotRequestsOutput, error) {
	if err := whole(in.listing, in.IDs, "spotInstanceRequestIds"); err != nil {
		return nil, err
	}
	all, err := pick(in.IDs, r.SpotInstances(), r.SpotRequest)
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, all, listed[*accounts.Instance]{
		key:        func(i *accounts.Instance) string { return i.SpotRequest },
		attributes: func(i *accounts.Instance) (wire.Attributes, []wire.Tag) { return spotAttributes(r, i), i.SpotTags },
		limits:     wire.Limits{Min: 5, Max: 1000},
	})
	out := &spotRequestsOutput{Next: next}
	for _, i := range found {
		out.Requests = append(out.Requests, itemOfSpotRequest(r, i))
	}
	return out, err
}

func itemOfSpotRequest(r *accounts.Region, i *accounts.Instance) spotRequest {
	seen := itemOfInstance(r, i)
	item := spotRequest{
		ID: i.SpotRequest, Instance: i.ID, Price: i.SpotPrice, Kind: "one-time", Created: stamp(i.Launched), Zone: i.Subnet.Zone.Name,
		ZoneID: i.Subnet.Zone.ID, Product: "Linux/UNIX", Interruption: "terminate", Tags: i.SpotTags,
		Launch: spotLaunch{Image: seen.Image, Type: seen.Type, Key: seen.Key, Subnet: i.Subnet.ID, Zone: i.Subnet.Zone.Name,
			Tenancy: seen.Placement.Tenancy, Watched: i.Spec.Monitoring.Enabled},
	}
	if seen.Profile != nil {
		item.Launch.Profile = &profileName{seen.Profile.ARN}
	}
	for _, g := range i.Groups {
		item.Launch.Groups = append(item.Launch.Groups, groupRef{g.ID, g.Name})
	}
	if i.Image.Family.Windows() {
		item.Product = "Windows"
	}
	item.State, item.Status = spotState(i)
	return item
}

// spotState returns the state of a one-time request: it is active as long as its instance runs.
func spotState(i *accounts.Instance) (string, spotStatus) {
	updated := stamp(i.Changed)
	switch {
	case i.State == accounts.Pending || i.State == accounts.Running:
		return "active", spotStatus{"fulfilled", "Your Spot request is fulfilled.", updated}
	case strings.HasPrefix(i.Why, "Server.SpotInstanceTermination"):
		return "closed", spotStatus{"instance-terminated-no-capacity", "Your Spot Instance was terminated because there is no Spot capacity available.", updated}
	case strings.HasPrefix(i.Why, "Client."):
		return "closed", spotStatus{"instance-terminated-by-user", "Spot Instance terminated due to user-initiated termination.", updated}
	default:
		return "closed", spotStatus{"instance-terminated-by-service", "Spot Instance terminated by a service.", updated}
	}
}

func spotAttributes(r *accounts.Region, i *accounts.Instance) wire.Attributes {
	item := itemOfSpotRequest(r, i)
	a := wire.Attributes{
		"spot-instance-request-id": one(item.ID), "instance-id": one(item.Instance), "state": one(item.State), "status-code": one(item.Status.Code),
		"status-message": one(item.Status.Message), "type": one(item.Kind), "spot-price": one(item.Price), "create-time": one(item.Created),
		"product-description": one(item.Product), "launched-availability-zone": one(item.Zone), "launched-availability-zone-id": one(item.ZoneID),
		"launch.image-id": one(item.Launch.Image), "launch.instance-type": one(item.Launch.Type), "launch.key-name": one(item.Launch.Key),
		"launch.monitoring-enabled": truth(item.Launch.Watched), "launch.group-id": nil, "launch.group-name": nil, "network-interface.subnet-id": one(item.Launch.Subnet),
	}
	for _, g := range item.Launch.Groups {
		a["launch.group-id"], a["launch.group-name"] = append(a["launch.group-id"], g.ID), append(a["launch.group-name"], g.Name)
	}
	return a
}
