package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"tenon/core/catalog"
	"tenon/core/expand"
)

// What a snapshot file says of itself. The version changes when a file of the old form
// would be misread; until then a program reads the files of all programs before it.
const (
	codecFormat  = "tenon/snapshot"
	codecVersion = 1
)

// envelope is the outermost object of a file.
type envelope struct {
	Format   string          `json:"format"`
	Version  int             `json:"version"`
	Snapshot json.RawMessage `json:"snapshot"`
}

// Write writes s as JSON. Equal snapshots give the same bytes: maps are written in the
// order of their keys, and times in UTC. Compression is the caller's business.
func Write(w io.Writer, s *Snapshot) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(canonical(s)); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	head := fmt.Sprintf(`{"format":%q,"version":%d,"snapshot":`, codecFormat, codecVersion)
	for _, part := range [][]byte{[]byte(head), bytes.TrimSuffix(body.Bytes(), []byte("\n")), []byte("}\n")} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write snapshot: %w", err)
		}
	}
	return nil
}

// canonical is s with what is no part of its content made equal: times are in UTC, since
// the place where a snapshot was taken does not matter, and empty lists are nil.
func canonical(s *Snapshot) *Snapshot {
	out := *s
	out.Now = s.Now.UTC()
	out.Catalogs = append([]catalog.Catalog(nil), s.Catalogs...)
	out.Pools = append([]Pool(nil), s.Pools...)
	for i := range out.Pools {
		out.Pools[i].Consolidation.Turns = out.Pools[i].Consolidation.Turns.UTC()
	}
	out.Templates = append([]Template(nil), s.Templates...)
	out.Daemons = append([]Daemon(nil), s.Daemons...)
	out.Gated = append([]Gated(nil), s.Gated...)
	out.Budgets = append([]Budget(nil), s.Budgets...)
	out.Answers = append([]expand.Answer(nil), s.Answers...)
	out.Nodes = append([]Node(nil), s.Nodes...)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.Created = n.Created.UTC()
		for _, at := range []*time.Time{&n.Life.Quiet, &n.Life.Since, &n.Life.Nominated, &n.Life.Expires} {
			*at = at.UTC()
		}
		n.Life.Rearranged = inUTC(n.Life.Rearranged)
	}
	out.Pods = append([]Pod(nil), s.Pods...)
	for i := range out.Pods {
		out.Pods[i].Created = out.Pods[i].Created.UTC()
		out.Pods[i].Tie.Until = out.Pods[i].Tie.Until.UTC()
	}
	since := &out.Waiting.Arrivals
	for _, at := range []*time.Time{&since.Placed, &since.Lost, &since.Moving, &since.Leaving} {
		*at = at.UTC()
	}
	out.Waiting.Moves = append([]Since(nil), s.Waiting.Moves...)
	for i := range out.Waiting.Moves {
		out.Waiting.Moves[i].At = out.Waiting.Moves[i].At.UTC()
	}
	return &out
}

func inUTC(times []time.Time) []time.Time {
	out := append([]time.Time(nil), times...)
	for i := range out {
		out[i] = out[i].UTC()
	}
	return out
}

// Read reads what Write wrote. It refuses files of another format or version, fields that
// it does not know, and references that lead nowhere, so that what it returns can be
// decided upon.
func Read(r io.Reader) (*Snapshot, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	var outer envelope
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, fmt.Errorf("read snapshot: not a snapshot file: %w", err)
	}
	if err := outer.check(); err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(outer.Snapshot))
	decoder.DisallowUnknownFields()
	s := &Snapshot{}
	if err := decoder.Decode(s); err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	if err := s.checkReferences(); err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return canonical(s), nil
}

func (e *envelope) check() error {
	switch {
	case e.Format != codecFormat:
		return fmt.Errorf("not a snapshot file: its format is %q, want %q", e.Format, codecFormat)
	case e.Version > codecVersion:
		return fmt.Errorf("version %d is newer than this program, which reads up to %d", e.Version, codecVersion)
	case e.Version < 1:
		return fmt.Errorf("version %d does not exist", e.Version)
	case len(e.Snapshot) == 0 || string(e.Snapshot) == "null":
		return errors.New("the file holds no snapshot")
	}
	return nil
}

// checkReferences finds indexes that are out of range.
func (s *Snapshot) checkReferences() error {
	for i := range s.Pools {
		if c := s.Pools[i].Catalog; c < 0 || int(c) >= len(s.Catalogs) {
			return fmt.Errorf("pools[%d] (%s): there is no catalogue %d", i, s.Pools[i].Name, c)
		}
	}
	for i := range s.Pods {
		if !s.hasTemplate(s.Pods[i].Template) {
			return fmt.Errorf("pods[%d] (%s): there is no template %d", i, s.Pods[i].Key(), s.Pods[i].Template)
		}
	}
	for i := range s.Daemons {
		if !s.hasTemplate(s.Daemons[i].Template) {
			return fmt.Errorf("daemons[%d] (%s/%s): there is no template %d", i, s.Daemons[i].Namespace, s.Daemons[i].Name, s.Daemons[i].Template)
		}
	}
	return nil
}

func (s *Snapshot) hasTemplate(i TemplateIndex) bool { return i >= 0 && int(i) < len(s.Templates) }
