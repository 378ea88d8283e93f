// Package cluster knows what a lab consists of: which components, with which flags, identities and
// ports, started in which order, and how all of it ends.
package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tenon/lab/progress"
	"tenon/lab/state"
)

// Options say what lab to run.
type Options struct {
	Directory state.Directory
	APIPort   int           // 0 means any free port
	BootDelay time.Duration // from a machine's launch to its node
	Heartbeat time.Duration // of the simulated kubelets; three missed ones make a node NotReady

	// Faults is a file with the faults of AWS from the start; empty means none.
	Faults string

	// NodeRole is the IAM role of the cluster's nodes.
	NodeRole string
	// LocalZones are local zones of the emulated region, besides its ordinary ones.
	LocalZones []string

	// EnforceIAM gives the controller its own access key, on which its policies are enforced.
	EnforceIAM bool

	// Settings are the controller's settings, as NAME=VALUE.
	Settings []string

	// Audit makes the API server record what the controller asks for.
	Audit bool

	// Bare leaves out Tenon's definitions and rights: Helm, or a user, installs them.
	Bare bool

	Controller Controller
	// ControllerChosen is true if the user asked for the controller by name: then its absence is an
	// error, otherwise a remark.
	ControllerChosen bool

	Keep     bool // leave logs and data when the lab ends
	Progress *progress.Printer
	// OnReady is called once, when the lab is ready.
	OnReady func(Summary)
}

// DashboardListen is the setting of the controller that says where it serves the dashboard.
const DashboardListen = "DASHBOARD_LISTEN"

// Setting is the value of one of the controller's settings; the last one counts.
func (o *Options) Setting(name string) (value string, given bool) {
	for _, setting := range o.Settings {
		if text, is := strings.CutPrefix(setting, name+"="); is {
			value, given = text, true
		}
	}
	return value, given
}

// Controller says which autoscaler runs in the lab.
type Controller string

// The choices of --controller.
const (
	Tenon  Controller = "tenon"
	Memory Controller = "memory" // Tenon on a cloud in memory
	None   Controller = "none"
)

// ParseController reads a choice.
func ParseController(text string) (Controller, error) {
	switch choice := Controller(text); choice {
	case Tenon, Memory, None:
		return choice, nil
	default:
		return "", fmt.Errorf("controller %q is not known; choose %s, %s or %s", text, Tenon, Memory, None)
	}
}

// Summary describes a lab that is ready.
type Summary struct {
	Directory     state.Directory
	Server        string
	AWS           string // the URL of the emulated AWS
	Took          time.Duration
	ResidentBytes int64
}

// tenonProgram returns the path of the product's program, which lies beside this one. The second result
// says whether it exists.
func tenonProgram() (string, bool) {
	self, err := os.Executable()
	if err != nil {
		return "", false
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	path := filepath.Join(filepath.Dir(self), "tenon")
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
