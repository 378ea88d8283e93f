package manager

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/utils/clock"
)

// tidy returns memory to the system after a burst. A burst makes much garbage, and the Go runtime keeps
// the memory: it collects once the heap has grown by a share of the memory in use, which takes minutes in
// a quiet process. So a quiet process collects earlier. A busy process leaves it to the runtime.
type tidy struct {
	clock     clock.WithTicker
	allocated func() uint64 // bytes since the process began
	release   func()
}

func newTidy(c clock.WithTicker) tidy {
	return tidy{clock: c, allocated: allocatedBytes, release: debug.FreeOSMemory}
}

const (
	tidyPeriod = 30 * time.Second
	// littleBytes is the most that a quiet process allocates in a period. An idle cluster of 500 nodes
	// takes half of it, a burst ten times as much.
	littleBytes = 64 << 20
	// worthBytes is the least garbage that is worth a collection, which takes about a tenth of a
	// second.
	worthBytes = 16 << 20
)

// NeedLeaderElection is false: a standby has a heap as well.
func (t tidy) NeedLeaderElection() bool { return false }

// Start checks regularly until the context ends.
func (t tidy) Start(ctx context.Context) error {
	ticker := t.clock.NewTicker(tidyPeriod)
	defer ticker.Stop()
	last := t.allocated()
	for tidied := last; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		now := t.allocated()
		if isQuiet(last, now) && now-tidied >= worthBytes {
			t.release()
			now = t.allocated()
			tidied = now
		}
		last = now
	}
}

// isQuiet reports whether little was allocated in a period.
func isQuiet(before, after uint64) bool { return after-before <= littleBytes }

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0 // the Go runtime has other metrics: the process seems quiet, and collecting never worthwhile
	}
	return sample[0].Value.Uint64()
}
