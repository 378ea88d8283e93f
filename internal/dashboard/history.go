package dashboard

import (
	"context"
	"sync"
	"time"
)

// sample is what the fleet cost at one moment.
type sample struct {
	At      int64   `json:"at"` // seconds since 1970
	Price   float64 `json:"price"`
	Idle    float64 `json:"idle"`
	Nodes   int     `json:"nodes"`
	Pending int     `json:"pending"`
}

// history is what the fleet has cost since the dashboard began. When it is full, it drops every second
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

// Remember takes samples until the context ends.
func (d *Dashboard) Remember(ctx context.Context) {
	ticker := time.NewTicker(firstEvery)
	defer ticker.Stop()
	for {
		f := d.options.Fleet()
		d.history.add(sample{At: d.options.Clock().Unix(), Price: f.Total.Price.Float(), Idle: f.Total.Idle.Float(), Nodes: f.Total.Nodes, Pending: len(f.Pending)})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
