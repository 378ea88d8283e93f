// Package turnover tells how nodes come and go for the sake of money, drift and age: what is given
// up, what takes its place, what holds it, and what is left when something fails on the way. It runs
// on a real control plane, with the program that users run, in front of the emulated AWS.
//
// It must not look inside the product: what is checked can be seen with kubectl and at AWS. Stories
// run beside each other, each with pools that no other story's pods may use.
package turnover

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

// TestMain gives all stories one lab. They mostly wait, so many of them run beside each other.
func TestMain(m *testing.M) {
	labtest.Main(m, labtest.Options{
		Controller: "tenon", BootDelay: time.Second, Parallel: 16,
		Settings: []string{"FEATURE_GATES=SpotToSpotConsolidation=true"},
	})
}
