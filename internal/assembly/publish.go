package assembly

import (
	"tenon/internal/controller/market"
	"tenon/internal/reconcile"
)

// publish tells readers outside of the process what it knows of the market, if there is a place for that.
func publish(p Parts, pauses market.Pauses) []reconcile.Controller {
	if p.Namespace == "" {
		return nil
	}
	return []reconcile.Controller{market.New(p.Kit, pauses, p.Namespace)}
}
