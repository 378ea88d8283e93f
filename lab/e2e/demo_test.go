package e2e

import (
	"errors"
	"strings"
	"testing"

	"tenon/internal/journal"
	"tenon/lab/labtest"
)

// madeAgain makes the recorded decisions of a live controller again, from the snapshots that were kept. Each plan must be
// the same to the byte.
func madeAgain(t *testing.T, folder string) int {
	t.Helper()
	from := journal.Folder(folder)
	entries, err := journal.Entries(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for i := range entries {
		s, err := journal.Snapshot(t.Context(), from, &entries[i])
		if errors.Is(err, journal.ErrNoSnapshot) || errors.Is(err, journal.ErrCutOff) { // it was not kept, or is being written
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, same := journal.Replay(&entries[i], s); !same {
			t.Errorf("decision %d, %q, is another one when it is made again", entries[i].ID, entries[i].Head())
		}
		made++
	}
	return made
}

// The demo says what to watch and to type, buys a machine for its workload, says what it costs, and
// ends without leaving anything. What its controller decided can be decided again, and what it says was spent is what the
// emulated AWS asks for its machines.
func TestDemo(t *testing.T) {
	t.Parallel()
	tenon, err := labtest.Product()
	if err != nil {
		t.Fatal(err)
	}
	s, folder := besideTenon(t, tenon), t.TempDir()
	s.mustFail(t, []string{"--demo shows --controller tenon"}, "up", "--demo", "--controller", "none")
	said := s.mustRun(t, "up", "--detach", "--demo", "--boot-delay", "300ms", "--set", "JOURNAL_FOLDER="+folder)
	for _, want := range []string{"export KUBECONFIG=", "kubectl get nodeclaims -w", "http://127.0.0.1:", "the fleet as it grows and shrinks", "/lab/faults", "tenon plan --kubeconfig", "down --dir"} {
		if !strings.Contains(said, want) {
			t.Errorf("up does not say %q:\n%s", want, said)
		}
	}
	for _, want := range []string{"inflate is scaled to 3 pods", " USD an hour", "machines: 1, together ", "3 pods of inflate run"} {
		until(t, "the demo says "+want, func() bool {
			text, err := s.run("logs", "supervisor", "--tail", "20")
			return err == nil && strings.Contains(text, want)
		})
	}
	status := s.status(t)
	ledgerOf(t, status).check(t)
	until(t, "three recorded decisions can be made again", func() bool { return madeAgain(t, folder) >= 3 })
	s.mustRun(t, "down")
	until(t, "nothing is left running", func() bool { return len(running(status)) == 0 }) // the supervisor ends last
}
