package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadmeShowsWhatPlanPrints: the plan in the README is what its command prints today.
func TestReadmeShowsWhatPlanPrints(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^    bin/tenon (plan .*)\n\n((?:    .*\n|\n)+)`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the README has no plan with what it prints")
	}
	command := strings.ReplaceAll(string(found[1]), " examples/", " ../../examples/")
	shown := regexp.MustCompile(`(?m)^    `).ReplaceAllString(string(found[2]), "")
	got := run(t, nil, strings.Fields(command)...)
	if diff := cmp.Diff(timeless(shown), timeless(got.out)); diff != "" {
		t.Errorf("README.md (-), tenon %s (+):\n%s", found[1], diff)
	}
}

// timeless is a printed plan without the time that it took.
func timeless(text string) string {
	return strings.TrimSpace(regexp.MustCompile(`in [0-9.]+m?s,`).ReplaceAllString(text, "in a moment,"))
}
