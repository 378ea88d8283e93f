// Package measure takes the measurements of the table. Each section runs cases of the corpus on
// the product and, in the same run, on the reference, and judges the results.
package measure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"tenon/bench/corpus"
	"tenon/bench/peer"
	"tenon/bench/product"
	"tenon/bench/report"
)

// Extent is how much is measured.
type Extent int

// Quick takes a minute or two with smaller cases; Usual takes about ten minutes; Full takes an
// hour, and measures every case of the corpus with the reference beside it.
const (
	Quick Extent = iota
	Usual
	Full
)

// Bench is one run of measurements.
type Bench struct {
	Extent Extent
	// Progress gets a line for every measurement.
	Progress io.Writer
	// Child runs one of the measurements of Child in a separate process.
	Child func(ctx context.Context, name string) (ChildResult, error)

	peers map[string]peer.Result
	gaps  []report.Gap
}

// section is a part of the table.
type section struct {
	name, title string
	rows        func(*Bench, context.Context) ([]report.Row, error)
}

var sections = []section{
	{"speed", "Diverse pods, 400 types (the reference's benchmark)", (*Bench).speed},
	{"scale", "100,000 pods of 500 shapes on all of EC2", (*Bench).scale},
	{"starved", "20 pools, 1,060 nodes, 2,170 waiting pods, no GPUs to be had, big pods first", (*Bench).starved},
	{"onto", "Diverse pods onto existing nodes", (*Bench).onto},
	{"skew", "Price over proven bound: workloads on the EC2 catalogue", (*Bench).skews},
	{"diverse", "Price over proven bound: diverse pods", (*Bench).diverse},
	{"small", "Small clusters", (*Bench).small},
	{"mixes", "The reference's other workloads", (*Bench).mixes},
}

// Names returns the names of the sections.
func Names() []string {
	var out []string
	for _, s := range sections {
		out = append(out, s.name)
	}
	return out
}

// Run measures the sections of these names, or all sections if there are no names.
func (b *Bench) Run(ctx context.Context, only []string) (report.Report, error) {
	out := report.Report{Machine: machine(), Peer: "sigs.k8s.io/karpenter " + version("sigs.k8s.io/karpenter")}
	for _, s := range sections {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		rows, err := s.rows(b, ctx)
		if err != nil {
			return out, fmt.Errorf("measure %s: %w", s.name, err)
		}
		if len(rows) > 0 {
			out.Sections = append(out.Sections, report.Section{Name: s.name, Title: s.title, Rows: rows})
		}
	}
	out.Widest = b.widest(10)
	return out, nil
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "(unknown)"
}

// ours runs the product on fresh copies of a case and returns the run of median time.
func (b *Bench) ours(label string, times int, fresh func() corpus.Case) (product.Result, error) {
	var runs []product.Result
	for range times {
		c := fresh()
		r := product.Run(c)
		if err := r.Complete(c); err != nil {
			return r, fmt.Errorf("%s: %w", label, err)
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(x, y product.Result) int { return cmp.Compare(x.Took(), y.Took()) })
	median := runs[len(runs)/2]
	b.say("ours       %-44s %8s + %8s  %d nodes, %d unplaced, %.2f $/h, %.4f × bound", label, short(median.Ingest), short(median.Decide),
		len(median.Plan.Claims), len(median.Plan.Unplaced), median.Plan.Cost.New.Float(), overBound(&median))
	if len(median.Plan.Claims) > 0 {
		b.gaps = append(b.gaps, report.Gap{Workload: label, Ratio: overBound(&median)})
	}
	return median, nil
}

// theirs runs the reference on a case, once for each label.
func (b *Bench) theirs(ctx context.Context, label string, limit time.Duration, fresh func() corpus.Case) (peer.Result, error) {
	if r, done := b.peers[label]; done {
		return r, nil
	}
	r, err := peer.Run(ctx, fresh(), limit)
	if err != nil {
		return r, err
	}
	if b.peers == nil {
		b.peers = map[string]peer.Result{}
	}
	b.peers[label] = r
	b.say("reference  %-44s %8s + %8s  %d nodes, %d refused, %d unseen, %.2f $/h", label, short(r.Setup), short(r.Solve), r.Nodes, r.Refused, r.Unseen, r.Price)
	return r, nil
}

func (b *Bench) widest(n int) []report.Gap {
	slices.SortFunc(b.gaps, func(x, y report.Gap) int {
		return cmp.Or(cmp.Compare(y.Ratio, x.Ratio), cmp.Compare(x.Workload, y.Workload))
	})
	b.gaps = slices.Compact(b.gaps)
	return b.gaps[:min(n, len(b.gaps))]
}

func (b *Bench) say(format string, args ...any) {
	fmt.Fprintf(b.Progress, format+"\n", args...)
}

func overBound(r *product.Result) float64 {
	if r.Plan.Cost.LowerBound == 0 {
		return 1
	}
	return r.Plan.Cost.New.Float() / r.Plan.Cost.LowerBound.Float()
}

func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
