package assembly

import (
	"slices"

	"tenon/internal/controller/capacitybuffer"
	"tenon/internal/controller/nodeoverlay"
	"tenon/internal/controller/nodepool/counter"
	"tenon/internal/controller/nodepool/hash"
	"tenon/internal/controller/nodepool/readiness"
	"tenon/internal/controller/nodepool/registrationhealth"
	"tenon/internal/controller/nodepool/validation"
	"tenon/internal/controller/provisioningrequest"
	"tenon/internal/controller/static"
	"tenon/internal/reconcile"
)

func pools(p Parts) []reconcile.Controller {
	return append(slices.Concat(nodeoverlay.New(p.Kit, p.Market), static.New(p.Kit), capacitybuffer.New(p.Kit), provisioningrequest.New(p.Kit)),
		hash.New(p.Kit), counter.New(p.Kit), readiness.New(p.Kit), validation.New(p.Kit), registrationhealth.New(p.Kit, p.Tracker),
	)
}
