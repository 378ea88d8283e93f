package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tenon/internal/journal"
)

// A file of snapshots that was cut off loses the snapshot at the cut, and the error says so; decisions, and the
// earlier snapshots, are read.
func TestASnapshotThatWasCutOffIsTold(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := open(t, folder, 50<<20)
	record(j, 1, 2)
	files, err := filepath.Glob(filepath.Join(folder, "snapshots-*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], text[:len(text)-40], 0o600); err != nil {
		t.Fatal(err)
	}
	got := entries(t, journal.Folder(folder))
	if len(got) != 2 {
		t.Fatalf("%d decisions, want both", len(got))
	}
	if _, err := journal.Snapshot(t.Context(), journal.Folder(folder), &got[0]); err != nil {
		t.Errorf("the snapshot before the cut: %v", err)
	}
	if _, err := journal.Snapshot(t.Context(), journal.Folder(folder), &got[1]); !errors.Is(err, journal.ErrCutOff) {
		t.Errorf("the snapshot that was cut off: %v", err)
	}
}
