package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"tenon/internal/journal"
)

// keptDecisions is how many of the newest decisions are shown.
const keptDecisions = 300

// decisions holds the newest decisions of a journal. The journal is read at most once in readEvery,
// however many browsers ask.
type decisions struct {
	mu      sync.Mutex
	tail    *journal.Tail // nil without a journal
	at      time.Time
	problem string
}

const (
	readEvery = 2 * time.Second
	patience  = 20 * time.Second
)

// headline is a decision in a list.
type headline struct {
	ID     int64  `json:"id"`
	At     int64  `json:"at"`
	By     string `json:"by"`
	Woke   string `json:"woke"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
	// Change is by how much it makes the fleet dearer an hour, less than zero if cheaper.
	Change float64 `json:"change,omitempty"`
}

// timeline is the answer to a browser that lists decisions, the newest first.
type timeline struct {
	Journal   bool       `json:"journal"`
	Problem   string     `json:"problem,omitempty"`
	Warning   string     `json:"warning,omitempty"` // of what is missing in an answer that was read
	Decisions []headline `json:"decisions"`
}

// listDecisions serves the headlines, of all decisions or of those about some objects.
func (d *Dashboard) listDecisions(w http.ResponseWriter, r *http.Request) {
	entries, out := d.newest(r)
	about := r.URL.Query()["about"]
	for _, e := range slices.Backward(entries) {
		if len(about) > 0 && !slices.ContainsFunc(about, e.Concerns) {
			continue
		}
		h := headline{ID: e.ID, At: seconds(e.At), By: e.By, Woke: e.Woke, Text: e.Head(), Failed: slices.ContainsFunc(e.Outcomes, failed)}
		if e.Cost != nil {
			h.Change = e.Cost.After - e.Cost.Before
		}
		out.Decisions = append(out.Decisions, h)
	}
	answer(w, out)
}

func failed(o journal.Outcome) bool { return o.Result == journal.Failed }

// oneDecision serves everything that is recorded about a decision.
func (d *Dashboard) oneDecision(w http.ResponseWriter, r *http.Request) {
	if e := d.named(w, r); e != nil {
		answer(w, e)
	}
}

// named returns the decision whose number the path has. Otherwise it says why not, and returns nil.
func (d *Dashboard) named(w http.ResponseWriter, r *http.Request) *journal.Entry {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "A decision has a number.", http.StatusBadRequest)
		return nil
	}
	entries, _ := d.newest(r)
	for i := range entries {
		if entries[i].ID == id {
			return &entries[i]
		}
	}
	http.Error(w, "The journal has no such decision, or an older one than this page keeps.", http.StatusNotFound)
	return nil
}

// newest reads the journal further, and returns a copy of the kept entries.
func (d *Dashboard) newest(r *http.Request) ([]journal.Entry, timeline) {
	own := &d.decisions
	own.mu.Lock()
	defer own.mu.Unlock()
	out := timeline{Journal: own.tail != nil, Decisions: []headline{}}
	if own.tail == nil {
		return nil, out
	}
	if now := d.options.Clock(); own.at.IsZero() || now.Sub(own.at) >= readEvery {
		ctx, end := context.WithTimeout(r.Context(), patience)
		defer end()
		own.problem = ""
		if err := own.tail.Read(ctx); err != nil {
			own.problem = err.Error()
		}
		own.at = now
	}
	out.Problem = own.problem
	if text := own.tail.Warning(); text != "" {
		out.Warning = "The journal has " + text + "."
	}
	kept := own.tail.Entries[max(0, len(own.tail.Entries)-keptDecisions):]
	entries := make([]journal.Entry, 0, len(kept))
	for _, e := range kept {
		copied := *e
		copied.Outcomes = slices.Clone(e.Outcomes)
		entries = append(entries, copied)
	}
	return entries, out
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // no answer is needed if the browser is gone
}
