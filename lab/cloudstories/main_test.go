// Package cloudstories tests Tenon against events at AWS: images of every family, interruptions,
// shortages, throttling, lost credentials, networks without a way out. It runs on a real control plane,
// with the program that users run and its rights, in front of the emulated AWS.
//
// The tests must not look inside the product: they check what kubectl and AWS show. A fault at AWS
// affects the whole lab, so the stories run one after the other.
package cloudstories

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

func TestMain(m *testing.M) {
	labtest.Main(m, labtest.Options{Controller: "tenon", BootDelay: boot, Heartbeat: heartbeat})
}

// heartbeat is nearly that of real kubelets: hundreds of nodes on a busy machine could not keep up a
// faster one, and would count as dead.
const heartbeat = 15 * time.Second

// boot is how long machines take to boot. It bounds how many are on their way at a time.
const boot = 2 * time.Second
