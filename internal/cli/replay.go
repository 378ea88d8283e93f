package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"tenon/internal/cli/planning"
	"tenon/internal/journal"
)

// replayer makes decisions again.
type replayer struct {
	ctx   context.Context
	out   io.Writer
	json  bool
	save  string // where the snapshot is written; empty is nowhere
	other int    // how many are not the same
}

// replay makes those again that an argument names: a number in the journal, or all of a file.
func (r *replayer) replay(arg, from string) error {
	number, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return r.all(journal.File(arg), 0)
	}
	return explainUnreachable(r.all(journalSource(from), number), from)
}

// all makes all decisions of a source again, or the one with a number.
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

func (r *replayer) one(source journal.Source, e *journal.Entry) error {
	out := replayed{ID: e.ID, At: e.At, By: e.By}
	s, err := journal.Snapshot(r.ctx, source, e)
	switch {
	case errors.Is(err, journal.ErrNoSnapshot):
		out.Why = journal.ErrNoSnapshot.Error()
	case err != nil:
		return err
	default:
		if r.save != "" {
			if err := planning.SaveSnapshot(r.save, s); err != nil {
				return err
			}
		}
		_, out.Same = journal.Replay(e, s)
	}
	if !out.Same {
		r.other++
	}
	if r.json {
		return encoded(r.out, out)
	}
	_, err = fmt.Fprintln(r.out, out)
	return err
}
