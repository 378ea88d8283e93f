package instancetype

import (
	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// Prices says what an instance costs an hour, if that is known.
type Prices interface {
	OnDemand(instanceType string) (model.Money, bool)
	Spot(instanceType, zone string) (model.Money, bool)
}

// Estimated derives all prices from a list of on-demand prices: it assumes that spot costs a fixed part of
// them, the same in all zones. That is an estimate, not a price that EC2 offered; a controller assumes 100
// percent until it knows the first real spot price.
type Estimated struct {
	List        facts.Prices
	SpotPercent int64
}

// BuiltIn returns the estimated prices of a region from the built-in list.
func BuiltIn(region string, spotPercent int64) Estimated {
	return Estimated{List: facts.PricesFor(region), SpotPercent: spotPercent}
}

// OnDemand returns the price in the list.
func (e Estimated) OnDemand(instanceType string) (model.Money, bool) {
	price, known := e.List.Hourly[instanceType]
	return price, known
}

// Spot returns a part of the price in the list.
func (e Estimated) Spot(instanceType, _ string) (model.Money, bool) {
	price, known := e.List.Hourly[instanceType]
	return price * model.Money(e.SpotPercent) / 100, known
}

type noPrices struct{}

func (noPrices) OnDemand(string) (model.Money, bool)     { return 0, false }
func (noPrices) Spot(string, string) (model.Money, bool) { return 0, false }
