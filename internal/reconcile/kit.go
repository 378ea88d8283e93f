package reconcile

import (
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/internal/settings"
	"tenon/internal/telemetry"
)

// Kit is what controllers are made with: everything through which they touch the outside.
type Kit struct {
	// Client reads from caches, which lag behind, and writes to the API server.
	Client client.Client
	// Server reads from the API server itself; see Uncached.
	Server client.Reader
	// Cloud buys and removes machines.
	Cloud cloud.Provider
	// Groups reads groups of instances and changes their sizes; nil where there are none.
	Groups cloud.Groups
	// Clock is where the time comes from, always.
	Clock clock.PassiveClock
	// Events are what people see beside the object.
	Events telemetry.Recorder
	// Metrics are all of the product's.
	Metrics  *telemetry.Metrics
	Settings settings.Settings
}
