package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/internal/journal"
)

// heads are the entries of a source, in a line each.
func heads(t *testing.T, from journal.Source) []string {
	t.Helper()
	tail := journal.NewTail(from, 0)
	if err := tail.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range tail.Entries {
		out = append(out, e.Head())
	}
	return out
}

// TestInterventionsAreRecordedOnce checks that each change of a user is recorded once, however often it is seen and also
// after a restart, that it stands between the decisions, and that replays and exports do not confuse it with one.
func TestInterventionsAreRecordedOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	change := func(verb string, after time.Duration) journal.Intervention {
		return journal.Intervention{At: epoch.Add(after), By: "alice", Verb: verb, Kind: "node", Name: "n-1"}
	}
	for range 2 { // the second process sees the last change again
		j := open(t, folder, 1<<20)
		if len(entries(t, j)) == 0 {
			record(j, 1)
			j.Intervened(change("pin", time.Minute))
			j.Intervened(change("pin", time.Minute))
			j.Intervened(change("unpin", time.Minute)) // in the same second
			old := change("pin", -2*time.Hour)
			old.Name = "n-2"
			j.Intervened(old)
		}
		j.Intervened(change("unpin", time.Minute))
	}
	j := open(t, folder, 1<<20)
	j.Intervened(change("cordon", 2*time.Minute))
	(*journal.Journal)(nil).Intervened(change("pin", 0))

	want := []string{"hand: pin node/n-1, by alice", "hand: unpin node/n-1, by alice", "hand: cordon node/n-1, by alice"}
	got := heads(t, journal.Folder(folder))
	if len(got) != 4 || !strings.HasPrefix(got[0], "provisioner: ") || !slices.Equal(got[1:], want) {
		t.Fatalf("the journal has %q", got)
	}
	if made := entries(t, journal.Folder(folder)); len(made) != 1 {
		t.Errorf("%d decisions", len(made))
	}

	tail := journal.NewTail(journal.Folder(folder), 0)
	if err := tail.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []journal.Entry
	for _, e := range tail.Entries {
		all = append(all, *e)
	}
	if pinned := tail.Entries[1]; !pinned.Concerns("n-1") || pinned.Concerns("n-2") || pinned.By != journal.ByHand || !pinned.At.Equal(epoch.Add(time.Minute)) {
		t.Errorf("an entry: %+v", pinned)
	}
	var exported, logs bytes.Buffer
	if err := journal.Export(t.Context(), &exported, journal.Folder(folder), all, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, exported.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := heads(t, journal.File(file)); !slices.Equal(again, got) {
		t.Errorf("exported: %q", again)
	}
	if err := journal.ExportLogs(&logs, all, nil); err != nil || strings.Count(logs.String(), `"eventName":"tenon.intervention"`) != 3 {
		t.Errorf("error %v, logs %s", err, logs.String())
	}
}
