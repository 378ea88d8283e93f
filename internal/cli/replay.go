package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"tenon/internal/cli/planning"
	"tenon/internal/journal"
)

// replayer makes decisions again.
type replayer struct {
	ctx  context.Context
	env  Env
	json bool
	save planning.Saving
	// brief leaves out the decisions that are the same, except from the sum.
	brief bool
	sum   replaySum
}

// replaySum counts what came of making decisions again.
type replaySum struct {
	Same    int `json:"same"`
	Another int `json:"another"`
	// Without counts those whose snapshot is not kept, or is cut off.
	Without int `json:"withoutSnapshot"`
}

func (s replaySum) all() int { return s.Same + s.Another + s.Without }

func (s *replaySum) add(r replayed) {
	switch {
	case r.Same:
		s.Same++
	case r.Why != "":
		s.Without++
	default:
		s.Another++
	}
}

// String is the sum in words.
func (s replaySum) String() string {
	return fmt.Sprintf("%d decisions: %d the same, %d with another plan, %d without a snapshot", s.all(), s.Same, s.Another, s.Without)
}

// finish writes the sum of several decisions.
func (r *replayer) finish() error {
	if r.sum.all() < 2 && !r.brief {
		return nil
	}
	if r.json {
		return encoded(r.env.Out, map[string]replaySum{"sum": r.sum})
	}
	_, err := fmt.Fprintln(r.env.Out, r.sum)
	return err
}

// replay repeats the decisions that an argument names: a number in the journal, or all of a file.
func (r *replayer) replay(arg, from string) error {
	number, err := decisionNumber(arg)
	if err != nil {
		return r.all(readJournal(r.env, arg), 0)
	}
	return explainUnreachable(r.all(readJournal(r.env, from), number), from)
}

// all repeats all decisions of a source, or the one with a number.
func (r *replayer) all(source journal.Source, number int64) error {
	entries, err := journal.Entries(r.ctx, source)
	if err != nil {
		return err
	}
	found := false
	for i := range entries {
		e := &entries[i]
		if number != 0 && e.ID != number {
			continue
		}
		found = true
		if err := r.one(source, e); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("there is no decision %d in the journal; tenon journal lists them", number)
	}
	return nil
}

// whatIf repeats one decision with and without a change, and writes what differs. It is incomplete if some
// pod has no place with the change.
func (o *replayOptions) whatIf(ctx context.Context, w Env, arg string, tried planning.WhatIf) error {
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("unknown output format %q; use text or json", o.output)
	}
	source, from := readJournal(w, o.from), o.from
	number, err := decisionNumber(arg)
	if err != nil {
		source, from = readJournal(w, arg), arg
	}
	entries, err := journal.Entries(ctx, source)
	if err != nil {
		return explainUnreachable(err, from)
	}
	at := slices.IndexFunc(entries, func(e journal.Entry) bool { return number == 0 || e.ID == number })
	switch {
	case at < 0:
		return fmt.Errorf("there is no decision %d in the journal; tenon journal lists them", number)
	case number == 0 && len(entries) > 1:
		return fmt.Errorf("%s has %d decisions: name one by its number, with --from %s", arg, len(entries), arg)
	}
	s, err := journal.Snapshot(ctx, source, &entries[at])
	if err != nil {
		return err
	}
	d, err := planning.Difference(s, entries[at].Effort.Budget(), tried, planning.Env{In: w.In, Err: w.Err, Progress: io.Discard, Lookup: w.LookupEnv, Cloud: w.Cloud})
	if err != nil {
		return err
	}
	write := d.WriteText
	if o.output == "json" {
		write = d.WriteJSON
	}
	if err := write(w.Out); err != nil {
		return err
	}
	if d.With.Unschedulable > 0 {
		return ErrIncomplete
	}
	return nil
}

func (r *replayer) one(source journal.Source, e *journal.Entry) error {
	out := replayed{ID: e.ID, At: e.At, By: e.By}
	s, err := journal.Snapshot(r.ctx, source, e)
	switch {
	case errors.Is(err, journal.ErrNoSnapshot):
		out.Why = journal.ErrNoSnapshot.Error()
	case errors.Is(err, journal.ErrCutOff):
		out.Why = journal.ErrCutOff.Error()
	case err != nil:
		return err
	default:
		if r.save.File != "" {
			if err := r.save.Save(s); err != nil {
				return err
			}
		}
		_, out.Same = journal.Replay(e, s)
	}
	r.sum.add(out)
	if r.brief && out.Same {
		return nil
	}
	if r.json {
		return encoded(r.env.Out, out)
	}
	_, err = fmt.Fprintln(r.env.Out, out)
	return err
}
