package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tenon/core/decide"
	"tenon/core/snapshot"
)

// Entry is a decision with its outcomes so far, or a change that a user made.
type Entry struct {
	ID       int64 `json:"id"`
	Decision `json:",inline"`
	// Intervention is the change of a user. Then the decision has only a time and By, which is ByHand.
	Intervention *Intervention `json:"intervention,omitempty"`
	// Again counts the later decisions that were the same.
	Again    int       `json:"again,omitempty"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// Source is a journal that can be read: one that this process writes, a folder, or a file.
type Source interface {
	// Lines passes on, in order, the decisions, outcomes and starts with a number above after, and between them
	// the places of broken lines.
	Lines(ctx context.Context, after int64, each func(Line) error) error
	// Contents writes the snapshot with a digest in the format that snapshot.Read reads.
	Contents(ctx context.Context, digest string, w io.Writer) error
}

// Entries are the decisions of a source, in order. Outcomes of commands whose decision is not in it
// are left out; those without the number of a decision belong to the begin of their command.
func Entries(ctx context.Context, from Source) ([]Entry, error) {
	t := NewTail(from, 0)
	err := t.Read(ctx)
	out := make([]Entry, 0, len(t.Entries))
	for _, e := range t.Entries {
		if e.Intervention == nil {
			out = append(out, *e)
		}
	}
	return out, err
}

// Concerns reports whether a decision, or its outcome, is about an object: a pool, a claim, a node, an
// instance type, or a pod as NAMESPACE/NAME, as far as the line names it.
func (e *Entry) Concerns(object string) bool {
	is := func(names ...string) bool { return slices.Contains(names, object) }
	if e.Intervention != nil {
		return is(e.Intervention.Name)
	}
	return slices.ContainsFunc(e.Launches, func(l Launch) bool { return is(l.Pool, l.InstanceType) }) ||
		slices.ContainsFunc(e.Unplaced, func(u Unplaced) bool { return is(u.Names...) || strings.Contains(u.Why, "pool "+object+":") }) ||
		slices.ContainsFunc(e.Disruptions, func(d Disruption) bool { return is(d.Nodes...) }) ||
		slices.ContainsFunc(e.Outcomes, func(o Outcome) bool {
			return is(o.NodePool, o.Command) || is(o.NodeClaims...) || is(o.Replacements...)
		})
}

// Snapshot is the snapshot of a decision of a source.
func Snapshot(ctx context.Context, from Source, e *Entry) (*snapshot.Snapshot, error) {
	if e.Decision.Snapshot == "" {
		return nil, fmt.Errorf("decision %d: %w", e.ID, ErrNoSnapshot)
	}
	var file bytes.Buffer
	if err := from.Contents(ctx, e.Decision.Snapshot, &file); err != nil {
		return nil, fmt.Errorf("decision %d: %w", e.ID, err)
	}
	s, err := snapshot.Read(&file)
	if err != nil {
		return nil, fmt.Errorf("decision %d: %w", e.ID, err)
	}
	return s, nil
}

// Replay makes the decision about a snapshot again, and reports whether the plan is the same to the byte.
func Replay(e *Entry, s *snapshot.Snapshot) (decide.Decision, bool) {
	d := decide.Decide(s, e.Effort.Budget())
	return d, Digest(&d.Plan) == e.Plan
}

// Lines implements Source.
func (j *Journal) Lines(_ context.Context, after int64, each func(Line) error) error {
	j.writing.Lock()
	pieces := j.decisions.extent()
	j.writing.Unlock()
	return j.decisions.lines(pieces, after, each)
}

// Contents implements Source.
func (j *Journal) Contents(_ context.Context, digest string, w io.Writer) error {
	j.writing.Lock()
	pieces := j.snapshots.extent()
	j.writing.Unlock()
	return contents(j.snapshots, pieces, digest, w)
}

// contents searches piece by piece, the last one first: each piece has all parts of its snapshots.
func contents(s *store, pieces []piece, digest string, w io.Writer) error {
	broken := false
	for i := range slices.Backward(pieces) {
		text, err := s.read(&pieces[i])
		if errors.Is(err, os.ErrNotExist) { // it has been removed meanwhile
			continue
		}
		if err != nil {
			return err
		}
		if err := assemble(w, text, digest); !errors.Is(err, ErrNoSnapshot) {
			return err
		}
		broken = broken || isBroken(text)
	}
	if broken {
		return ErrCutOff
	}
	return ErrNoSnapshot
}

// Folder reads the journal in a folder, which another process may be writing.
type Folder string

// Lines implements Source.
func (f Folder) Lines(_ context.Context, after int64, each func(Line) error) error {
	s, pieces, err := f.open(decisionsName)
	if err != nil {
		return err
	}
	return s.lines(pieces, after, each)
}

// Contents implements Source.
func (f Folder) Contents(_ context.Context, digest string, w io.Writer) error {
	s, pieces, err := f.open(snapshotsName)
	if err != nil {
		return err
	}
	return contents(s, pieces, digest, w)
}

func (f Folder) open(name string) (*store, []piece, error) {
	pieces, err := piecesIn(string(f), name)
	if err != nil {
		return nil, nil, err
	}
	s := &store{folder: string(f), name: name, pieces: pieces}
	return s, s.extent(), nil
}

// File reads one file of lines, as they are exported: decisions, outcomes and snapshots together.
type File string

// Lines implements Source.
func (f File) Lines(_ context.Context, after int64, each func(Line) error) error {
	file, err := os.Open(string(f))
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()
	found := false
	err = Read(file, all, func(l Line) error {
		found = found || !l.Broken
		if l.Seq <= after && !l.Broken {
			return nil
		}
		return each(l)
	})
	if err == nil && !found {
		return fmt.Errorf("%s is not a journal: it has no line of one", string(f))
	}
	return err
}

// Contents implements Source.
func (f File) Contents(_ context.Context, digest string, w io.Writer) error {
	text, err := os.ReadFile(string(f))
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	err = assemble(w, text, digest)
	if errors.Is(err, ErrNoSnapshot) && isBroken(text) {
		return ErrCutOff
	}
	return err
}
