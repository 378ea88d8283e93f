package measure

import (
	"context"
	"fmt"
	"time"

	"tenon/bench/report"
)

// scale measures time and memory, each case in a separate process.
func (b *Bench) scale(ctx context.Context) ([]report.Row, error) {
	n := 100_000
	if b.Extent == Quick {
		n = 20_000
	}
	theirs, quote := scaleQuoted, true
	if b.Extent == Full {
		r, err := b.Child(ctx, fmt.Sprintf("%s/%d", childPeer, n))
		if err != nil {
			return nil, err
		}
		theirs, quote = memoryText(r), false
	}
	var rows []report.Row
	for _, kind := range []struct{ name, label string }{
		{childStream, "pods read one by one"},
		{childObjects, "all API objects in memory"},
	} {
		r, err := b.Child(ctx, fmt.Sprintf("%s/%d", kind.name, n))
		if err != nil {
			return nil, err
		}
		label := fmt.Sprintf("%d pods, %s", n, kind.label)
		b.say("ours       %-44s %s, %d nodes, %.2f $/h", label, memoryText(r), r.Nodes, r.Price)
		b.gaps = append(b.gaps, report.Gap{Workload: label, Ratio: r.Price / r.Bound})
		rows = append(rows, report.Row{
			Measure: label, Ask: "≤ 2 s, ≤ 600 MiB peak", Ours: memoryText(r), Peer: theirs, Quoted: quote,
			Ratio: fmt.Sprintf("price %.4f × bound", r.Price/r.Bound), Verdict: report.Judge(r.seconds() <= 2 && r.Resident <= 600<<20 && r.Unplaced == 0),
			Values: map[string]float64{
				"ingestSeconds": r.IngestSeconds, "decideSeconds": r.DecideSeconds, "heapPeakMiB": mebi(r.HeapPeak), "residentMiB": mebi(r.Resident),
				"nodes": float64(r.Nodes), "price": r.Price, "bound": r.Bound, "unplaced": float64(r.Unplaced),
			},
		})
	}
	return rows, nil
}

func (r ChildResult) seconds() float64 { return r.IngestSeconds + r.DecideSeconds }

func memoryText(r ChildResult) string {
	took := time.Duration(r.seconds() * float64(time.Second))
	decided := time.Duration(r.DecideSeconds * float64(time.Second))
	return fmt.Sprintf("%s (decide %s), heap %.0f MiB, process %.0f MiB", short(took), short(decided), mebi(r.HeapPeak), mebi(r.Resident))
}

func mebi(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
