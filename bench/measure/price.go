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

// skews compares prices with bounds on a cloud's catalogue, with everything that is sold
// and with what a usual pool allows.
func (b *Bench) skews(ctx context.Context) ([]report.Row, error) {
	sizes := []int{1000, 3000, 10_000}
	if b.Extent == Quick {
		sizes = sizes[:1]
	}
	var rows []report.Row
	for _, basic := range []bool{false, true} {
		for _, workload := range corpus.Skews() {
			for _, n := range sizes {
				label, fresh := skewed(workload, n, basic)
				beside := b.Extent == Full || b.Extent == Usual && n == 1000
				row, err := b.priceRow(ctx, priceCase{label: label, fresh: fresh, ask: 1.02, beside: beside, limit: 5 * time.Minute})
				if err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

func skewed(workload string, n int, basic bool) (string, func() corpus.Case) {
	allowed := "all of EC2"
	if basic {
		allowed = "basic pool"
	}
	return fmt.Sprintf("%s, %d pods, %s", workload, n, allowed), func() corpus.Case { return corpus.Skew(workload, n, basic) }
}

// diverse compares prices of diverse pods with bounds and with the reference's.
func (b *Bench) diverse(ctx context.Context) ([]report.Row, error) {
	sizes := []int{50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000}
	if b.Extent == Quick {
		sizes = sizes[:5]
	}
	var rows []report.Row
	for _, n := range sizes {
		label, fresh := diverseOnFake(n)
		row, err := b.priceRow(ctx, priceCase{label: label, fresh: fresh, ask: 1.05, beside: true, noDearer: true})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for _, n := range []int{100, 1000, 10_000} {
		if n > 1000 && b.Extent == Quick {
			continue
		}
		label, fresh := diverseOnEC2(n)
		row, err := b.priceRow(ctx, priceCase{label: label, fresh: fresh, ask: 1.05, beside: n <= 1000 || b.Extent == Full, noDearer: true, limit: 10 * time.Minute})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func diverseOnEC2(n int) (string, func() corpus.Case) {
	return fmt.Sprintf("%s, %d pods, basic pool", corpus.Diverse, n), func() corpus.Case {
		types, words := corpus.EC2()
		c := corpus.Mix(corpus.Diverse, n, types).WithPools(corpus.Pool("default", corpus.Basic()...))
		c.Words = words
		return c
	}
}

type priceCase struct {
	label string
	fresh func() corpus.Case
	// ask is how far above the bound the price may be.
	ask float64
	// beside runs the reference too, within the limit; noDearer requires that the reference is not
	// cheaper.
	beside, noDearer bool
	limit            time.Duration
}

func (b *Bench) priceRow(ctx context.Context, c priceCase) (report.Row, error) {
	ours, err := b.ours(c.label, 1, c.fresh)
	if err != nil {
		return report.Row{}, err
	}
	row := priced(c.label, &ours, c.ask)
	if !c.beside {
		return row, nil
	}
	theirs, err := b.theirs(ctx, c.label, c.limit, c.fresh)
	if err != nil {
		return row, err
	}
	setPeer(&row, theirs)
	if c.noDearer && !theirs.Stopped {
		row.Ask += ", no dearer"
		if row.Values["price"] > theirs.Price*(1+1e-9) {
			row.Verdict = report.Missed
		}
	}
	return row, nil
}

func priced(label string, ours *product.Result, ask float64) report.Row {
	price, bound := ours.Plan.Cost.New.Float(), ours.Plan.Cost.LowerBound.Float()
	return report.Row{
		Measure: label, Ask: fmt.Sprintf("≤ %.2f × bound", ask),
		Ours:    fmt.Sprintf("%.4f × bound: %.3f $/h, %d nodes in %s", overBound(ours), price, len(ours.Plan.Claims), short(ours.Took())),
		Verdict: report.Judge(overBound(ours) <= ask && len(ours.Plan.Unplaced) == 0),
		Values: map[string]float64{
			"priceOverBound": overBound(ours), "price": price, "bound": bound, "nodes": float64(len(ours.Plan.Claims)),
			"unplaced": float64(len(ours.Plan.Unplaced)), "seconds": ours.Took().Seconds(),
		},
	}
}

func setPeer(row *report.Row, theirs peer.Result) {
	if theirs.Stopped {
		row.Peer = fmt.Sprintf("%d of %d pods when stopped after %s", theirs.Placed, theirs.Placed+theirs.Refused+theirs.Unseen, short(theirs.Solve))
		return
	}
	row.Peer = fmt.Sprintf("%.4f × bound: %.3f $/h, %d nodes in %s", theirs.Price/row.Values["bound"], theirs.Price, theirs.Nodes, short(theirs.Solve))
	row.Ratio = fmt.Sprintf("%.3f × price", row.Values["price"]/theirs.Price)
	row.Values["referencePrice"], row.Values["referenceSeconds"] = theirs.Price, theirs.Solve.Seconds()
}
