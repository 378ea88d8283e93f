package dashboard

import "net/http"

// market is what is sold, as the page Market shows it.
type market struct {
	At    int64        `json:"at"` // 0: nothing is published
	Types []marketType `json:"types"`
	Spot  spotDocument `json:"spot"`
}

type marketType struct {
	Name   string        `json:"name"`
	Arch   string        `json:"arch"`
	CPU    float64       `json:"cpu"`
	Memory float64       `json:"memory"`
	Offers []marketOffer `json:"offers"`
}

type marketOffer struct {
	Zone     string  `json:"zone"`
	Capacity string  `json:"capacity"`
	Price    float64 `json:"price"`
	Stock    bool    `json:"stock"`
	Since    int64   `json:"since,omitempty"`
	Until    int64   `json:"until,omitempty"`
}

// market serves what the controller publishes.
func (d *Dashboard) market(w http.ResponseWriter, _ *http.Request) {
	out := market{Types: []marketType{}, Spot: d.spot.document(d.options.Fleet())}
	if d.options.Market == nil {
		answer(w, out)
		return
	}
	sold := d.options.Market()
	out.At = seconds(sold.At)
	for _, t := range sold.Types {
		one := marketType{Name: t.Name, Arch: t.Arch, CPU: float64(t.Capacity.CPU) / 1000, Memory: float64(t.Capacity.Memory), Offers: []marketOffer{}}
		for _, o := range t.Offers {
			one.Offers = append(one.Offers, marketOffer{o.Zone, o.CapacityType, o.Price.Float(), o.Stock, seconds(o.Since), seconds(o.Until)})
		}
		out.Types = append(out.Types, one)
	}
	answer(w, out)
}
