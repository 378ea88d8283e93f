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
	"tenon/lab/pages"
)

// TestMain lets each test start a lab of its own, and plays the programs that pages name.
func TestMain(m *testing.M) {
	pages.Play()
	labtest.Main(m, labtest.Options{})
}

// bare starts a lab in which nothing of Tenon is installed.
func bare(t *testing.T, options labtest.Options) *labtest.Lab {
	t.Helper()
	options.Controller, options.Bare, options.EnforceIAM, options.BootDelay = "none", true, true, time.Second
	return labtest.Own(t, options)
}
