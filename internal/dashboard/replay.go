package dashboard

import (
	"fmt"
	"mime"
	"net/http"

	"tenon/core/snapshot"
	"tenon/internal/journal"
)

// replayed is what came of making a decision again.
type replayed struct {
	// Same says that the plan is the recorded one, byte for byte.
	Same bool `json:"same"`
	// Nodes and Disruptions are how many nodes the plan buys, and how often it gives up nodes.
	Nodes       int `json:"nodes"`
	Disruptions int `json:"disruptions"`
	Unplaced    int `json:"unplaced"`
}

// decisionSnapshot serves the snapshot of a decision as a file for `tenon plan --snapshot`.
func (d *Dashboard) decisionSnapshot(w http.ResponseWriter, r *http.Request) {
	e := d.named(w, r)
	if e == nil {
		return
	}
	s, err := journal.Snapshot(r.Context(), d.options.Journal, e)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=decision-%d.json", e.ID))
	_ = snapshot.Write(w, s) // no answer is needed if the browser is gone
}

// replay makes a decision again from its snapshot, one at a time. It accepts JSON alone, which pages of other sites
// cannot send unasked.
func (d *Dashboard) replay(w http.ResponseWriter, r *http.Request) {
	if !isJSON(r) {
		http.Error(w, "A question is JSON.", http.StatusUnsupportedMediaType)
		return
	}
	e := d.named(w, r)
	if e == nil {
		return
	}
	if !d.tries.busy.TryLock() {
		http.Error(w, busy, http.StatusTooManyRequests)
		return
	}
	defer d.tries.busy.Unlock()
	s, err := journal.Snapshot(r.Context(), d.options.Journal, e)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	again, same := journal.Replay(e, s)
	answer(w, replayed{Same: same, Nodes: len(again.Plan.Claims), Disruptions: len(again.Plan.Disruptions), Unplaced: len(again.Plan.Unplaced)})
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
