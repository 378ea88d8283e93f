package pages

import (
	"os"
	"path/filepath"
	"testing"
)

// The page for laptops, from top to bottom.
func TestGettingStartedOnALaptop(t *testing.T) {
	t.Parallel()
	s := atHome(t)
	s.Run(read(t, "docs/getting-started-laptop.md"),
		Want{Command: "bin/tenon validate", Prints: "0 errors, 0 warnings"},
		Want{Command: "bin/tenon plan", Prints: "(?s)New nodes.*Pods without a place", Status: 2},
		Want{Command: "kubectl get nodeclaims -w", Prints: `(?m)^default-\w+ .* True `},
		Want{Command: "kubectl describe nodepool default", Prints: `(?s)Message:\s+[^\n]*cpu.*Status:\s+True\s+Type:\s+LimitReached`},
		Want{Command: "bin/tenon view", Prints: "default"},
		Want{Command: "bin/tenon explain nodepool default", Prints: "limit"},
		Want{Command: "kubectl get nodeclaims -w", Prints: "No resources found"},
	)
	s.gone(".lab")
}

// The walk through the life of nodes prints what the page shows.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	s := atHome(t)
	s.Run(read(t, "docs/walkthrough.md"))
	s.gone(".lab")
}

func read(t *testing.T, page string) []Step {
	t.Helper()
	steps, err := Read(page)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) == 0 {
		t.Fatalf("%s has no commands", page)
	}
	return steps
}

// atHome is a shell in which the page starts a lab, and ends it.
func atHome(t *testing.T) *Shell {
	t.Helper()
	s := NewShell(t)
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(s.Folder, ".lab")); err == nil {
			t.Log(s.Do("bin/tenon-lab down"))
		}
	})
	return s
}

// gone checks that the page has removed what it made.
func (s *Shell) gone(path string) {
	s.Helper()
	if _, err := os.Stat(s.path(path)); !os.IsNotExist(err) {
		s.Errorf("%s is left: %v", path, err)
	}
}
