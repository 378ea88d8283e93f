package manager

import (
	"fmt"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"tenon/internal/settings"
)

// Scope is what a controller gets to register itself with.
type Scope struct {
	Manager  ctrl.Manager
	Settings settings.Settings
	Metrics  prometheus.Registerer
	Log      logr.Logger
}

// registrations lists everything that runs in the process, in the order in which it is added. A
// new controller is one line here and a package of its own under internal/controller.
var registrations = []struct {
	name string
	add  func(Scope) error
}{
	{"kind watch", addKindWatch},
}

func register(scope Scope) error {
	for _, r := range registrations {
		if err := r.add(scope); err != nil {
			return fmt.Errorf("register %s: %w", r.name, err)
		}
	}
	return nil
}

func addKindWatch(scope Scope) error {
	return scope.Manager.Add(kindWatch{mapper: scope.Manager.GetRESTMapper(), clock: clock.RealClock{}, log: scope.Log})
}
