// Package e2e tests the lab from outside: the program tenon-lab as a user types it, and the cluster
// that it gives.
package e2e

import (
	"testing"

	"tenon/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m, labtest.Options{}) }
