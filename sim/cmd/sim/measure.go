package main

import (
	"os"
	"runtime/pprof"
	"time"
)

// measure begins to write the profiles that are asked for. What it gives ends that.
func (w wishes) measure() (end func(), err error) {
	done := make(chan struct{})
	if w.memory != "" {
		go remember(w.memory, done)
	}
	if w.profile == "" {
		return func() { close(done) }, nil
	}
	file, err := os.Create(w.profile)
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	return func() {
		pprof.StopCPUProfile()
		close(done)
	}, err
}

// remember writes what is in memory again and again: at the end of a run it would be gone.
func remember(path string, done <-chan struct{}) {
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			if file, err := os.Create(path); err == nil {
				_ = pprof.WriteHeapProfile(file) // a profile that is missing is seen
				_ = file.Close()                 // as above
			}
		}
	}
}
