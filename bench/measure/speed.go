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

func diverseOnFake(n int) (string, func() corpus.Case) {
	return mixOn(corpus.Diverse, n, "400 types", func() corpus.Case { return corpus.Mix(corpus.Diverse, n, corpus.Fake(400)) })
}

func mixOn(mix string, n int, types string, fresh func() corpus.Case) (string, func() corpus.Case) {
	return fmt.Sprintf("%s, %d pods, %s", mix, n, types), fresh
}

// speed compares pods a second, and prices. Ours includes reading the API objects.
func (b *Bench) speed(ctx context.Context) ([]report.Row, error) {
	sizes := []int{10_000, 20_000}
	if b.Extent == Quick {
		sizes = []int{1000, 10_000}
	}
	var rows []report.Row
	for _, n := range sizes {
		label, fresh := diverseOnFake(n)
		ours, err := b.ours(label, 3, fresh)
		if err != nil {
			return nil, err
		}
		known := diverseQuoted[n]
		theirs := peer.Result{Solve: time.Duration(known.seconds * float64(time.Second)), Price: known.price}
		quote := b.Extent == Quick && n > 1000
		if !quote {
			if theirs, err = b.theirs(ctx, label, 0, fresh); err != nil {
				return nil, err
			}
		}
		row := speedRow(label, n, &ours, theirs, 100)
		row.Quoted = quote
		rows = append(rows, row)
	}
	return rows, nil
}

// speedRow compares speed and price. It requires a multiple of the reference's speed, if ask is
// positive, and no higher price.
func speedRow(label string, n int, ours *product.Result, theirs peer.Result, ask float64) report.Row {
	rate, peerRate := float64(n)/ours.Took().Seconds(), float64(n)/theirs.Solve.Seconds()
	price := ours.Plan.Cost.New.Float()
	row := report.Row{
		Measure: label,
		Ours:    fmt.Sprintf("%.0f pods/s (%s, decide %s), %.2f $/h", rate, short(ours.Took()), short(ours.Decide), price),
		Peer:    fmt.Sprintf("%.0f pods/s (%s), %.2f $/h", peerRate, short(theirs.Solve), theirs.Price),
		Ratio:   fmt.Sprintf("%.0f × speed, %.3f × price", rate/peerRate, price/theirs.Price),
		Values: map[string]float64{
			"podsPerSecond": rate, "referencePodsPerSecond": peerRate, "speedRatio": rate / peerRate,
			"price": price, "referencePrice": theirs.Price, "bound": ours.Plan.Cost.LowerBound.Float(),
			"ingestSeconds": ours.Ingest.Seconds(), "decideSeconds": ours.Decide.Seconds(), "referenceSeconds": theirs.Solve.Seconds(),
			"allocatedMiB": float64(ours.Allocated) / (1 << 20), "referenceAllocatedMiB": float64(theirs.Allocated) / (1 << 20),
			"nodes": float64(len(ours.Plan.Claims)), "referenceNodes": float64(theirs.Nodes),
		},
	}
	if ask > 0 {
		row.Ask = fmt.Sprintf("≥ %.0f × pods/s, no dearer", ask)
		row.Verdict = report.Judge(rate >= ask*peerRate && price <= theirs.Price)
	}
	return row
}

// mixes measures the reference's other workloads, for comparison.
func (b *Bench) mixes(ctx context.Context) ([]report.Row, error) {
	var rows []report.Row
	for _, m := range b.mixCases() {
		label, fresh := m.label, m.fresh
		ours, err := b.ours(label, 1, fresh)
		if err != nil {
			return nil, err
		}
		theirs, err := b.theirs(ctx, label, 0, fresh)
		if err != nil {
			return nil, err
		}
		rows = append(rows, speedRow(label, m.pods, &ours, theirs, 0))
	}
	return rows, nil
}

type mixCase struct {
	label string
	pods  int
	fresh func() corpus.Case
}

func (b *Bench) mixCases() []mixCase {
	if b.Extent == Quick {
		return nil
	}
	var out []mixCase
	add := func(label string, n int, fresh func() corpus.Case) { out = append(out, mixCase{label, n, fresh}) }
	fake := func(mix string, n, types int) {
		label, fresh := mixOn(mix, n, fmt.Sprintf("%d types", types), func() corpus.Case { return corpus.Mix(mix, n, corpus.Fake(types)) })
		add(label, n, fresh)
	}
	for _, n := range []int{1000, 5000} {
		fake(corpus.Generic, n, 400)
	}
	for _, mix := range []string{corpus.ZoneSpread, corpus.HostSpread, corpus.ZoneAffinity} {
		fake(mix, 5000, 400)
	}
	for _, mix := range []string{corpus.Generic, corpus.Diverse} {
		label, fresh := mixOn(mix, 5000, "KWOK types", func() corpus.Case { return corpus.Mix(mix, 5000, corpus.KWOK()) })
		add(label, 5000, fresh)
	}
	ignored := func() corpus.Case {
		c := corpus.Mix(corpus.Preferring, 4000, corpus.Fake(400))
		c.IgnorePreferences = true
		return c
	}
	add("pref ignored, 4000 pods, 400 types", 4000, ignored)
	if b.Extent == Full {
		fake(corpus.HostAnti, 5000, 400)
		fake(corpus.Diverse, 5000, 800)
		fake(corpus.Generic, 10_000, 400)
		fake(corpus.Generic, 50_000, 400)
		fake(corpus.Generic, 100_000, 400)
		fake(corpus.Preferring, 4000, 400)
	}
	return out
}
