package measure

import (
	"context"
	"fmt"
	"time"

	"tenon/bench/corpus"
	"tenon/bench/peer"
	"tenon/bench/product"
	"tenon/bench/report"
)

// solveLimit is how long the reference's controller lets one solve run.
const solveLimit = time.Minute

// starved asks for a verdict on every pod of a big cluster in little time.
func (b *Bench) starved(ctx context.Context) ([]report.Row, error) {
	limit := solveLimit
	if b.Extent == Quick {
		limit /= 6
	}
	var rows []report.Row
	for _, spread := range []bool{false, true} {
		label := "pods without preferences"
		if spread {
			label = "pods that prefer to be spread"
		}
		row, err := b.clusterRow(ctx, label, limit, func() corpus.Case { return corpus.Starved(spread) })
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// onto measures how fast pods get places on existing nodes.
func (b *Bench) onto(ctx context.Context) ([]report.Row, error) {
	pods, nodes, limit := 10_000, 2000, solveLimit
	switch b.Extent {
	case Quick:
		limit /= 6
	case Full:
		limit = 0
	}
	label := fmt.Sprintf("%d diverse pods onto %d nodes", pods, nodes)
	fresh := func() corpus.Case { return corpus.Onto(pods, nodes) }
	row, err := b.clusterRow(ctx, label, limit, fresh)
	return []report.Row{row}, err
}

func (b *Bench) clusterRow(ctx context.Context, label string, limit time.Duration, fresh func() corpus.Case) (report.Row, error) {
	ours, err := b.ours(label, 3, fresh)
	if err != nil {
		return report.Row{}, err
	}
	theirs, err := b.theirs(ctx, label, limit, fresh)
	if err != nil {
		return report.Row{}, err
	}
	row := verdictRow(label, &ours, theirs)
	row.Ratio = fmt.Sprintf("%.0f × speed", verdictRate(&ours)/(float64(theirs.Placed+theirs.Refused)/theirs.Solve.Seconds()))
	return row, nil
}

func verdictRate(r *product.Result) float64 {
	return float64(r.Placed()+len(r.Plan.Unplaced)) / r.Took().Seconds()
}

// verdictRow counts the pods by outcome. The counts are the same for all pods when both schedulers
// looked at all of them.
func verdictRow(label string, ours *product.Result, theirs peer.Result) report.Row {
	stopped := ""
	if theirs.Stopped {
		stopped = fmt.Sprintf(", stopped with %d unseen", theirs.Unseen)
	}
	return report.Row{
		Measure: label, Ask: "a verdict each, ≤ 1 s",
		Ours: fmt.Sprintf("%s (decide %s): %d placed, %d refused, %d new nodes, %.2f $/h", short(ours.Took()), short(ours.Decide),
			ours.Placed(), len(ours.Plan.Unplaced), len(ours.Plan.Claims), ours.Plan.Cost.New.Float()),
		Peer:    fmt.Sprintf("%s: %d placed, %d refused, %d new nodes, %.2f $/h%s", short(theirs.Solve), theirs.Placed, theirs.Refused, theirs.Nodes, theirs.Price, stopped),
		Verdict: report.Judge(ours.Took() <= time.Second),
		Values: map[string]float64{
			"ingestSeconds": ours.Ingest.Seconds(), "decideSeconds": ours.Decide.Seconds(), "referenceSeconds": theirs.Solve.Seconds(),
			"placed": float64(ours.Placed()), "unplaced": float64(len(ours.Plan.Unplaced)), "nodes": float64(len(ours.Plan.Claims)),
			"referencePlaced": float64(theirs.Placed), "referenceRefused": float64(theirs.Refused), "referenceUnseen": float64(theirs.Unseen),
			"referenceNodes": float64(theirs.Nodes), "price": ours.Plan.Cost.New.Float(), "referencePrice": theirs.Price,
		},
	}
}
