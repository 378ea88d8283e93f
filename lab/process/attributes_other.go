//go:build !linux

package process

import "syscall"

// attributes puts the child into its own process group, so that Ctrl-C in the terminal reaches only the
// supervisor. This system has no parent-death signal: the next `up` or `down` in its directory ends a
// foreign child that outlives a killed supervisor.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
