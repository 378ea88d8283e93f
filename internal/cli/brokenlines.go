package cli

import (
	"context"
	"fmt"
	"io"

	"tenon/internal/journal"
)

// readJournal is the source that a flag names, for a command that writes once: it warns of lines that cannot be read.
func readJournal(w Env, from string) journal.Source {
	return &warning{Source: journalSource(from), from: from, to: w.Err}
}

// warning is a source that says once how many of its lines were cut off. What they recorded is lost; the others are read.
type warning struct {
	journal.Source
	from string
	to   io.Writer
	said bool
}

// Lines implements journal.Source.
func (s *warning) Lines(ctx context.Context, after int64, each func(journal.Line) error) error {
	broken := 0
	err := s.Source.Lines(ctx, after, func(l journal.Line) error {
		if l.Broken {
			broken++
			return nil
		}
		return each(l)
	})
	if err == nil && broken > 0 && !s.said {
		s.said = true
		fmt.Fprintf(s.to, "warning: %s: %s\n", s.from, journal.Unreadable(broken))
	}
	return err
}
