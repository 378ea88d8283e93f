package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"tenon/core/snapshot"
)

// Question is what a browser asks to try.
type Question struct {
	// Manifests are objects, as YAML or JSON, that are added or that replace those with their names.
	Manifests string `json:"manifests"`
	// Scale, Without and SpotInterrupted have the same meaning as on the command line of `tenon plan`.
	Scale           []string `json:"scale"`
	Without         []string `json:"without"`
	SpotInterrupted []string `json:"spotInterrupted"`
}

// Try makes two plans for a snapshot, with and without the changes of the question, and returns how they
// differ as a value for JSON. It must change nothing.
type Try func(ctx context.Context, s *snapshot.Snapshot, q Question) (any, error)

// tries answers one question at a time: a plan for a large cluster takes a processor for seconds.
type tries struct{ busy sync.Mutex }

// busy is the answer while another question is being answered.
const busy = "Another question is being answered; ask again in a moment."

// mostQuestion is how large a question may be, in bytes.
const mostQuestion = 256 << 10

// tried is the answer to a question.
type tried struct {
	// Decision and At identify the recorded decision whose snapshot was used.
	Decision   int64     `json:"decision"`
	At         time.Time `json:"at"`
	Difference any       `json:"difference"`
}

// whatIf answers questions. It accepts JSON alone, which pages of other sites cannot send unasked.
func (d *Dashboard) whatIf(w http.ResponseWriter, r *http.Request) {
	if !isJSON(r) {
		http.Error(w, "A question is JSON.", http.StatusUnsupportedMediaType)
		return
	}
	if d.options.Try == nil || d.options.Journal == nil {
		http.Error(w, "There is no journal, whose last snapshot is what changes are tried on.", http.StatusNotFound)
		return
	}
	if !d.tries.busy.TryLock() {
		http.Error(w, busy, http.StatusTooManyRequests)
		return
	}
	defer d.tries.busy.Unlock()
	var q Question
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostQuestion))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(w, fmt.Sprintf("A question may have %d KiB; tenon plan --with takes more.", mostQuestion>>10), http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "The question cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	out, err := d.try(r, q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	answer(w, out)
}

// try answers a question about the newest decision whose snapshot was kept.
func (d *Dashboard) try(r *http.Request, q Question) (tried, error) {
	e, s, err := d.recorded(r)
	if err != nil {
		return tried{}, err
	}
	difference, err := d.options.Try(r.Context(), s, q)
	return tried{e.ID, e.At, difference}, err
}
