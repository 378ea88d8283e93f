package planning

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tenon/core/snapshot"
	"tenon/internal/cli/redact"
)

// compressed snapshot files are told by their name when they are written, and by their first
// bytes when they are read.
const compressed = ".gz"

var gzipMagic = []byte{0x1f, 0x8b}

// fromSnapshot reads a snapshot file. Time and settings that are given replace its own.
func (j *job) fromSnapshot() (*snapshot.Snapshot, error) {
	j.report.Set("reading "+j.Snapshot, "")
	data, err := os.ReadFile(j.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	var r io.Reader = bytes.NewReader(data)
	if bytes.HasPrefix(data, gzipMagic) {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("%s: %w", j.Snapshot, err)
		}
	}
	s, err := snapshot.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.Snapshot, err)
	}
	s.Settings = j.decisionSettings(s.Settings)
	if !j.Now.IsZero() {
		s.Now = j.Now
	}
	return s, nil
}

// Saving says where a snapshot is written, nowhere if File is empty, and whether names are replaced in it.
type Saving struct {
	File   string
	Redact bool
}

// Check refuses a redaction of nothing.
func (o Saving) Check() error {
	if o.Redact && o.File == "" {
		return errors.New("--redact is for the file that --save-snapshot writes: name it")
	}
	return nil
}

// Save writes a snapshot beside its place first, so that there is never half a file.
func (o Saving) Save(s *snapshot.Snapshot) (err error) {
	if o.Redact {
		if s, err = redact.Snapshot(s); err != nil {
			return err
		}
	}
	path := o.File
	temporary := path + ".tmp"
	file, err := os.Create(temporary)
	if err != nil {
		return fmt.Errorf("save snapshot: %w", err)
	}
	err = writeSnapshot(file, s, strings.HasSuffix(path, compressed))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("save snapshot: %w", err), os.Remove(temporary))
	}
	return nil
}

func writeSnapshot(w io.Writer, s *snapshot.Snapshot, compress bool) error {
	if !compress {
		return snapshot.Write(w, s)
	}
	zipped := gzip.NewWriter(w)
	return errors.Join(snapshot.Write(zipped, s), zipped.Close())
}
