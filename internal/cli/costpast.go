package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"tenon/core/order"
	"tenon/internal/cost"
	"tenon/internal/journal"
	"tenon/internal/view"
)

// pastCost asks what the nodes have cost: at a time, or since one.
type pastCost struct{ at, since, from string }

func (p pastCost) given() bool { return p.at != "" || p.since != "" }

// pastOutputs are the formats of costs in the past.
var pastOutputs = []string{"table", "json", "yaml", outputPath}

func (p pastCost) check(output string) error {
	switch {
	case p.at != "" && p.since != "":
		return errors.New("--at is a moment and --since a span of time that ends now: give one of them")
	case p.given() && checkOutput(output, pastOutputs...) != nil:
		return fmt.Errorf("-o %s is about the present fleet; use %s with --at and --since", output, outputsText(pastOutputs))
	}
	return nil
}

func runPastCost(ctx context.Context, by cost.Dimension, p pastCost, output string, w Env, now time.Time) error {
	source := readJournal(w, p.from)
	entries, err := journal.Entries(ctx, source)
	if err != nil {
		return explainUnreachable(err, p.from)
	}
	if p.at != "" {
		at, err := moment("--at", p.at, now)
		if err != nil {
			return err
		}
		out, err := costAt(ctx, source, entries, by, at)
		if err != nil {
			return err
		}
		return writeDocument(w.Out, output, out, out.write)
	}
	since, err := moment("--since", p.since, now)
	if err != nil {
		return err
	}
	out, err := costSince(ctx, source, entries, by, since, now)
	if err != nil {
		return err
	}
	return writeDocument(w.Out, output, out, out.write)
}

// costAt is what the nodes cost an hour by the newest snapshot of a journal that is not after a time.
func costAt(ctx context.Context, source journal.Source, entries []journal.Entry, by cost.Dimension, at time.Time) (costs, error) {
	for i := range slices.Backward(entries) {
		e := &entries[i]
		if e.At.After(at) {
			continue
		}
		f, err := pastFleet(ctx, source, e)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return costs{}, err
		}
		out := costOf(f, by)
		out.At, out.Decision = e.At.UTC().Format(time.RFC3339), e.ID
		return out, nil
	}
	return costs{}, fmt.Errorf("the journal has no snapshot of %s or before; tenon journal lists what it has, and --since needs no snapshots", at.UTC().Format(time.RFC3339))
}

// isMissing reports whether an error says that a decision has no snapshot any more.
func isMissing(err error) bool {
	return errors.Is(err, journal.ErrNoSnapshot) || errors.Is(err, journal.ErrCutOff)
}

// pastFleet is the fleet that was decided about.
func pastFleet(ctx context.Context, source journal.Source, e *journal.Entry) (*view.Fleet, error) {
	s, err := journal.Snapshot(ctx, source, e)
	if err != nil {
		return nil, err
	}
	currency := ""
	if e.Cost != nil {
		currency = e.Cost.Currency
	}
	return view.Past(s, nil, currency), nil
}

// spent is what `tenon cost --since` prints.
type spent struct {
	Currency string         `json:"currency,omitempty"`
	By       cost.Dimension `json:"by"`
	Since    time.Time      `json:"since"`
	Until    time.Time      `json:"until"`
	Spent    float64        `json:"spent"`
	Average  float64        `json:"averagePerHour"`
	Least    float64        `json:"leastPerHour"`
	Most     float64        `json:"mostPerHour"`
	// Snapshots is how many the division is from; without any there are no lines.
	Snapshots int         `json:"snapshots"`
	Lines     []spentLine `json:"lines"`
	// begins is set if the journal begins after the time that was asked for.
	begins bool
}

type spentLine struct {
	Name  string  `json:"name"`
	Spent float64 `json:"spent"`
	Share float64 `json:"share"` // of the whole, from 0 to 1
}

// mostReadings is how many snapshots the division of a span of time is from at most.
const mostReadings = 60

