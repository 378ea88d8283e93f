package sim

import (
	"testing"
	"time"
)

// A process that takes over while none is alive remains the only one: none is started besides, after the crash.
func TestHandOverAfterACrash(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Seed: 1, Faults: Faults{Restart: 10 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	s.Run(time.Minute)
	s.Crash()
	s.HandOver()
	s.Run(time.Minute)
	if alive := s.processes; len(alive) != 1 {
		t.Errorf("%d processes are alive", len(alive))
	}
}
