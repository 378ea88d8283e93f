package report

import (
	"strings"
	"testing"
)

func table() Report {
	return Report{
		Machine: "a machine", Peer: "a reference",
		Sections: []Section{{Title: "Speed", Rows: []Row{
			{Measure: "pods", Ask: "≥ 2 ×", Ours: "10 pods/s", Peer: "4 pods/s", Ratio: "2.5 ×", Verdict: Met},
			{Measure: "more pods", Ours: "1 pod/s", Peer: "9 pods/s", Quoted: true, Verdict: Missed},
		}}},
		Widest: []Gap{{Workload: "pods", Ratio: 1.25}},
	}
}

func TestTextLinesUp(t *testing.T) {
	t.Parallel()
	want := `a machine; reference: a reference
'~' before a reference's figure: quoted, not taken in this run.

Speed
  measure    ask    ours       reference   ratio
  pods       ≥ 2 ×  10 pods/s  4 pods/s    2.5 ×  met
  more pods         1 pod/s    ~ 9 pods/s         missed

Widest gaps (price over proven bound)
  1.2500  pods
`
	var got strings.Builder
	r := table()
	if err := r.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

func TestMissedAreCounted(t *testing.T) {
	t.Parallel()
	r := table()
	if got := r.Missed(); got != 1 {
		t.Errorf("%d, want 1", got)
	}
}
