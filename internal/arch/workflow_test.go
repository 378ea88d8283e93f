package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// step is what one step of a workflow uses or runs.
type step struct{ Uses, Run string }

// Workflows of GitHub and our own action can be read, each action that they use is named by its commit, since a tag can be
// moved, and each target of make that they name exists.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, name := range append(files, filepath.Join(root, "action.yml")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Jobs map[string]struct{ Steps []step }
			Runs struct{ Steps []step }
		}
		if err := yaml.UnmarshalStrict(text, &map[string]any{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := yaml.Unmarshal(text, &workflow); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		steps := workflow.Runs.Steps
		for _, job := range workflow.Jobs {
			steps = append(steps, job.Steps...)
		}
		if len(steps) == 0 {
			t.Errorf("%s has no steps", name)
		}
		for _, s := range steps {
			for _, wrong := range s.mistakes(string(makefile)) {
				t.Errorf("%s: %s", name, wrong)
			}
		}
	}
}

var (
	fixed  = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	making = regexp.MustCompile(`(?m)^\s*make ([a-z-]+)`)
)

func (s step) mistakes(makefile string) []string {
	var found []string
	if s.Uses != "" && !fixed.MatchString(s.Uses) {
		found = append(found, s.Uses+" is not named by its commit")
	}
	for _, m := range making.FindAllStringSubmatch(s.Run, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			found = append(found, "the Makefile has no target "+m[1])
		}
	}
	return found
}

// A step that uses a branch of an action, or makes a target that does not exist, is a mistake.
func TestWorkflowMistakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step step
		want int
	}{
		"a version":      {step{Uses: "actions/checkout@v4"}, 1},
		"a commit":       {step{Uses: "actions/checkout@" + strings.Repeat("0a", 20)}, 0},
		"a branch":       {step{Uses: "actions/checkout@main"}, 1},
		"no version":     {step{Uses: "actions/checkout"}, 1},
		"a target":       {step{Run: "make image\nmv a b"}, 0},
		"another target": {step{Run: "cd a\n  make nothing"}, 1},
	} {
		if got := tc.step.mistakes("\nimage: ## Build\n"); len(got) != tc.want {
			t.Errorf("%s: %v, want %d mistakes", name, got, tc.want)
		}
	}
}
