package main

import (
	"os"
	"runtime/pprof"
	"time"
)

// measure starts the requested profiles, and returns a function that ends them.
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

// remember writes the heap profile repeatedly: at the end of a run its memory is free already.
func remember(path string, done <-chan struct{}) {
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			if file, err := os.Create(path); err == nil {
				_ = pprof.WriteHeapProfile(file) // the user notices a missing profile
				_ = file.Close()                 // as above
			}
		}
	}
}
