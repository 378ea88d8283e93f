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
	ours, err := b.ours("starved", 3, corpus.Starved)
	if err != nil {
		return nil, err
	}
	limit := solveLimit
	if b.Extent == Quick {
		limit /= 6
	}
	theirs, err := b.theirs(ctx, "starved", limit, corpus.Starved)
	if err != nil {
		return nil, err
	}
	row := verdictRow("every pod has a verdict", &ours, theirs)
	row.Ratio = fmt.Sprintf("%.0f × speed", verdictRate(&ours)/(float64(theirs.Placed+theirs.Refused)/theirs.Solve.Seconds()))
	return []report.Row{row}, nil
}

// onto asks how fast pods are given to nodes that are there already.
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
	ours, err := b.ours(label, 3, fresh)
	if err != nil {
		return nil, err
	}
	theirs, err := b.theirs(ctx, label, limit, fresh)
	if err != nil {
		return nil, err
	}
	row := verdictRow(label, &ours, theirs)
	row.Ratio = fmt.Sprintf("%.0f × speed", verdictRate(&ours)/(float64(theirs.Placed+theirs.Refused)/theirs.Solve.Seconds()))
	return []report.Row{row}, nil
}

func verdictRate(r *product.Result) float64 {
	return float64(r.Placed()+len(r.Plan.Unplaced)) / r.Took().Seconds()
}

// verdictRow counts what became of the pods, which is the same for all of them when both
// looked at all.
func verdictRow(label string, ours *product.Result, theirs peer.Result) report.Row {
	stopped := ""
	if theirs.Stopped {
		stopped = fmt.Sprintf(", %d unseen when stopped", theirs.Unseen)
	}
	return report.Row{
		Measure: label, Ask: "≤ 1 s",
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
