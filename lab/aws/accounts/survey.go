package accounts

import (
	"tenon/lab/aws/market"
	"tenon/lab/aws/wire"
)

// InstanceInfo holds what the lab shows of an instance.
type InstanceInfo struct {
	Account      string `json:"account"`
	Region       string `json:"region"`
	ID           string `json:"id"`
	Type         string `json:"type"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	State        State  `json:"state"`
	Hourly       string `json:"hourly,omitempty"` // its price now; empty if it costs nothing or its price is not known
	ProviderID   string `json:"providerID"`
	Node         string `json:"node"`
	Image        string `json:"image"`
	Console      string `json:"console,omitempty"`
	Why          string `json:"why,omitempty"`
	Pool         string `json:"pool,omitempty"`
	Claim        string `json:"claim,omitempty"`
}

// Survey returns all instances of all accounts, whether EC2 shows them yet or not.
func (w *World) Survey() []InstanceInfo {
	seen := []InstanceInfo{}
	_ = w.locked(func() error { // cannot fail
		for _, r := range w.regions() {
			for _, i := range r.instances {
				seen = append(seen, InstanceInfo{
					Account: r.Account.ID, Region: r.Name, ID: i.ID, Type: i.Type.Name, Zone: i.Subnet.Zone.Name, CapacityType: i.CapacityType, State: i.State, Hourly: r.hourly(i),
					ProviderID: i.ProviderID(), Node: i.DNSName(r.Name), Image: i.Image.Name, Console: i.Console, Why: i.Why,
					Pool: tagOf(i.Tags, "karpenter.sh/nodepool"), Claim: tagOf(i.Tags, "karpenter.sh/nodeclaim"),
				})
			}
		}
		return nil
	})
	w.deliver()
	return seen
}

// tagOf returns the value of a tag; empty if there is none.
func tagOf(tags []wire.Tag, key string) string {
	for _, tag := range tags {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

// hourly returns what an instance costs. An ended instance costs nothing; a reservation is paid for
// whether or not it is used.
func (r *Region) hourly(i *Instance) string {
	if i.State == Terminated || i.State == ShuttingDown || i.Reservation != "" {
		return ""
	}
	if i.CapacityType == "spot" {
		if spot, known := r.Market.Spot(i.Type.Name, i.Subnet.Zone.Name, r.Now()); known {
			return market.Decimal(spot.Price)
		}
		return ""
	}
	if price, known := r.Market.OnDemand(i.Type.Name); known {
		return market.Decimal(price)
	}
	return ""
}
