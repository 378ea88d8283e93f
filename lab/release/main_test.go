// Package release tests what users do with the charts, from an empty cluster to one that is empty again.
// Helm's own command line runs the commands of docs/install.md as they are written. The controller runs as
// the Deployment that Helm made specifies, with the ServiceAccount's token and the permissions of the
// CloudFormation template.
//
// The lab's machines run no images: the controller is a process beside the cluster, and its pods are simulated.
package release

import (
	"testing"
	"time"

	"tenon/lab/labtest"
)

// TestMain lets each test start a lab of its own.
func TestMain(m *testing.M) { labtest.Main(m, labtest.Options{}) }

// bare starts a lab in which nothing of Tenon is installed.
func bare(t *testing.T) *labtest.Lab {
	t.Helper()
	return labtest.Own(t, labtest.Options{Controller: "none", Bare: true, EnforceIAM: true, BootDelay: time.Second})
}
