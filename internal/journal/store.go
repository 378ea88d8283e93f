package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The two lists of lines of a journal. Their files are named NAME-NUMBER.jsonl.
const (
	decisionsName = "decisions"
	snapshotsName = "snapshots"
	extension     = ".jsonl"
)

// segments is the number of pieces of a store: the oldest is removed when there is no more room.
const segments = 8

// store holds lines in pieces, as files of a folder or in memory. It belongs to the writer, except
// completed pieces and the reading of files.
type store struct {
	folder string // empty means in memory
	name   string
	limit  int64
	pieces []*piece // the oldest first; the last one grows
	file   *os.File // of the last one
}

// piece is one file, or its counterpart in memory.
type piece struct {
	number int64
	size   int64
	text   []byte // in memory
}

func openStore(folder, name string, limit int64) (*store, error) {
	s := &store{folder: folder, name: name, limit: limit}
	if folder == "" {
		return s, nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	var err error
	if s.pieces, err = piecesIn(folder, name); err != nil || len(s.pieces) == 0 {
		return s, err
	}
	return s, s.mend()
}

// piecesIn are the pieces with a name in a folder.
func piecesIn(folder, name string) ([]*piece, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	var out []*piece
	for _, e := range entries {
		rest, is := strings.CutPrefix(e.Name(), name+"-")
		digits, ends := strings.CutSuffix(rest, extension)
		number, err := strconv.ParseInt(digits, 10, 64)
		if !is || !ends || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("open journal: %w", err)
		}
		out = append(out, &piece{number: number, size: info.Size()})
	}
	slices.SortFunc(out, func(a, b *piece) int { return int(a.number - b.number) })
	return out, nil
}

// mend ends a cut-off line, so that the next one begins a line of its own.
func (s *store) mend() error {
	last := s.pieces[len(s.pieces)-1]
	text, err := s.read(last)
	if err != nil {
		return err
	}
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return nil
	}
	return s.add([]byte("\n"))
}

func (s *store) path(p *piece) string {
	return filepath.Join(s.folder, fmt.Sprintf("%s-%06d%s", s.name, p.number, extension))
}

func (s *store) read(p *piece) ([]byte, error) {
	if s.folder == "" {
		return p.text, nil
	}
	text, err := os.ReadFile(s.path(p))
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return text, nil
}

// append writes a line, in a new piece if there is no more room in this one.
func (s *store) append(line Line) error {
	if s.full() {
		if err := s.turn(); err != nil {
			return err
		}
	}
	return s.line(line)
}

// line writes a line.
func (s *store) line(line Line) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return s.add(append(text, '\n'))
}

// full reports whether a new piece must be begun.
func (s *store) full() bool {
	return len(s.pieces) == 0 || s.pieces[len(s.pieces)-1].size >= s.limit/segments
}

// turn begins a new piece, and removes the oldest ones for which there is no room.
func (s *store) turn() error {
	next := &piece{number: 1}
	if len(s.pieces) > 0 {
		next.number = s.pieces[len(s.pieces)-1].number + 1
	}
	if err := s.close(); err != nil {
		return err
	}
	s.pieces = append(slices.Clip(s.pieces), next)
	room := s.limit - s.limit/segments
	for s.size() > room && len(s.pieces) > 1 {
		oldest := s.pieces[0]
		s.pieces = s.pieces[1:]
		if s.folder != "" {
			if err := os.Remove(s.path(oldest)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("write journal: %w", err)
			}
		}
	}
	return nil
}

func (s *store) size() int64 {
	var sum int64
	for _, p := range s.pieces {
		sum += p.size
	}
	return sum
}

// add appends to the last piece, in one write.
func (s *store) add(text []byte) error {
	last := s.pieces[len(s.pieces)-1]
	last.size += int64(len(text))
	if s.folder == "" {
		last.text = append(last.text, text...)
		return nil
	}
	if s.file == nil {
		file, err := os.OpenFile(s.path(last), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
		if err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
		s.file = file
	}
	if _, err := s.file.Write(text); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

func (s *store) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	if err := file.Close(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// lastSeq is the number of the last line.
func (s *store) lastSeq() (int64, error) {
	for _, p := range slices.Backward(s.pieces) {
		text, err := s.read(p)
		if err != nil {
			return 0, err
		}
		var last int64
		err = Read(bytes.NewReader(text), 0, func(l Line) error {
			last = max(last, l.Seq)
			return nil
		})
		if err != nil || last > 0 {
			return last, err
		}
	}
	return 0, nil
}

// lines passes on the lines of the given pieces.
func (s *store) lines(pieces []piece, after int64, each func(Line) error) error {
	for i := range pieces {
		text, err := s.read(&pieces[i])
		if errors.Is(err, os.ErrNotExist) { // it has been removed meanwhile
			continue
		}
		if err != nil {
			return err
		}
		if err := Read(bytes.NewReader(text[:min(int64(len(text)), pieces[i].size)]), after, each); err != nil {
			return err
		}
	}
	return nil
}

// extent is the amount written so far.
func (s *store) extent() []piece {
	out := make([]piece, len(s.pieces))
	for i, p := range s.pieces {
		out[i] = *p
	}
	return out
}

// all is below every number, including that of lines without one.
const all = -1

// Read reads lines with a number above one. It reports a cut-off line as broken, and leaves out a line of
// a newer version of the program.
func Read(r io.Reader, after int64, each func(Line) error) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	for line := range bytes.Lines(text) {
		if after > 0 && numberOf(line) <= after {
			continue
		}
		l := Line{}
		if len(bytes.TrimSpace(line)) > 0 && json.Unmarshal(line, &l) != nil {
			l = Line{Broken: true}
		}
		if l == (Line{}) || l.Seq <= after && !l.Broken {
			continue
		}
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

// numberOf reads the number of a line without reading the line; 0 if it has none.
func numberOf(line []byte) int64 {
	rest, is := bytes.CutPrefix(line, []byte(`{"seq":`))
	digits, _, ends := bytes.Cut(rest, []byte(","))
	if !is || !ends {
		return 0
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
