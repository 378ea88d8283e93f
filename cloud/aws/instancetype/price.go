package instancetype

import (
	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// Prices tells what an instance costs an hour, if that is known.
type Prices interface {
	OnDemand(instanceType string) (model.Money, bool)
	Spot(instanceType, zone string) (model.Money, bool)
}

// Estimated are prices from a list of on-demand prices alone: spot is taken to cost a
// part of them, the same in all zones. That is an estimate, not a price that EC2
// offered; 100 percent is what is assumed of spot until the first real spot price is
// known to a controller.
type Estimated struct {
	List        facts.Prices
	SpotPercent int64
}

// BuiltIn are the estimated prices of a region from the list that comes with the program.
func BuiltIn(region string, spotPercent int64) Estimated {
	return Estimated{List: facts.PricesFor(region), SpotPercent: spotPercent}
}

// OnDemand is the price from the list.
func (e Estimated) OnDemand(instanceType string) (model.Money, bool) {
	price, known := e.List.Hourly[instanceType]
	return price, known
}

// Spot is a part of the price from the list.
func (e Estimated) Spot(instanceType, _ string) (model.Money, bool) {
	price, known := e.List.Hourly[instanceType]
	return price * model.Money(e.SpotPercent) / 100, known
}

type noPrices struct{}

func (noPrices) OnDemand(string) (model.Money, bool)     { return 0, false }
func (noPrices) Spot(string, string) (model.Money, bool) { return 0, false }
