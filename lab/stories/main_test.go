// Package stories tests what users do with Tenon, in the order of a workshop, and checks what they see. It
// runs on a real control plane, with the product's controllers and rights, and with machines from a cloud
// in memory or, with STORIES_CLOUD=aws, from the emulated AWS, which allows only what Tenon's IAM policies
// grant. The manifests of the stories are in testdata.
//
// The tests must not look inside the product: they check what kubectl shows.
package stories

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

// TestMain gives all stories one lab. The stories mostly wait, so many of them run in parallel.
func TestMain(m *testing.M) {
	o := labtest.Options{Controller: "memory", BootDelay: time.Second, Parallel: 12, Settings: []string{"FEATURE_GATES=CapacityBuffer=true"}}
	if onAWS() {
		o.Controller, o.Heartbeat, o.EnforceIAM = "tenon", 10*time.Second, true
	}
	labtest.Main(m, o)
}
