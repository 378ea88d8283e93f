package process

import "syscall"

// attributes puts the child into a process group of its own, so that Ctrl-C in the terminal reaches
// the supervisor alone, and lets the kernel end the child with its parent. That is a second line of
// defence for our own components, and the only one for programs that know no leash.
func attributes(foreign bool) *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if foreign {
		death = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}
