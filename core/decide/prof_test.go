package decide

import "testing"

func BenchmarkProf(b *testing.B) {
	for range b.N {
		Decide(workload("generic", 500, fakeTypes(400)), Budget{})
	}
}

func BenchmarkDiverse(b *testing.B) {
	for range b.N {
		Decide(workload("diverse", 10000, fakeTypes(400)), Budget{})
	}
}
