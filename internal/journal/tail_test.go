package journal_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"tenon/internal/journal"
)

// script is a journal whose lines a test sets.
type script struct{ lines []journal.Line }

func (s *script) Lines(_ context.Context, after int64, each func(journal.Line) error) error {
	for _, l := range s.lines {
		if l.Seq > after || l.Broken {
			if err := each(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *script) Contents(context.Context, string, io.Writer) error { return journal.ErrNoSnapshot }

// TestTailsFollow checks that a tail adds new decisions, forgets old ones, and notices a journal that was started anew.
func TestTailsFollow(t *testing.T) {
	t.Parallel()
	decision := func(number, same int64) journal.Line {
		return journal.Line{Seq: number, Decision: &journal.Decision{At: epoch.Add(time.Duration(number) * time.Second), Same: same}}
	}
	outcome := func(number, of int64, command string) journal.Line {
		return journal.Line{Seq: number, Outcome: &journal.Outcome{At: epoch, Decision: of, Command: command, Result: journal.Begun}}
	}
	type seen struct {
		ID              int64
		Again, Outcomes int
	}
	from := &script{}
	tail := journal.NewTail(from, 2)
	for _, step := range []struct {
		name string
		add  []journal.Line
		anew bool
		want []seen
	}{
		{name: "there is nothing yet"},
		{name: "a decision", add: []journal.Line{decision(1, 0)}, want: []seen{{1, 0, 0}}},
		{name: "nothing is new", want: []seen{{1, 0, 0}}},
		{name: "the same again, and a begin", add: []journal.Line{decision(2, 1), outcome(3, 1, "c")}, want: []seen{{1, 1, 1}}},
		{name: "the end of a command names no decision", add: []journal.Line{outcome(4, 0, "c")}, want: []seen{{1, 1, 2}}},
		{name: "too many", add: []journal.Line{decision(5, 0), decision(6, 0), decision(7, 0)}, want: []seen{{6, 0, 0}, {7, 0, 0}}},
		{name: "an outcome of what was forgotten", add: []journal.Line{outcome(8, 0, "c")}, want: []seen{{6, 0, 0}, {7, 0, 0}}},
		{name: "the journal begins anew", anew: true, add: []journal.Line{decision(1, 0)}, want: []seen{{1, 0, 0}}},
		{name: "and anew with as many lines", anew: true, add: []journal.Line{{Seq: 1, Start: &journal.Start{At: epoch}}, decision(2, 0)}, want: []seen{{2, 0, 0}}},
	} {
		if step.anew {
			from.lines = nil
		}
		from.lines = append(from.lines, step.add...)
		if err := tail.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []seen
		for _, e := range tail.Entries {
			got = append(got, seen{e.ID, e.Again, len(e.Outcomes)})
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}

// TestTailsCountBrokenLines checks that unreadable lines are counted once each, also those after the last readable one.
func TestTailsCountBrokenLines(t *testing.T) {
	t.Parallel()
	decision := func(number int64) journal.Line {
		return journal.Line{Seq: number, Decision: &journal.Decision{At: epoch}}
	}
	from, broken := &script{}, journal.Line{Broken: true}
	tail := journal.NewTail(from, 0)
	for _, step := range []struct {
		name string
		add  []journal.Line
		want int
	}{
		{"none", []journal.Line{decision(1)}, 0},
		{"one behind the last", []journal.Line{broken}, 1},
		{"it is met again", nil, 1},
		{"the journal goes on", []journal.Line{decision(2)}, 1},
		{"one more", []journal.Line{broken, decision(3)}, 2},
		{"nothing is new", nil, 2},
	} {
		from.lines = append(from.lines, step.add...)
		if err := tail.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := tail.Warning(); got != journal.Unreadable(step.want) {
			t.Errorf("%s: warned of %q, want %q", step.name, got, journal.Unreadable(step.want))
		}
	}
}
