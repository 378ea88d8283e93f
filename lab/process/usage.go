package process

import (
	"syscall"
	"time"
)

// Usage is what a process takes of the machine.
type Usage struct {
	ResidentBytes int64         // memory in use, shared pages included
	CPU           time.Duration // since the process began
}

// Kill ends a process that is not a child of ours, if it is still the one that was meant.
func Kill(pid int, birth string) {
	if birth == "" || Birth(pid) != birth {
		return
	}
	// It may end between the two lines; then there is nothing left to do.
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// Alive says whether the process that was meant still runs.
func Alive(pid int, birth string) bool {
	return birth != "" && Birth(pid) == birth
}
