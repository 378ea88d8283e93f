// Package cloudstories tells what happens to Tenon at AWS: images of every family, interruptions,
// shortages, throttling, lost credentials, networks without a way out. It runs on a real control
// plane, with the program that users run and its rights, in front of the emulated AWS.
//
// It must not look inside the product: what is checked can be seen with kubectl and at AWS. What
// goes wrong at AWS goes wrong for the whole lab, so one story is told after the other.
package cloudstories

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

func TestMain(m *testing.M) {
	labtest.Main(m, labtest.Options{Controller: "tenon", BootDelay: boot, Heartbeat: heartbeat})
}

// heartbeat is that of real kubelets, or nearly: hundreds of nodes on a busy machine could not keep
// up a quicker one, and would be taken for dead.
const heartbeat = 15 * time.Second

// boot is how long machines take. It is what bounds how many are on their way at a time.
const boot = 2 * time.Second
