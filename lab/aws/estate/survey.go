package estate

// Sighting is what the lab shows of an instance.
type Sighting struct {
	Account      string `json:"account"`
	Region       string `json:"region"`
	ID           string `json:"id"`
	Type         string `json:"type"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	State        State  `json:"state"`
	ProviderID   string `json:"providerID"`
	Node         string `json:"node"`
	Image        string `json:"image"`
	Console      string `json:"console,omitempty"`
	Why          string `json:"why,omitempty"`
}

// Survey is all instances of all accounts, whether EC2 shows them already or not.
func (w *World) Survey() []Sighting {
	seen := []Sighting{}
	_ = w.locked(func() error { // cannot fail
		for _, r := range w.regions() {
			for _, i := range r.instances {
				seen = append(seen, Sighting{
					Account: r.Account.ID, Region: r.Name, ID: i.ID, Type: i.Type.Name, Zone: i.Subnet.Zone.Name, CapacityType: i.CapacityType, State: i.State,
					ProviderID: i.ProviderID(), Node: i.DNSName(r.Name), Image: i.Image.Name, Console: i.Console, Why: i.Why,
				})
			}
		}
		return nil
	})
	w.deliver()
	return seen
}
