package requirement_test

import (
	"fmt"
	"testing"

	. "tenon/core/requirement"
)

// machine is an instance type of the size that providers declare: 25 labels.
func machine() Set {
	s := NewSet(
		New(KeyInstanceType, In, "m5.large"), New(KeyArch, In, "amd64"), New(KeyOS, In, "linux"),
		New(KeyZone, In, "a", "b", "c", "d"), New(KeyCapacityType, In, "on-demand", "spot"),
	)
	for i := range 20 {
		s = s.With(New(fmt.Sprintf("cloud.example/instance-fact-%d", i), In, fmt.Sprint(i)))
	}
	return s
}

func claim() Set {
	return NewSet(
		New(KeyNodePool, In, "default"), New(KeyArch, In, "amd64"), New(KeyOS, In, "linux"),
		New(KeyZone, NotIn, "d"), New(KeyCapacityType, In, "spot", "on-demand"), New("cloud.example/instance-fact-7", Gt, "4"),
	)
}

func pod() Set {
	return NewSet(New(KeyArch, In, "amd64"), New(KeyZone, In, "a", "b"), New("cloud.example/instance-fact-9", Lt, "40"))
}

func catalogue(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%04d.large", i)
	}
	return names
}

// TestQuestionsDoNotAllocate keeps the promise of the package comment. It runs alone,
// since allocations are counted for the whole process.
func TestQuestionsDoNotAllocate(t *testing.T) {
	known := Core().With(Words{WellKnown: []string{"cloud.example/instance-fact-9"}}).WellKnown()
	machine, claim, pod := machine(), claim(), pod()
	wide, narrow := New("k", In, catalogue(600)...), New("k", NotIn, catalogue(300)...)
	wrong := NewSet(New("topology.kubernetes.io/zoen", In, "a"))
	questions := map[string]func() bool{
		"Set.Compatible":         func() bool { return claim.Compatible(pod, known) },
		"Set.Intersects":         func() bool { return machine.Intersects(claim) },
		"Set.FindMismatch":       func() bool { _, found := claim.FindMismatch(wrong, known); return found },
		"Set.FindConflict":       func() bool { _, found := machine.FindConflict(NewSet()); return !found },
		"Set.Get":                func() bool { return claim.Get(KeyZone).Has("a") },
		"Requirement.Has":        func() bool { return wide.Has("c0599.large") },
		"Requirement.Has number": func() bool { return claim.Get("cloud.example/instance-fact-7").Has("5") },
		"Requirement.Has text":   func() bool { return !claim.Get("cloud.example/instance-fact-7").Has("m5.large") },
		"Requirement.Intersects": func() bool { return wide.Intersects(narrow) },
		"Requirement.Compatible": func() bool { return narrow.Compatible(wide) },
	}
	for name, ask := range questions {
		if !ask() {
			t.Errorf("%s: the answer is no", name)
		}
		if allocations := testing.AllocsPerRun(100, func() { ask() }); allocations != 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

func BenchmarkHas(b *testing.B) {
	cases := map[string]struct {
		r     Requirement
		value string
	}{
		"few":    {New("k", In, "a", "b", "c"), "c"},
		"many":   {New("k", In, catalogue(600)...), "c0400.large"},
		"range":  {New("k", Gt, "4"), "128"},
		"notInt": {New("k", Gt, "4"), "m5.large"},
	}
	for name, tc := range cases {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tc.r.Has(tc.value)
			}
		})
	}
}

func BenchmarkIntersects(b *testing.B) {
	machine, claim := machine(), claim()
	narrowed := claim.With(New(KeyInstanceType, In, append(catalogue(599), "m5.large")...))
	for name, other := range map[string]Set{"claim": claim, "claimWith600Types": narrowed} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				machine.Intersects(other)
			}
		})
	}
}

func BenchmarkCompatible(b *testing.B) {
	known := Core().WellKnown()
	claim, pod, wrong := claim(), pod(), NewSet(New(KeyArch, In, "arm64"), New("team", Exists))
	b.Run("yes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			claim.Compatible(pod, known)
		}
	})
	b.Run("no", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			claim.Compatible(wrong, known)
		}
	})
	b.Run("why", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			claim.FindMismatch(wrong, known)
		}
	})
}

func BenchmarkIntersect(b *testing.B) {
	claim, pod := claim(), pod()
	b.ReportAllocs()
	for b.Loop() {
		claim.Intersect(pod)
	}
}
