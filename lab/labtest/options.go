// Package labtest gives tests a lab: a real control plane with simulated machines. One lab is
// started for a test package at its first use, in seconds, and ends with the package.
//
//	func TestMain(m *testing.M) { labtest.Main(m, labtest.Options{}) }
//
//	func TestSomething(t *testing.T) {
//		lab := labtest.Start(t)    // alone in the lab; it is cleaned afterwards
//		...
//	}
//
//	func TestSomethingSmall(t *testing.T) {
//		t.Parallel()
//		lab := labtest.Share(t)    // with others: keep to lab.Namespace, and to nodes of your own
//		...
//	}
//
// The package must not import k8s.io/kubernetes: the lab is the program tenon-lab, started as a
// user would start it, and tests that use it compile in seconds.
package labtest

import (
	"flag"
	"strconv"
	"testing"
	"time"
)

// Options say which lab a package wants. Zero values are defaults that suit tests.
type Options struct {
	BootDelay  time.Duration // default 300ms
	Heartbeat  time.Duration // default 5s: a silent node is NotReady after 15s
	Controller string        // tenon, which is built if need be; memory, which is Tenon on a cloud in memory; or none, the default
	// Faults are the faults of the emulated AWS from the start, in the form of POST /lab/faults.
	Faults string
	// Settings are those of tenon, as NAME=VALUE.
	Settings []string
	// NodeRole is the role of the cluster's nodes, if it is not the one that the lab's own manifests name.
	NodeRole string
	// EnforceIAM makes the emulated AWS allow only what tenon's policies grant.
	EnforceIAM bool
	// Bare leaves out Tenon's definitions and rights.
	Bare bool
	// Audit records tenon's requests to the API server in the log audit.
	Audit bool
	// Parallel is how many tests run in parallel; zero means the default of the go command, the number of
	// processors. Tests that mostly wait can be many more.
	Parallel int
}

func (o Options) flags() []string {
	if o.BootDelay == 0 {
		o.BootDelay = 300 * time.Millisecond
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 5 * time.Second
	}
	if o.Controller == "" {
		o.Controller = "none"
	}
	flags := []string{
		"--boot-delay=" + o.BootDelay.String(),
		"--heartbeat=" + o.Heartbeat.String(),
		"--controller=" + o.Controller,
	}
	if o.NodeRole != "" {
		flags = append(flags, "--node-role="+o.NodeRole)
	}
	if o.EnforceIAM {
		flags = append(flags, "--enforce-iam")
	}
	if o.Bare {
		flags = append(flags, "--bare")
	}
	if o.Audit {
		flags = append(flags, "--audit")
	}
	for _, setting := range o.Settings {
		flags = append(flags, "--set="+setting)
	}
	return flags
}

// Main runs the tests of a package that uses a lab, ends the lab, and exits. It is for TestMain.
func Main(m *testing.M, options Options) {
	wanted = options
	flag.Parse()
	if options.Parallel > 0 && !given("test.parallel") {
		// Set cannot fail: the testing package defines the flag, and it takes a number.
		_ = flag.Set("test.parallel", strconv.Itoa(options.Parallel))
	}
	exit(stopAfter(m.Run))
}

func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
