package kubelet

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

// The cost of a step decides how many pods and nodes one process can simulate.

func BenchmarkStepPod(b *testing.B) {
	for name, pod := range map[string]*v1.Pod{
		"starting": boundPod("p", "n"),
		"running":  boundPod("p", "n", running(2)),
		"stopping": boundPod("p", "n", running(2), deleted(3, 30)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			in, now := seenPod(pod), at(4)
			for b.Loop() {
				stepPod(in, now)
			}
		})
	}
}

func BenchmarkPodPatch(b *testing.B) {
	b.ReportAllocs()
	in := seenPod(boundPod("p", "n"))
	for b.Loop() {
		if _, err := podStatusBody("uid", startedStatus(in, at(2))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStepNode(b *testing.B) {
	for name, now := range map[string]float64{"idle": 30, "reporting": 20 + 600} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			in := bootedNode(tainted("team"))
			for b.Loop() {
				stepNode(in, at(now))
			}
		})
	}
}

func BenchmarkStripPod(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		stripPod(boundPod("p", "n", running(2), annotated(AnnotationRunFor, "1h")))
	}
}
