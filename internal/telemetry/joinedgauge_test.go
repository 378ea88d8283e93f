package telemetry

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// A gauge keeps every label while all series fit, then loses the labels that name objects, and
// gives back labels that never varied.
func TestJoinedGauge(t *testing.T) {
	t.Parallel()
	add := func(f *JoinedGauge, pods int) {
		for i := range pods {
			f.Add(1, fmt.Sprintf("pod-%d", i), "default", []string{"Running", "Pending"}[i%2])
		}
	}
	cases := map[string]struct {
		bound, pods int
		want        []string
	}{
		"all fit": {bound: 3, pods: 3, want: []string{
			`g{name=pod-0 namespace=default phase=Running} 1`, `g{name=pod-1 namespace=default phase=Pending} 1`, `g{name=pod-2 namespace=default phase=Running} 1`}},
		"too many are counted by phase": {bound: 3, pods: 11, want: []string{
			`g{name= namespace=default phase=Pending} 5`, `g{name= namespace=default phase=Running} 6`}},
		"far too many are just counted": {bound: 1, pods: 11, want: []string{`g{name= namespace=default phase=} 11`}},
		"without a bound":               {bound: 0, pods: 2, want: []string{`g{name=pod-0 namespace=default phase=Running} 1`, `g{name=pod-1 namespace=default phase=Pending} 1`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, []string{"name", "namespace", "phase"})
			f := NewJoinedGauge("g", tc.bound, "name", "namespace", "phase")
			add(f, tc.pods)
			f.Replace(gauge, nil)
			if diff := cmp.Diff(tc.want, shown(t, gauge)); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
	}
}

// shown are the series of a gauge, as lines in order.
func shown(t *testing.T, c prometheus.Collector) []string {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	var out []string
	for _, f := range gathered(t, registry) {
		for _, m := range f.GetMetric() {
			out = append(out, fmt.Sprintf("%s{%s} %v", f.GetName(), labels(m), m.GetGauge().GetValue()))
		}
	}
	return out
}

// Joined ages show the oldest.
func TestJoinedGaugeOfAges(t *testing.T) {
	t.Parallel()
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g_seconds"}, []string{"name"})
	f := NewJoinedGauge("g_seconds", 1, "name")
	for i, age := range []float64{3, 7, 5} {
		f.Add(age, fmt.Sprint(i))
	}
	f.Replace(gauge, nil)
	if diff := cmp.Diff([]string{"g_seconds{name=} 7"}, shown(t, gauge)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// With any values in any order, there are never more series than the bound, and the sum is the
// same.
func TestJoinedGaugeIsBounded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		names := []string{"name", "namespace", "zone", "phase"}
		values := make([][]string, dice.IntN(60))
		for i := range values {
			for l := range names {
				values[i] = append(values[i], fmt.Sprint(dice.IntN(1+dice.IntN(2+5*l))))
			}
		}
		bound := 1 + dice.IntN(12)
		var first []string
		for round := range 2 {
			gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, names)
			f := NewJoinedGauge("g", bound, names...)
			for _, v := range values {
				f.Add(2, v...)
			}
			f.Replace(gauge, nil)
			got := shown(t, gauge)
			if round == 0 {
				first = got
			} else if diff := cmp.Diff(first, got); diff != "" {
				t.Fatalf("seed %d: another order gives\n%s", seed, diff)
			}
			total := 0.0
			for _, line := range got {
				var v float64
				if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' '):], &v); err != nil {
					t.Fatal(err)
				}
				total += v
			}
			if len(got) > bound || total != float64(2*len(values)) {
				t.Fatalf("seed %d: %d series that add up to %v, want at most %d and %d", seed, len(got), total, bound, 2*len(values))
			}
			dice.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		}
	}
}

// Series that no longer exist are removed, and those of other writers stay.
func TestReplaceRemovesWhatIsGone(t *testing.T) {
	t.Parallel()
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, []string{"name"})
	gauge.WithLabelValues("other").Set(9)
	round := func(shown [][]string, names ...string) [][]string {
		f := NewJoinedGauge("g", 5, "name")
		for _, name := range names {
			f.Add(1, name)
		}
		return f.Replace(gauge, shown)
	}
	last := round(nil, "a", "b")
	last = round(last, "b", "c")
	if diff := cmp.Diff([]string{"g{name=b} 1", "g{name=c} 1", "g{name=other} 9"}, shown(t, gauge)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	round(last)
	if diff := cmp.Diff([]string{"g{name=other} 9"}, shown(t, gauge)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// BenchmarkJoinedGaugeOfPods is one round of a gauge about the pods of a cluster.
func BenchmarkJoinedGaugeOfPods(b *testing.B) {
	const pods = 5_000
	rows := make([][]string, pods)
	for i := range rows {
		rows[i] = []string{fmt.Sprintf("pod-%d", i), "default", fmt.Sprintf("node-%d", i/10), []string{"a", "b", "c"}[i/10%3], "Running"}
	}
	b.ReportAllocs()
	for b.Loop() {
		f := NewJoinedGauge("state", 50, "name", "namespace", "node", "zone", "phase")
		for _, row := range rows {
			f.Add(1, row...)
		}
	}
}
