package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/snapshot"
	"tenon/internal/journal"
)

// spentJournal has three decisions, an hour apart, that end now: the fleet costs 1, 3 and 2 an hour, and half of it is of pool a.
func spentJournal(t *testing.T, now time.Time) (folder string) {
	t.Helper()
	folder = t.TempDir()
	j, err := journal.Open(journal.Options{Folder: folder, Bytes: 50 << 20}, now)
	if err != nil {
		t.Fatal(err)
	}
	j.PricedIn("USD")
	for i, price := range []model.Money{1, 3, 2} {
		s := &snapshot.Snapshot{Now: now.Add(time.Duration(i-3) * time.Hour)}
		for _, pool := range []string{"a", "b"} {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: pool, Pool: pool, Initialized: true, Price: price * model.Unit / 2, Allocatable: model.Resources{CPU: 4000, Memory: 1 << 34}})
		}
		d := decide.Decide(s, decide.Budget{})
		j.Decided(journal.Record{By: "provisioner", Woke: "a test", Snapshot: s, Decision: &d})
	}
	return folder
}

// TestCostOfThePast checks what the journal says about a time, and about the time since one.
func TestCostOfThePast(t *testing.T) {
	t.Parallel()
	now := time.Now()
	folder := spentJournal(t, now)
	at := now.Add(-90 * time.Minute).UTC().Format(time.RFC3339)
	got := run(t, nil, "cost", "--at", at, "--from", folder)
	want := fmt.Sprintf(`at %s, by decision 3

POOL  NODES  USD/HOUR  USD/MONTH  SHARE
a     1      1.5000    1095.00    50.0%%
b     1      1.5000    1095.00    50.0%%
all          3.0000    2190.00    

pods 0.0000 (0%%), daemons 0.0000 (0%%), idle 3.0000 (100%%)
`, now.Add(-2*time.Hour).UTC().Format(time.RFC3339))
	if got.status != 0 || got.out != want {
		t.Errorf("status %d, %q:\n%s\nwant\n%s", got.status, got.err, got.out, want)
	}
	got = run(t, nil, "cost", "--since", "150m", "--from", folder, "-o", "json")
	var sum spent
	if err := json.Unmarshal([]byte(got.out), &sum); err != nil || got.status != 0 {
		t.Fatalf("status %d, %q: %v", got.status, got.err, err)
	}
	if math.Abs(sum.Spent-5.5) > 0.01 || sum.Least != 1 || sum.Most != 3 || sum.Snapshots != 3 || len(sum.Lines) != 2 || math.Abs(sum.Lines[0].Spent-2.75) > 0.01 || sum.Currency != "USD" {
		t.Errorf("since 150m: %+v", sum)
	}
	got = run(t, nil, "cost", "capacity-type", "--since", "24h", "--from", folder)
	for _, part := range []string{"6.0", "on average 2.0", "the journal begins there", "(none)", "the division is that of 3 snapshots"} {
		if got.status != 0 || !strings.Contains(got.out, part) {
			t.Errorf("since 24h lacks %q: status %d %q\n%s", part, got.status, got.err, got.out)
		}
	}
}

// TestCostOfThePastTeachesMistakes checks what is said of a time that the journal does not know, and of flags that exclude
// each other.
func TestCostOfThePastTeachesMistakes(t *testing.T) {
	t.Parallel()
	folder := spentJournal(t, time.Now())
	for args, want := range map[string]string{
		"--at 5h":                            "has no snapshot of",
		"--at yesterday":                     "neither a time such as",
		"--since 1h --at 1h":                 "give one of them",
		"--since 1h -o prometheus":           "is about the present fleet",
		"--since 2100-01-01T00:00:00Z":       "no decision of the time since",
		"--at 1h --from /there/is/no/folder": "no such file",
	} {
		got := run(t, nil, append([]string{"cost", "--from", folder}, strings.Fields(args)...)...)
		if got.status != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, messages %q", args, got.status, got.err)
		}
	}
}
