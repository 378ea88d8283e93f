package lifecycle

import (
	"testing"

	"tenon/cloud/memory"
)

// TestHealthIsSaidOnce: of a burst of nodes that join, only the first one writes that their pool is
// healthy.
func TestHealthIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	writes := 0
	for _, name := range []string{"web-1", "web-2", "web-3"} {
		s.Named(name, "web")
		s.Run(s.controller, name)
		s.join()
		s.Run(s.controller, name)
		for _, call := range s.Calls() {
			if call.IsWrite() && call.Kind == "NodePool" {
				writes++
			}
		}
	}
	if writes != 1 {
		t.Errorf("the pool was written %d times, want once", writes)
	}
}
