package process

import (
	"syscall"
	"time"
)

// Usage is what a process uses of the machine.
type Usage struct {
	ResidentBytes int64         // memory in use, shared pages included
	CPU           time.Duration // since the process began
}

// Kill ends a process that is not a child of ours, if its birth shows that the id was not reused.
func Kill(pid int, birth string) {
	if birth == "" || Birth(pid) != birth {
		return
	}
	// The process may end between the two lines; then there is nothing left to do.
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// Alive reports whether the process with this id and birth still runs.
func Alive(pid int, birth string) bool {
	return birth != "" && Birth(pid) == birth
}
