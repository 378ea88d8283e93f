package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"tenon/bench/corpus"
	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/journal"
)

// BenchmarkRecord records evaluations of a cluster of 500 nodes, each of which says something
// else. BenchmarkEvaluate measures an evaluation, for comparison. "loop" is what the controller
// waits for, "writer" is what its goroutine does meanwhile.
func BenchmarkRecord(b *testing.B) {
	s := Of(corpus.Half(500, 15, 7_500))
	begun := time.Now()
	d := decide.Decide(s, decide.Budget{Disrupt: true})
	took := time.Since(begun)
	for _, where := range []string{"memory", "folder"} {
		b.Run(fmt.Sprintf("%d pods in %s", len(s.Pods), where), func(b *testing.B) { recordAgain(b, s, d, took, where) })
	}
}

func recordAgain(b *testing.B, s *snapshot.Snapshot, d decide.Decision, took time.Duration, where string) {
	folder := ""
	if where == "folder" {
		folder = b.TempDir()
	}
	before := heap()
	j, err := journal.Open(journal.Options{Folder: folder, Bytes: 200_000_000}, s.Now)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	var first int64
	for b.Loop() {
		changed := *s
		changed.Now = s.Now.Add(time.Duration(n) * time.Minute)
		changed.Pods = append([]snapshot.Pod(nil), s.Pods...)
		changed.Pods[(n*37)%len(s.Pods)].Name = fmt.Sprintf("other-%d", n)
		d.Plan.Cost.New++ // it says something else
		j.Decided(journal.Record{By: "disruption", Snapshot: &changed, Decision: &d})
		if n++; n == 1 && folder != "" {
			first = size(b, folder)
		}
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/took.Seconds(), "%-of-decision")
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
	if folder != "" && n > 1 {
		b.ReportMetric(float64(size(b, folder)-first)/float64(n-1), "B-on-disk/op")
	}
	runtime.KeepAlive(j)
}

// BenchmarkDecided measures what the controller waits for: the writer is a separate goroutine.
func BenchmarkDecided(b *testing.B) {
	s := Of(corpus.Half(500, 15, 7_500))
	begun := time.Now()
	d := decide.Decide(s, decide.Budget{Disrupt: true})
	took := time.Since(begun)
	j, err := journal.Open(journal.Options{Bytes: 200_000_000}, s.Now)
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		if err := j.Run(b.Context()); err != nil {
			b.Error(err)
		}
	}()
	for b.Loop() {
		d.Plan.Cost.New++
		j.Decided(journal.Record{By: "disruption", Snapshot: s, Decision: &d})
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/took.Seconds(), "%-of-decision")
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // the second collection also frees what pools keep
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func size(b *testing.B, folder string) int64 {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		b.Fatal(err)
	}
	var sum int64
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			b.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}
