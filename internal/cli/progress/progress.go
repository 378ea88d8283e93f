// Package progress tells people on standard error what a slow command is doing, once it has taken a while.
// It knows nothing about the work itself.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// When something is said. A terminal has one line that is written over; elsewhere, as in the log
// of a build, lines stay and are few.
const (
	patience      = time.Second
	redrawEvery   = 200 * time.Millisecond
	plainEvery    = 5 * time.Second
	plainPatience = 2 * time.Second
)

// Reporter is one line about what is going on. Set may be called as often as one likes.
type Reporter struct {
	w        io.Writer
	terminal bool
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu    sync.Mutex
	text  string
	since time.Time // when this stage began
	stage string
	drawn bool // something is on the terminal's line
}

// Start begins to report to w. The caller must call Stop.
func Start(w io.Writer, terminal bool) *Reporter {
	now := time.Now()
	r := &Reporter{w: w, terminal: terminal, since: now, stop: make(chan struct{})}
	r.stopped.Go(r.run)
	return r
}

// Set says what is going on: a stage, and how far it is. Details may be empty.
func (r *Reporter) Set(stage, details string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stage != r.stage {
		r.stage, r.since = stage, time.Now()
	}
	r.text = stage
	if details != "" {
		r.text += ": " + details
	}
}

// Stop ends the reporting and clears the line.
func (r *Reporter) Stop() {
	close(r.stop)
	r.stopped.Wait()
	if r.drawn {
		fmt.Fprint(r.w, clearLine)
	}
}

const clearLine = "\r\x1b[K"

func (r *Reporter) run() {
	first, every := plainPatience, plainEvery
	if r.terminal {
		first, every = patience, redrawEvery
	}
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-timer.C:
			r.draw()
			timer.Reset(every)
		}
	}
}

func (r *Reporter) draw() {
	r.mu.Lock()
	text, took := r.text, time.Since(r.since).Round(time.Second)
	r.mu.Unlock()
	if text == "" {
		return
	}
	if took >= patience {
		text += fmt.Sprintf(" (%s)", took)
	}
	if r.terminal {
		fmt.Fprint(r.w, clearLine+text)
		r.drawn = true
		return
	}
	fmt.Fprintln(r.w, text)
}
