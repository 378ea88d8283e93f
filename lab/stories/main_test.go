// Package stories tells what users do with Tenon, page by page as the well-known workshop does,
// and checks what they see: on a real control plane, with the product's controllers and rights,
// and machines from a cloud in memory or, with STORIES_CLOUD=aws, from the emulated AWS, where
// it may do what its IAM policies grant and no more. What the stories apply is in testdata.
//
// It must not look inside the product: what is checked can be seen with kubectl.
package stories

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

// TestMain gives all stories one lab. They mostly wait, so many of them run beside each other.
func TestMain(m *testing.M) {
	o := labtest.Options{Controller: "memory", BootDelay: time.Second, Parallel: 12, Settings: []string{"FEATURE_GATES=CapacityBuffer=true"}}
	if onAWS() {
		o.Controller, o.Heartbeat, o.EnforceIAM = "tenon", 10*time.Second, true
	}
	labtest.Main(m, o)
}
