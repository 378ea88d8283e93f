package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screen is a writer that a reporter and a test may share.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// after lets virtual time pass.
func after(d time.Duration) {
	<-time.After(d) // virtual: the clock of the bubble jumps
	synctest.Wait()
}

func TestATerminalHasOneLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out screen
		r := Start(&out, true)
		r.Set("reading", "1 of 9 files")
		after(900 * time.Millisecond)
		if got := out.String(); got != "" {
			t.Errorf("something is said before the user waits: %q", got)
		}
		after(200 * time.Millisecond)
		if got := out.String(); got != clearLine+"reading: 1 of 9 files (1s)" {
			t.Errorf("got %q", got)
		}
		r.Set("reading", "5 of 9 files")
		after(2 * time.Second)
		r.Set("planning", "")
		after(300 * time.Millisecond)
		r.Stop()
		if got := out.String(); strings.Contains(got, "\n") || !strings.Contains(got, "5 of 9 files (3s)") || !strings.HasSuffix(got, clearLine+"planning"+clearLine) {
			t.Errorf("got %q", got)
		}
	})
}

func TestALogHasFewLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out screen
		r := Start(&out, false)
		r.Set("planning", "")
		after(21 * time.Second)
		r.Stop()
		want := "planning (2s)\nplanning (7s)\nplanning (12s)\nplanning (17s)\n"
		if got := out.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestQuickWorkIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, terminal := range []bool{true, false} {
			var out screen
			r := Start(&out, terminal)
			r.Set("reading", "all of it")
			after(500 * time.Millisecond)
			r.Stop()
			if got := out.String(); got != "" {
				t.Errorf("terminal %v: got %q", terminal, got)
			}
		}
	})
}

func TestNothingToSay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out screen
		r := Start(&out, true)
		after(10 * time.Second)
		r.Stop()
		if got := out.String(); got != "" {
			t.Errorf("got %q", got)
		}
	})
}
