package planted_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tenon/sim/planted"
)

const root = "../.."

func all(t *testing.T) []planted.Mistake {
	t.Helper()
	mistakes, err := planted.All()
	if err != nil {
		t.Fatal(err)
	}
	return mistakes
}

// Every mistake fits the present code, and changes it.
func TestMistakesApply(t *testing.T) {
	t.Parallel()
	mistakes := all(t)
	if len(mistakes) < 10 {
		t.Errorf("there are only %d mistakes", len(mistakes))
	}
	for _, m := range mistakes {
		files, err := m.Apply(root)
		if err != nil {
			t.Error(err)
		}
		for file, text := range files {
			before, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			if string(before) == text || strings.HasPrefix(file, "sim/") {
				t.Errorf("%s does not change the product in %s", m.Name, file)
			}
		}
	}
}

// Every mistake names a rule that the watch has.
func TestMistakesNameRules(t *testing.T) {
	t.Parallel()
	text := ""
	files, err := filepath.Glob("../invariant/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	for _, m := range all(t) {
		if !strings.Contains(text, `= "`+m.Finds+`"`) {
			t.Errorf("%s is to be found by %q, and there is no such rule", m.Name, m.Finds)
		}
	}
}

// Every mistake compiles, so that runs test the mistake and not an error of the patch. Only the
// packages that it changes are compiled; `make planted` runs all of them.
func TestMistakesCompile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("this compiles each mistake")
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all(t) {
		folder := t.TempDir()
		overlay, err := m.Overlay(absolute, folder)
		if err != nil {
			t.Error(err)
			continue
		}
		build := exec.Command("go", append([]string{"build", "-overlay", overlay}, m.Packages()...)...)
		build.Dir = absolute
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s does not compile: %v\n%s", m.Name, err, out)
		}
	}
}

// Mistakes that show at the beginning are found in the first seeds: the whole process from a patch
// to a violation works.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("this builds the simulation anew")
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	hunt := planted.Hunt{Root: absolute, Seeds: 20, For: 5 * time.Minute, Parallel: 1}
	for _, m := range all(t) {
		if m.Name != "no-finalizer" {
			continue
		}
		caught, err := hunt.Find(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		if !caught.Found {
			t.Error(caught)
		}
	}
}