// costSince is what the nodes have cost. The sum is from the price of every decision, and its division from the snapshots
// that are kept.
func costSince(ctx context.Context, source journal.Source, entries []journal.Entry, by cost.Dimension, since, now time.Time) (spent, error) {
	prices, err := journal.Prices(ctx, source)
	if err != nil {
		return spent{}, err
	}
	sum, known := journal.Spent(prices, since, now)
	if !known {
		return spent{}, fmt.Errorf("the journal has no decision of the time since %s", since.UTC().Format(time.RFC3339))
	}
	out := spent{
		Currency: sum.Currency, By: by, Since: sum.From.UTC(), Until: sum.Until.UTC(), Spent: sum.Spent, Least: sum.Least, Most: sum.Most, Lines: []spentLine{},
		begins: sum.From.After(since),
	}
	if hours := sum.Until.Sub(sum.From).Hours(); hours > 0 {
		out.Average = sum.Spent / hours
	}
	err = out.divide(ctx, source, readings(entries, sum.From, now), sum.From, now)
	return out, err
}

// divide divides the sum as the snapshots of that time are divided, each for as long as it was the newest one.
func (s *spent) divide(ctx context.Context, source journal.Source, entries []journal.Entry, from, until time.Time) error {
	shares, whole := map[string]float64{}, 0.0
	for i := range entries {
		f, err := pastFleet(ctx, source, &entries[i])
		if isMissing(err) {
			continue
		}
		if err != nil {
			return err
		}
		begin, end := entries[i].At, until
		if begin.Before(from) {
			begin = from
		}
		if i+1 < len(entries) {
			end = entries[i+1].At
		}
		s.Snapshots++
		for _, line := range f.Cost(s.By) {
			part := line.Price.Float() * end.Sub(begin).Hours()
			shares[line.Name] += part
			whole += part
		}
	}
	if whole <= 0 {
		return nil
	}
	for _, name := range order.Keys(shares) {
		share := shares[name] / whole
		s.Lines = append(s.Lines, spentLine{name, share * s.Spent, share})
	}
	slices.SortStableFunc(s.Lines, func(a, b spentLine) int { return cmp.Compare(b.Spent, a.Spent) })
	return nil
}

// readings are the decisions with a snapshot that are about a span of time: at most mostReadings, evenly chosen.
func readings(entries []journal.Entry, from, until time.Time) []journal.Entry {
	var in []journal.Entry
	for _, e := range entries {
		switch {
		case e.Snapshot == "" || !e.At.Before(until):
		case e.At.Before(from):
			in = append(in[:0], e)
		default:
			in = append(in, e)
		}
	}
	if len(in) <= mostReadings {
		return in
	}
	out := make([]journal.Entry, mostReadings)
	for i := range out {
		out[i] = in[i*len(in)/mostReadings]
	}
	return out
}

func (s spent) write(to io.Writer) error {
	unit := cmp.Or(s.Currency, "price")
	fmt.Fprintf(to, "from %s to %s: %s, on average %.4f an hour (%.4f to %.4f)\n", s.Since.Format(time.RFC3339), s.Until.Format(time.RFC3339),
		strings.TrimSpace(fmt.Sprintf("%.4f %s", s.Spent, s.Currency)), s.Average, s.Least, s.Most)
	if s.begins {
		fmt.Fprintln(to, "the journal begins there")
	}
	if s.Snapshots == 0 {
		fmt.Fprintln(to, "no snapshot of that time is kept, from which the sum could be divided")
		return nil
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\t%s\tSHARE\n", strings.ToUpper(string(s.By)), strings.ToUpper(unit))
	for _, line := range s.Lines {
		fmt.Fprintf(w, "%s\t%.4f\t%.1f%%\n", line.Name, line.Spent, 100*line.Share)
	}
	fmt.Fprintf(w, "all\t%.4f\t\n", s.Spent)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	_, err := fmt.Fprintf(to, "\nthe division is that of %d snapshots\n", s.Snapshots)
	return err
}
