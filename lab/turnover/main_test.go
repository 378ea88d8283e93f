// Package turnover tests how nodes are replaced and removed to save money, and because of drift and age:
// what goes, what replaces it, what blocks it, and what remains after a failure. It runs on a real control
// plane, with the program that users run, in front of the emulated AWS.
//
// The tests must not look inside the product: they check what kubectl and AWS show. Stories run in
// parallel, each with pools that no other story's pods may use.
package turnover

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

// TestMain gives all stories one lab. The stories mostly wait, so many of them run in parallel.
func TestMain(m *testing.M) {
	labtest.Main(m, labtest.Options{
		Controller: "tenon", BootDelay: time.Second, Parallel: 16,
		Settings: []string{"FEATURE_GATES=SpotToSpotConsolidation=true"},
	})
}
