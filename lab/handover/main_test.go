// Package handover tests two replicas of the controller on one cluster and one cloud: one leads,
// the other takes over, and nothing is bought twice.
//
// The replicas run inside the test, so that one of them can be cut off from the API server.
package handover

import (
	"testing"
	"time"

	"github.com/go-logr/logr"

	"tenon/internal/manager"
	"tenon/internal/settings"
	"tenon/lab/labtest"
)

// TestMain gives the tests a lab without a controller: they bring their own.
func TestMain(m *testing.M) {
	// No test reads the output of the replicas' libraries.
	manager.Tune(settings.Settings{}, logr.Discard())
	labtest.Main(m, labtest.Options{Controller: "none", BootDelay: time.Second})
}
