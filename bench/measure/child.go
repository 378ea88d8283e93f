package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"tenon/bench/corpus"
	"tenon/bench/peer"
	"tenon/bench/product"
)

// ChildResult is what a child process measured.
type ChildResult struct {
	IngestSeconds, DecideSeconds float64
	Nodes, Unplaced              int
	Price, Bound                 float64
	// HeapPeak is the most memory that live and uncollected objects took, by samples; Resident is
	// the most that the whole process held, as the system reports.
	HeapPeak, Resident uint64
}

// Kinds of children: with all API objects in memory, like a command that reads files; with pods
// translated one by one, as a watch delivers them; the reference.
const (
	childObjects = "objects"
	childStream  = "stream"
	childPeer    = "reference"
)

// Child measures what a parent asked for by name, such as stream/100000.
func Child(ctx context.Context, name string) (ChildResult, error) {
	kind, size, _ := strings.Cut(name, "/")
	n, err := strconv.Atoi(size)
	if err != nil {
		return ChildResult{}, fmt.Errorf("child %s: number of pods: %w", name, err)
	}
	stop := sampleHeap()
	var out ChildResult
	switch kind {
	case childObjects:
		out = childOf(product.Run(corpus.Shapes(n)))
	case childStream:
		out = childOf(product.Stream(corpus.Shapes(0), corpus.ShapedPods(n)))
	case childPeer:
		r, err := peer.Run(ctx, corpus.Shapes(n), 20*time.Minute)
		if err != nil {
			return out, err
		}
		out = ChildResult{DecideSeconds: r.Solve.Seconds(), Nodes: r.Nodes, Unplaced: r.Refused + r.Unseen, Price: r.Price}
	default:
		return out, fmt.Errorf("child %s: there is no such kind", name)
	}
	out.HeapPeak = stop()
	return out, nil
}

func childOf(r product.Result) ChildResult {
	return ChildResult{
		IngestSeconds: r.Ingest.Seconds(), DecideSeconds: r.Decide.Seconds(),
		Nodes: len(r.Plan.Claims), Unplaced: len(r.Plan.Unplaced),
		Price: r.Plan.Cost.New.Float(), Bound: r.Plan.Cost.LowerBound.Float(),
	}
}

// sampleHeap watches the heap until the caller calls the function that it returns; that function
// reports the most that was seen.
func sampleHeap() func() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	var peak uint64
	look := func() {
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64())
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				look()
				return
			case <-tick.C:
				look()
			}
		}
	})
	return func() uint64 {
		close(done)
		watching.Wait()
		return peak
	}
}

// Spawn runs this program again with arguments that make it measure one thing.
func Spawn(ctx context.Context, name string) (ChildResult, error) {
	self, err := os.Executable()
	if err != nil {
		return ChildResult{}, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "-child", name)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return ChildResult{}, fmt.Errorf("measure %s in a process of its own: %w", name, err)
	}
	var out ChildResult
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("read what the process for %s measured: %w", name, err)
	}
	out.Resident = resident(cmd.ProcessState)
	return out, nil
}

// resident is the high-water mark of a process that has ended. Linux counts in KiB.
func resident(p *os.ProcessState) uint64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return uint64(usage.Maxrss)
	}
	return uint64(usage.Maxrss) << 10
}
