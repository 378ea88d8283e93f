package process

import "syscall"

// attributes puts the child into its own process group, so that Ctrl-C in the terminal reaches only the
// supervisor, and makes the kernel end the child with its parent. Our own components also end when the
// lifeline closes; foreign programs depend on the kernel alone.
func attributes(foreign bool) *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if foreign {
		death = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}
