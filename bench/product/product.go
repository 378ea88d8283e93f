// Package product runs this repository's product on a workload, and takes the time.
package product

import (
	"fmt"
	"iter"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/bench/corpus"
	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// Result is the outcome of one case.
type Result struct {
	// Ingest is the time from API objects to a snapshot, Decide from there to a plan.
	Ingest, Decide time.Duration
	// Allocated are the bytes allocated in both, whether they were freed or not.
	Allocated uint64
	Snapshot  *snapshot.Snapshot
	Plan      plan.Plan
}

// Took returns the whole time.
func (r *Result) Took() time.Duration { return r.Ingest + r.Decide }

// Run translates the case and decides on it.
func Run(c corpus.Case) Result {
	runtime.GC()
	before := allocated()
	start := time.Now()
	s := Snapshot(c)
	read := time.Now()
	decided := decide.Decide(s, decide.Budget{})
	end := time.Now()
	return Result{
		Ingest: read.Sub(start), Decide: end.Sub(read),
		Allocated: allocated() - before,
		Snapshot:  s, Plan: decided.Plan,
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// Snapshot translates the case. The catalogue exists already, as in a controller.
func Snapshot(c corpus.Case) *snapshot.Snapshot {
	return ingest.Build(&ingest.Objects{
		Pods:      append(c.Pods[:len(c.Pods):len(c.Pods)], c.Running...),
		Nodes:     c.Nodes,
		NodePools: c.Pools,
	}, options(c))
}

func options(c corpus.Case) ingest.Options {
	preferences := snapshot.Respect
	if c.IgnorePreferences {
		preferences = snapshot.Ignore
	}
	return ingest.Options{
		Settings:   snapshot.Settings{Preferences: preferences},
		Vocabulary: requirement.Core().With(c.Words),
		Catalog: func(*karpenterv1.NodePool, metav1.Object) (*catalog.Catalog, error) {
			return c.Catalog, nil
		},
	}
}

// Placed returns how many pods found a place.
func (r *Result) Placed() int {
	n := 0
	for i := range r.Plan.Claims {
		n += len(r.Plan.Claims[i].Pods)
	}
	for i := range r.Plan.Existing {
		n += len(r.Plan.Existing[i].Pods)
	}
	return n
}

// Complete returns an error unless every waiting pod of the case has a verdict.
func (r *Result) Complete(c corpus.Case) error {
	got := r.Placed() + len(r.Plan.Unplaced)
	if got != len(c.Pods) {
		return fmt.Errorf("%d of %d pods have a verdict", got, len(c.Pods))
	}
	return nil
}

// Stream translates the pods one at a time and keeps none of them, as a controller does with pods
// from a watch, and then decides. The case has everything but pods.
func Stream(c corpus.Case, pods iter.Seq[*corev1.Pod]) Result {
	s := Snapshot(c)
	translator := ingest.NewTranslator(ingest.NewIndex(), options(c))
	var took time.Duration
	for pod := range pods {
		start := time.Now()
		if translated, ok := translator.Pod(pod); ok {
			s.Pods = append(s.Pods, translated)
		}
		took += time.Since(start)
	}
	s.Templates = translator.Templates()
	start := time.Now()
	decided := decide.Decide(s, decide.Budget{})
	return Result{Ingest: took, Decide: time.Since(start), Snapshot: s, Plan: decided.Plan}
}
