package journal

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSpentAddsUpThePrices checks sums over parts of a journal: each price holds until the next decision, one that says the
// same has the earlier price, and nothing is known before the first one.
func TestSpentAddsUpThePrices(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "j.jsonl")
	text := `{"seq":1,"start":{"at":"2026-03-01T09:00:00Z","kept":"memory"}}
{"seq":2,"decision":{"at":"2026-03-01T10:00:00Z","by":"provisioner","cost":{"fleetPerHourBefore":1,"currency":"USD"}}}
{"seq":3,"decision":{"at":"2026-03-01T11:00:00Z","by":"disruption","cost":{"fleetPerHourBefore":3,"currency":"USD"}}}
{"seq":4,"decision":{"at":"2026-03-01T11:30:00Z","by":"provisioner","same":2}}
{"seq":5,"decision":{"at":"2026-03-01T11:45:00Z","by":"comparison"}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := Prices(t.Context(), File(file))
	if err != nil || len(prices) != 3 {
		t.Fatalf("%d prices, error %v", len(prices), err)
	}
	at := func(clock string) time.Time {
		out, err := time.Parse(time.RFC3339, "2026-03-01T"+clock+":00Z")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, tc := range map[string]struct {
		from, until, begins string
		spent, least, most  float64
		unknown             bool
	}{
		"all":                    {"10:00", "12:00", "10:00", 1 + 1.5 + 0.5, 1, 3, false},
		"in the middle of two":   {"10:30", "11:15", "10:30", 0.5 + 0.75, 1, 3, false},
		"of one price":           {"11:05", "11:25", "11:05", 1, 3, 3, false},
		"from before the first":  {"08:00", "10:30", "10:00", 0.5, 1, 1, false},
		"after the last":         {"13:00", "14:00", "13:00", 1, 1, 1, false},
		"ends before it begins":  {"11:00", "10:30", "", 0, 0, 0, true},
		"all before the journal": {"08:00", "09:00", "", 0, 0, 0, true},
	} {
		got, ok := Spent(prices, at(tc.from), at(tc.until))
		if ok == tc.unknown {
			t.Errorf("%s: known %t", name, ok)
			continue
		}
		if tc.unknown {
			continue
		}
		if math.Abs(got.Spent-tc.spent) > 1e-9 || got.Least != tc.least || got.Most != tc.most || !got.From.Equal(at(tc.begins)) || got.Currency != "USD" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, ok := Spent(nil, at("10:00"), at("11:00")); ok {
		t.Error("nothing is known of a time without decisions")
	}
}
