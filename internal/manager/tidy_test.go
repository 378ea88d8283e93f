package manager

import (
	"context"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// Memory is returned when a burst is over, and again only when there is garbage to collect.
func TestMemoryIsGivenBackWhenItIsQuiet(t *testing.T) {
	t.Parallel()
	const mebi = 1 << 20
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	allocations, released := make(chan uint64), make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	total := uint64(0)
	tidying := tidy{clock: clock, release: func() { released <- struct{}{} }, allocated: func() uint64 {
		total += <-allocations
		return total
	}}
	done := make(chan error)
	go func() { done <- tidying.Start(ctx) }()
	allocations <- 0
	for i, step := range []struct {
		mebibytes uint64
		want      bool
	}{{900, false}, {500, false}, {60, true}, {10, false}, {10, true}, {900, false}, {1, true}, {1, false}} {
		for !clock.HasWaiters() { // the first round makes its ticker
		}
		clock.Step(tidyPeriod)
		allocations <- step.mebibytes * mebi
		if step.want {
			<-released
			allocations <- 0 // the allocations that it sees after that
		}
		if len(released) > 0 {
			t.Fatalf("step %d: memory was given back", i)
		}
	}
	stop()
	if err := <-done; err != nil || len(released) > 0 {
		t.Errorf("ends with %v", err)
	}
}

// The runtime counts the allocations.
func TestAllocationsAreCounted(t *testing.T) {
	t.Parallel()
	before := allocatedBytes()
	sink = make([]byte, 1<<20)
	if grown := allocatedBytes() - before; before == 0 || grown < 1<<20 {
		t.Errorf("from %d by %d", before, grown)
	}
}

var sink []byte
