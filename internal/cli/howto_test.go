package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shownCommand finds, in a page, the commands of Tenon in blocks that begin with ```console, and what they print.
var shownCommand = regexp.MustCompile("(?m)^```console\n\\$ bin/tenon (.*)\n((?:[^`].*\n|\n)*)```$")

// TestHowToPagesShowWhatTheirCommandsPrint: each page under docs/how-to shows at least one command, and its output is what the command
// prints today. With -rewrite the pages are written anew.
func TestHowToPagesShowWhatTheirCommandsPrint(t *testing.T) {
	t.Parallel()
	for _, name := range howToNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "../../docs/how-to/" + name + ".md"
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !shownCommand.Match(page) {
				t.Fatal("the page shows no command")
			}
			fresh := shownCommand.ReplaceAllStringFunc(string(page), func(block string) string {
				command := shownCommand.FindStringSubmatch(block)[1]
				args := strings.Fields(strings.ReplaceAll(command, " examples/", " ../../examples/"))
				got := run(t, nil, args...)
				return "```console\n$ bin/tenon " + command + "\n" + strings.TrimSpace(got.out) + "\n```"
			})
			if timeless(string(page)) == timeless(fresh) {
				return
			}
			if *rewrite {
				if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("page (-), what its commands print (+):\n%s", cmp.Diff(timeless(string(page)), timeless(fresh)))
		})
	}
}

// TestHowToManifestsAreValid: the manifest of each page has no finding of any level, and its page names it.
func TestHowToManifestsAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range howToNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, nil, "validate", "--fail-on", "note", "../../examples/how-to/"+name+".yaml")
			if got.status != 0 {
				t.Errorf("status %d:\n%s%s", got.status, got.out, got.err)
			}
			page, err := os.ReadFile("../../docs/how-to/" + name + ".md")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(page), "(../../examples/how-to/"+name+".yaml)") {
				t.Error("the page has no link to its manifest")
			}
		})
	}
}

// howToNames are the names of the manifests under examples/how-to, each of which has a page of its name.
func howToNames(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../examples/how-to/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".yaml")
	}
	return paths
}
