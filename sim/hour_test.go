package sim

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/sim/store"
)

// An hour of some 150 nodes, run like a week: it shows how a change affects the time of the
// simulation.
//
//	go test ./sim -run - -bench Hour -benchtime 6x -cpu 1
func BenchmarkHour(b *testing.B) {
	s, err := New(Options{Seed: 7, Pods: 3200, Effort: 100_000, Pause: 15 * time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	s.Run(2 * time.Hour) // until there are enough nodes
	steps, nodes := s.Steps, 0
	b.ReportAllocs()
	for b.Loop() {
		s.Run(time.Hour)
		nodes += len(store.All[*corev1.Node](s.Store))
	}
	b.ReportMetric(float64(s.Steps-steps)/float64(b.N), "steps/op")
	b.ReportMetric(float64(nodes)/float64(b.N), "nodes")
}
