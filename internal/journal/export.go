package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Export writes some decisions of a source as one file of lines, with their outcomes and, if the source
// has them, their snapshots. Of decisions in later, only the outcomes are written. File reads it.
func Export(ctx context.Context, w io.Writer, from Source, entries, later []Entry) error {
	encoder := json.NewEncoder(w)
	written := map[string]bool{} // parts
	for i := range entries {
		e := &entries[i]
		if e.Intervention != nil {
			if err := encoder.Encode(Line{Seq: e.ID, Intervention: e.Intervention}); err != nil {
				return fmt.Errorf("write journal: %w", err)
			}
			continue
		}
		if err := exportSnapshot(ctx, encoder, from, e.Decision.Snapshot, written); err != nil {
			return err
		}
		if err := encoder.Encode(Line{Seq: e.ID, Decision: &e.Decision}); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
		if err := e.exportOutcomes(encoder); err != nil {
			return err
		}
	}
	for i := range later {
		if err := later[i].exportOutcomes(encoder); err != nil {
			return err
		}
	}
	return nil
}

func (e *Entry) exportOutcomes(to *json.Encoder) error {
	for _, o := range e.Outcomes {
		o.Decision = e.ID
		if err := to.Encode(Line{Seq: e.ID, Outcome: &o}); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
	}
	return nil
}

func exportSnapshot(ctx context.Context, to *json.Encoder, from Source, digest string, written map[string]bool) error {
	if digest == "" || written[digest] {
		return nil
	}
	var text bytes.Buffer
	if err := from.Contents(ctx, digest, &text); errors.Is(err, ErrNoSnapshot) {
		return nil
	} else if err != nil {
		return err
	}
	c := newCutter(func(part []byte) (string, error) {
		p, err := pack(part)
		if err == nil && !written[p.Digest] {
			err = to.Encode(Line{Part: &p})
		}
		written[p.Digest] = true
		return p.Digest, err
	})
	if _, err := c.Write(text.Bytes()); err != nil {
		return err
	}
	contents, err := c.contents()
	if err != nil {
		return err
	}
	written[digest] = true
	if err := to.Encode(Line{Snapshot: &contents}); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}
