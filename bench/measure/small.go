package measure

import (
	"context"
	"fmt"

	"tenon/bench/corpus"
	"tenon/bench/report"
	"tenon/core/bound"
)

// small measures clusters of few pods, where one node too many matters most.
func (b *Bench) small(_ context.Context) ([]report.Row, error) {
	var rows []report.Row
	for _, catalogue := range smallCatalogues() {
		for _, mix := range []string{corpus.Generic, corpus.Diverse} {
			row, err := b.smallRow(mix, catalogue)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	for _, catalogue := range smallCatalogues() {
		row, err := b.exactRow(catalogue)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// smallCatalogue makes cases of few pods on one catalogue.
type smallCatalogue struct {
	name string
	draw func(mix string, n int, seed int64) corpus.Case
}

func smallCatalogues() []smallCatalogue {
	fake, kwok := corpus.Fake(400), corpus.KWOK()
	ec2, words := corpus.EC2()
	onEC2 := func(pool ...string) func(string, int, int64) corpus.Case {
		return func(mix string, n int, seed int64) corpus.Case {
			c := corpus.Draw(mix, n, ec2, seed)
			c.Words = words
			if len(pool) > 0 {
				c = c.WithPools(corpus.Pool(pool[0], corpus.Basic()...))
			}
			return c
		}
	}
	return []smallCatalogue{
		{"400 types", func(mix string, n int, seed int64) corpus.Case { return corpus.Draw(mix, n, fake, seed) }},
		{"KWOK types", func(mix string, n int, seed int64) corpus.Case { return corpus.Draw(mix, n, kwok, seed) }},
		{"all of EC2", onEC2()},
		{"basic pool", onEC2("default")},
	}
}

// smallRow returns the worst result of several sizes and draws.
func (b *Bench) smallRow(mix string, catalogue smallCatalogue) (report.Row, error) {
	worst, sum, count := 0.0, 0.0, 0
	where := ""
	draws := int64(3)
	if b.Extent == Quick {
		draws = 1
	}
	values := map[string]float64{}
	for _, n := range []int{10, 20, 35, 50, 75, 100} {
		for seed := corpus.Seed; seed < corpus.Seed+int(draws); seed++ {
			label := fmt.Sprintf("%s, %d pods, %s, seed %d", mix, n, catalogue.name, seed)
			ours, err := b.ours(label, 1, func() corpus.Case { return catalogue.draw(mix, n, int64(seed)) })
			if err != nil {
				return report.Row{}, err
			}
			ratio := overBound(&ours)
			values[fmt.Sprintf("priceOverBound/%d/%d", n, seed)] = ratio
			sum, count = sum+ratio, count+1
			if ratio > worst {
				worst, where = ratio, fmt.Sprintf("%d pods, seed %d", n, seed)
			}
		}
	}
	values["worst"], values["mean"] = worst, sum/float64(count)
	return report.Row{
		Measure: fmt.Sprintf("%s, 10 to 100 pods, %s", mix, catalogue.name), Ask: "≤ 1.10 × bound",
		Ours:    fmt.Sprintf("at worst %.4f × bound (%s), mean %.4f of %d", worst, where, sum/float64(count), count),
		Verdict: report.Judge(worst <= 1.10), Values: values,
	}, nil
}

// exactSteps is how many steps one exact optimum may take.
const exactSteps = 60_000_000

// exactRow compares with the exact optimum, for pods without constraints.
func (b *Bench) exactRow(catalogue smallCatalogue) (report.Row, error) {
	worst, sum, solved, close, tried := 1.0, 0.0, 0, 0, 0
	where := ""
	draws := 8
	if b.Extent == Quick {
		draws = 2
	}
	for _, n := range []int{3, 5, 7, 9, 11} {
		for seed := range draws {
			tried++
			c := catalogue.draw(corpus.Generic, n, int64(seed))
			optimum, ok := bound.Exact(unconstrained(c), exactSteps)
			if !ok {
				continue
			}
			label := fmt.Sprintf("%s, %d pods, %s, seed %d", corpus.Generic, n, catalogue.name, seed)
			ours, err := b.ours(label, 1, func() corpus.Case { return catalogue.draw(corpus.Generic, n, int64(seed)) })
			if err != nil {
				return report.Row{}, err
			}
			ratio := float64(ours.Plan.Cost.New) / float64(optimum)
			solved, sum = solved+1, sum+ratio
			if ratio <= 1.01 {
				close++
			}
			if ratio > worst {
				worst, where = ratio, fmt.Sprintf(" (%d pods, seed %d)", n, seed)
			}
		}
	}
	if solved == 0 {
		return report.Row{}, fmt.Errorf("no exact optimum could be computed for %s", catalogue.name)
	}
	return report.Row{
		Measure: fmt.Sprintf("generic, 3 to 11 pods, %s", catalogue.name), Ask: "≤ 1.01 × exact optimum",
		Ours:    fmt.Sprintf("at worst %.4f × optimum%s; %d of %d within 1 %%, %d of %d computed", worst, where, close, solved, solved, tried),
		Verdict: report.Judge(worst <= 1.01),
		Values:  map[string]float64{"worst": worst, "mean": sum / float64(solved), "computed": float64(solved), "within": float64(close)},
	}, nil
}
