//go:build !linux

package process

import "syscall"

// attributes puts the child into a process group of its own, so that Ctrl-C in the terminal reaches
// the supervisor alone. There is no parent-death signal here: a foreign child that outlives a killed
// supervisor is ended by the next `up` or `down` in its directory.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
