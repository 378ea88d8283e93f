package savings_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tenon/core/model"
	"tenon/internal/savings"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// story keeps an account from words: "move 100 80" was expected to save 100 and saved 80, "empty" is the same for a move that was not
// made to save money, "bought 30" is charged to the last move, "early 30" to the one that is over next, "failed" was abandoned, and
// other words are durations that pass.
func story(t *testing.T, words ...string) (savings.Account, time.Time) {
	t.Helper()
	a, now := savings.Account{}, noon
	id := ""
	for i, word := range words {
		var predicted, realised, price model.Money
		name, _, _ := strings.Cut(word, " ")
		switch name {
		case "move", "empty":
			if _, err := fmt.Sscanf(word, name+" %d %d", &predicted, &realised); err != nil {
				t.Fatal(err)
			}
			id = fmt.Sprint(i)
			a = a.As(now).Over(savings.Move{ID: id, Over: now, Predicted: predicted, Realised: realised, Evictions: 2, Weighed: name == "move"})
		case "bought":
			if _, err := fmt.Sscanf(word, "bought %d", &price); err != nil {
				t.Fatal(err)
			}
			a = a.As(now).Bought(id, price)
		case "early":
			if _, err := fmt.Sscanf(word, "early %d", &price); err != nil {
				t.Fatal(err)
			}
			a = a.As(now).BoughtEarly(fmt.Sprint(i+1), price, now)
		case "failed":
			a = a.As(now).Abandoned(fmt.Sprint(i))
		default:
			d, err := time.ParseDuration(word)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		}
	}
	return a, now
}

// TestCaution: the savings of moves decide how much the next ones must save.
func TestCaution(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		story []string
		want  int
	}{
		"nothing has happened":                         {nil, 1000},
		"a move that brings what it should":            {[]string{"move 100 100", "20m"}, 1000},
		"one that brings more is not more trusted":     {[]string{"move 100 300", "20m"}, 1000},
		"one that brings half":                         {[]string{"move 100 50", "15m"}, 1100},
		"one that brings nothing":                      {[]string{"move 100 0", "15m"}, 1300},
		"one that costs as much as it was to save":     {[]string{"move 100 -100", "15m"}, 2000},
		"one that costs more counts no more than that": {[]string{"move 100 -9000", "15m"}, 2000},
		"two such moves":                               {[]string{"move 100 -100", "move 100 -100", "15m"}, 8000},
		"and any number of them":                       {[]string{"move 100 -100", "move 100 -100", "move 100 -100", "move 100 -100", "move 100 -100", "15m"}, 10000},
		"good ones afterwards":                         {[]string{"move 100 -100", "move 100 -100", "move 100 100", "move 100 100", "move 100 100", "15m"}, 1550},
		"it counts as soon as that is seen":            {[]string{"move 100 -100", "10s"}, 2000},
		"and not before":                               {[]string{"move 100 -100", "9s"}, 1000},
		"a good one next to it counts, too":            {[]string{"move 100 -100", "move 100 100", "1m"}, 1600},
		"a purchase before it is over":                 {[]string{"early 200", "move 100 100", "15m"}, 2000},
		"a purchase for a move that is given up":       {[]string{"early 200", "failed", "15m"}, 1000},
		"a purchase for its pods":                      {[]string{"move 100 100", "5m", "bought 200", "10m"}, 2000},
		"a purchase that comes later is just a node":   {[]string{"move 100 100", "16m", "bought 200", "10m"}, 1000},
		"half is forgotten after half a day":           {[]string{"move 100 -100", "15m", "12h"}, 1300},
		"all is after a week":                          {[]string{"move 100 -100", "move 100 -100", "15m", "168h"}, 1000},
		"nodes that were empty were not moved":         {[]string{"empty 100 -100", "15m"}, 1000},
		"what was given up has evicted no pod":         {[]string{"failed", "failed", "15m"}, 1000},
		"a move that was to save nothing":              {[]string{"move 0 -5", "15m"}, 1000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, now := story(t, tc.story...)
			if got := a.Caution(now); got != tc.want {
				t.Errorf("caution %d, want %d", got, tc.want)
			}
		})
	}
}

// TestTotals: the totals are right, also with open moves.
func TestTotals(t *testing.T) {
	t.Parallel()
	a, now := story(t, "move 100 80", "failed", "empty 50 50", "1m", "move 10 10", "bought 20", "14m", "move 7 7")
	a = a.As(now)
	if a.Moves != 2 || a.Failed != 1 || a.Predicted != 150 || a.Realised != 130 || a.Evictions != 4 || len(a.Open) != 2 {
		t.Errorf("%s", a)
	}
	if a = a.As(now.Add(time.Hour)); a.Moves != 4 || a.Predicted != 167 || a.Realised != 127 || a.Evictions != 8 || len(a.Open) != 0 {
		t.Errorf("an hour later: %s", a)
	}
}

// TestNoneCountsTwice: neither an open move, nor a settled one, nor an abandoned one.
func TestNoneCountsTwice(t *testing.T) {
	t.Parallel()
	m := savings.Move{ID: "x", Over: noon, Predicted: 5, Realised: 5}
	a := savings.Account{}.Over(m).Over(m).As(noon.Add(time.Hour)).Over(m).Abandoned("x").As(noon.Add(2 * time.Hour))
	if a.Moves != 1 || a.Failed != 0 || a.Predicted != 5 {
		t.Errorf("%s", a)
	}
}

// TestBounds: caution always stays between one and ten times, and the
// annotation stays small.
func TestBounds(t *testing.T) {
	t.Parallel()
	a, now := savings.Account{}, noon
	for i := range 2000 {
		now = now.Add(time.Duration(i%7) * time.Second)
		a = a.As(now).Over(savings.Move{ID: fmt.Sprintf("x%05d", i), Over: now, Predicted: model.Money(i % 5), Realised: model.Money(i*7919%4001 - 2000), Weighed: true})
		if c := a.Caution(now.Add(time.Duration(i) * time.Minute)); c < 1000 || c > 10000 || c%50 != 0 {
			t.Fatalf("caution %d", c)
		}
		if n := len(a.String()); n > 10_000 {
			t.Fatalf("%d bytes", n)
		}
	}
}
