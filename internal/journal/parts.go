package journal

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"tenon/core/snapshot"
)

// The sizes of parts, in bytes. The content decides where a part ends, not a number of bytes, so that an
// insertion in one place leaves all later parts as they are.
const (
	leastPart = 4 << 10
	mostPart  = 128 << 10
	endShift  = 18 // about every sixteenth KiB
)

// keep writes a snapshot, without the parts that the piece already has, and returns its digest.
func (j *Journal) keep(s *snapshot.Snapshot) (string, error) {
	if j.snapshots.full() {
		if err := j.snapshots.turn(); err != nil {
			return "", err
		}
		j.parts = map[string]bool{}
	}
	c := newCutter(j.part)
	if err := snapshot.Write(c, s); err != nil {
		return "", err
	}
	contents, err := c.contents()
	if err != nil {
		return "", err
	}
	return contents.Digest, j.snapshots.line(Line{Snapshot: &contents})
}

// part writes one part, unless the piece has it, and returns its digest.
func (j *Journal) part(text []byte) (string, error) {
	digest := partName(text)
	if j.parts[digest] {
		return digest, nil
	}
	p, err := pack(text)
	if err == nil {
		err = j.snapshots.line(Line{Part: &p})
	}
	j.parts[digest] = err == nil
	return digest, err
}

// packers are used again: each has tables of a megabyte, many times the size of a part.
var packers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is none of gzip's
	}
	return w
}}

func pack(text []byte) (Part, error) {
	var zipped bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&zipped)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return Part{}, fmt.Errorf("write journal: %w", err)
	}
	return Part{Digest: partName(text), Gzip: zipped.Bytes()}, nil
}

func partName(text []byte) string { return digestOf(text)[:partDigest] }

// partDigest is how many hexadecimal digits name a part.
const partDigest = 32

// cutter cuts the text written to it into parts, and passes them on; it reuses their memory
// afterwards.
type cutter struct {
	whole   hash.Hash
	part    func([]byte) (string, error)
	text    []byte
	rolling uint32
	digests []string
}

func newCutter(part func([]byte) (string, error)) *cutter {
	return &cutter{whole: sha256.New(), part: part}
}

// contents ends the last part and returns the list of all parts.
func (c *cutter) contents() (Contents, error) {
	err := c.end()
	return Contents{Digest: hex.EncodeToString(c.whole.Sum(nil)), Parts: c.digests}, err
}

// Write implements io.Writer.
func (c *cutter) Write(text []byte) (int, error) {
	if _, err := c.whole.Write(text); err != nil {
		return 0, fmt.Errorf("write journal: %w", err)
	}
	from := 0
	for i, b := range text {
		// Each byte moves out of the sum after 32 others.
		c.rolling = c.rolling<<1 + uint32(b)*0x9e3779b1
		size := len(c.text) + i + 1 - from
		if size < leastPart || c.rolling>>endShift != 0 && size < mostPart {
			continue
		}
		c.text = append(c.text, text[from:i+1]...)
		if err := c.end(); err != nil {
			return 0, err
		}
		from = i + 1
	}
	c.text = append(c.text, text[from:]...)
	return len(text), nil
}

// end ends a part.
func (c *cutter) end() error {
	if len(c.text) == 0 {
		return nil
	}
	digest, err := c.part(c.text)
	if err != nil {
		return err
	}
	c.digests, c.text, c.rolling = append(c.digests, digest), c.text[:0], 0
	return nil
}

// ErrNoSnapshot is returned when the journal does not have, or no longer has, a decision's
// snapshot.
var ErrNoSnapshot = errors.New("its snapshot is not in the journal: only those of the last decisions are kept, and of decisions that came faster than they could be written none is")

// ErrCutOff is returned when a decision's snapshot is missing from a file that has unreadable lines.
var ErrCutOff = errors.New("its snapshot cannot be read: the journal's snapshots have a line that cannot be read, such as one that was cut off; the decision itself and all others can")

// isBroken reports whether a text has a line that cannot be read.
func isBroken(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 && !json.Valid(line) {
			return true
		}
	}
	return false
}

// assemble writes the snapshot with a digest, as snapshot.Read reads it, from the lines of a text. Only the
// lines that it needs are decoded.
func assemble(w io.Writer, text []byte, digest string) error {
	contents, found := Contents{}, false
	for line := range bytes.Lines(text) {
		var l Line
		if digest != "" && lineDigest(line, snapshotLine) == digest && json.Unmarshal(line, &l) == nil && l.Snapshot != nil {
			contents, found = *l.Snapshot, true
		}
	}
	if !found {
		return ErrNoSnapshot
	}
	parts := map[string][]byte{}
	for _, name := range contents.Parts {
		parts[name] = nil
	}
	for line := range bytes.Lines(text) {
		var l Line
		if _, wanted := parts[lineDigest(line, partLine)]; wanted && json.Unmarshal(line, &l) == nil && l.Part != nil {
			parts[l.Part.Digest] = l.Part.Gzip
		}
	}
	for _, name := range contents.Parts {
		if parts[name] == nil {
			return ErrNoSnapshot
		}
	}
	for _, name := range contents.Parts {
		if err := unpack(w, parts[name]); err != nil {
			return fmt.Errorf("read journal: part %s: %w", name, err)
		}
	}
	return nil
}

// The beginnings of lines of parts and snapshots.
const (
	partLine     = `{"part":{"digest":"`
	snapshotLine = `{"snapshot":{"digest":"`
)

// lineDigest is the digest at the beginning of a line; empty if the line begins otherwise.
func lineDigest(line []byte, begin string) string {
	rest, is := bytes.CutPrefix(line, []byte(begin))
	digest, _, ends := bytes.Cut(rest, []byte(`"`))
	if !is || !ends {
		return ""
	}
	return string(digest)
}

func unpack(w io.Writer, zipped []byte) error {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err == nil {
		_, err = io.Copy(w, r)
	}
	return err
}
