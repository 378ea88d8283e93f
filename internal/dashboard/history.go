package dashboard

import (
	"context"
	"sync"
	"time"

	"tenon/internal/journal"
)

// sample is what the fleet cost at one moment.
type sample struct {
	At    int64   `json:"at"` // seconds since 1970
	Price float64 `json:"price"`
	// Idle is unknown of a sample from the journal.
	Idle *float64 `json:"idle,omitempty"`
}

// history is what the fleet has cost, by the journal's decisions until the dashboard began. When it is full, it drops every second
// sample, and from then on takes samples half as often.
type history struct {
	mu      sync.Mutex
	samples []sample
	every   time.Duration
}

const (
	mostSamples = 720
	firstEvery  = 5 * time.Second
)

func (h *history) add(s sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.every == 0 {
		h.every = firstEvery
	}
	if n := len(h.samples); n > 0 && s.At-h.samples[n-1].At < int64(h.every/time.Second) {
		return
	}
	if h.samples = append(h.samples, s); len(h.samples) < mostSamples {
		return
	}
	kept := make([]sample, 0, mostSamples)
	for i := 0; i < len(h.samples); i += 2 {
		kept = append(kept, h.samples[i])
	}
	h.samples, h.every = kept, 2*h.every
}

func (h *history) all() []sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]sample{}, h.samples...)
}

// Remember takes samples until the context ends, after those that the journal has.
func (d *Dashboard) Remember(ctx context.Context) {
	d.recall(ctx)
	ticker := time.NewTicker(firstEvery)
	defer ticker.Stop()
	for {
		f := d.options.Fleet()
		idle := f.Total.Idle.Float()
		d.history.add(sample{At: d.options.Clock().Unix(), Price: f.Total.Price.Float(), Idle: &idle})
		d.spot.look(f, d.options.Market, d.options.Clock())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// recall takes a sample of each decision of the journal: the price of the fleet that was decided about, and those of the spot
// machines that it bought. A journal that
// cannot be read has none; the page of decisions says why.
func (d *Dashboard) recall(ctx context.Context) {
	if d.options.Journal == nil {
		return
	}
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	entries, err := journal.Entries(ctx, d.options.Journal)
	if err != nil {
		return
	}
	for i := range entries {
		if cost := entries[i].Cost; cost != nil {
			d.history.add(sample{At: entries[i].At.Unix(), Price: cost.Before})
		}
	}
	d.spot.recall(entries, d.options.Clock())
}
