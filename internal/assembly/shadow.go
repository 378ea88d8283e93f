package assembly

import (
	"tenon/internal/controller/comparison"
	"tenon/internal/controller/intervention"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/shadow"
)

// Shadow is what runs in shadow mode, in place of Controllers: it decides, and carries nothing out.
func Shadow(p Parts, record *shadow.Record) []reconcile.Controller {
	return append(intervention.New(p.Kit, p.Journal), comparison.New(p.Kit, comparison.Options{
		World: p.World, Supply: market.NewSupply(p.Kit.Clock, p.Market, nil), Synced: p.Synced, Record: record, Effort: p.Effort, Journal: p.Journal,
	}))
}
