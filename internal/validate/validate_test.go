package validate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/order"
	"tenon/internal/aws"
	"tenon/internal/cli/planning"
	"tenon/internal/settings"
	"tenon/internal/validate"
)

func run(t *testing.T, paths ...string) validate.Result {
	t.Helper()
	cloud := aws.Cloud()
	defaults, _, err := settings.Parse(nil, func(string) (string, bool) { return "", false }, cloud.Settings...)
	if err != nil {
		t.Fatal(err)
	}
	market, err := planning.NewMarket("", "", cloud)
	if err != nil {
		t.Fatal(err)
	}
	options := planning.IngestOptions(market, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), defaults)
	result, err := validate.Files(t.Context(), paths, validate.Options{Ingest: options})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

var want = regexp.MustCompile(`# want ([a-z-]+)$`)

// Each file of testdata marks the lines that something is wrong in with the rule that says so; nothing
// else is found, and every rule is in some file.
func TestFindings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	left := validate.Rules()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var expected []string
		for i, line := range strings.Split(string(text), "\n") {
			if found := want.FindStringSubmatch(line); found != nil {
				expected = append(expected, fmt.Sprintf("%d %s", i+1, found[1]))
				delete(left, found[1])
			}
		}
		var got []string
		for _, f := range run(t, file).Findings {
			got = append(got, fmt.Sprintf("%d %s", f.Line, f.Rule))
			if f.Message == "" || f.File != file || f.Rule != "yaml-syntax" && (f.Object == "" || f.Fix == "") {
				t.Errorf("%s: incomplete: %+v", file, f)
			}
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%+v", file, diff, run(t, file).Findings)
		}
	}
	if len(left) > 0 {
		t.Errorf("no file has a case of %v", order.Keys(left))
	}
}

// The examples that users copy have no errors and no warnings, each by itself.
func TestExamplesAreClean(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		for _, f := range run(t, file).Findings {
			if f.Level != validate.Note {
				t.Errorf("%s:%d: %s", f.File, f.Line, f.Text())
			}
		}
	}
}

// What was probably meant is said where something is near.
func TestFixes(t *testing.T) {
	t.Parallel()
	for file, fixes := range map[string][]string{
		"unknown-field": {"did you mean consolidateAfter?"},
		"pods":          {"did you mean karpenter.sh/capacity-type?", "did you mean spot?", "did you mean topology.kubernetes.io/zone?", "did you mean team?"},
		"pools":         {"did you mean default?"},
		"labels":        {"did you mean node.kubernetes.io/instance-type?", "did you mean topology.kubernetes.io/region?", "did you mean karpenter.sh/capacity-type?"},
		"schema": {
			"did you mean In?", "did you mean WhenEmpty?", "such as 30m", "such as 10, 500m or 16Gi", "such as 5, or a part of the nodes such as 10%",
			"kubectl explain nodepool.spec.weight",
		},
		"types": {"requirements[0] (node.kubernetes.io/instance-type In [m5.lage])"},
	} {
		result := run(t, "testdata/"+file+".yaml")
		for _, fix := range fixes {
			if !slices.ContainsFunc(result.Findings, func(f validate.Finding) bool { return strings.Contains(f.Fix, fix) }) {
				t.Errorf("%s: no finding says %q: %+v", file, fix, result.Findings)
			}
		}
	}
}

// What is converted from node groups has no errors.
func TestConvertedGroupsAreValid(t *testing.T) {
	t.Parallel()
	if n := run(t, "../../cloud/aws/nodegroup/testdata/conversion").Count(validate.Error); n != 0 {
		t.Errorf("%d errors", n)
	}
}
