package pages

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"tenon/lab/labtest"
)

// elsewhere are pages with commands that are not run as they stand, each with what holds them true.
var elsewhere = map[string]string{
	"docs/getting-started-eks.md":               "lab/release runs it",
	"docs/install.md":                           "lab/release runs Helm's commands, and does the others and compares them",
	"docs/upgrading.md":                         "looks at a cluster after an upgrade; lab/release and lab/aws upgrade",
	"docs/migrating-from-karpenter.md":          "lab/release runs it",
	"docs/migrating-from-cluster-autoscaler.md": "its files are the reader's own; lab/nodegroups imports, converts, checks and hands over",
	"docs/comparison.md":                        "benchmarks are run by hand, and the page says when",
	"bench/README.md":                           "benchmarks take hours",
	"docs/fidelity.md":                          "Karpenter's suites want a copy of its sources, and take hours",
	"CONTRIBUTING.md":                           "targets of the Makefile, which CI runs",
	"sim/README.md":                             "runs of the simulation, which CI makes with other seeds",
	"docs/reference/catalogue.md":               "generates the catalogue of files that the reader has downloaded from AWS",
	"docs/reference/convert.md":                 "scripts in internal/cli/testdata/convert",
	"docs/reference/cost.md":                    "asks a cluster; internal/cli runs it on files, and the simulation holds its sums",
	"docs/reference/dashboard.md":               "serves until it is told to end; lab/dashboard drives it in a browser",
	"docs/reference/dashboards-and-alerts.md":   "charts renders it, lab/queries asks what it shows",
	"docs/reference/explain.md":                 "the tests of internal/cli/explain",
	"docs/reference/journal.md":                 "wants a port that is forwarded into a pod; internal/cli and lab/e2e read journals",
	"docs/reference/node-groups.md":             "wants node groups of the reader; lab/nodegroups has some, and runs its commands",
	"docs/reference/plan.md":                    "scripts in internal/cli/testdata/plan",
	"docs/reference/preflight.md":               "lab/e2e and lab/release run it",
	"docs/reference/shadow.md":                  "lab/release installs it beside a release of Karpenter and asks for the report",
	"docs/reference/validate.md":                "scripts in internal/cli/testdata/validate",
	"docs/reference/view.md":                    "wants a terminal; lab/e2e drives it in one",
}

// Every page that has commands is run by a test, or says here why not.
func TestEveryPageIsRun(t *testing.T) {
	t.Parallel()
	root, err := labtest.Repository()
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{"docs/getting-started-laptop.md": true, "docs/walkthrough.md": true}
	for name := range looks {
		run[name] = true
	}
	seen := map[string]bool{}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin" || entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		steps, err := Read(name)
		if err != nil {
			return err
		}
		if len(steps) == 0 || run[name] || path.Dir(name) == "docs/how-to" {
			return nil
		}
		if elsewhere[name] == "" {
			t.Errorf("no test runs %s:%d: %s", name, steps[0].Line, steps[0].Command)
		}
		seen[name] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range elsewhere {
		if !seen[name] {
			t.Errorf("%s is excused and has no commands", name)
		}
	}
}

// A page is cut into the commands that a shell sees, with what it shows of each.
func TestSteps(t *testing.T) {
	t.Parallel()
	page := "Text\n\n    make x\n    export A=1\n\nand\n\n    NAME  READY\n\n1. one\n\n       helm a \\\n         b\n\n```sh\nf() {\n  cat <<E\n$1\nE\n}\nf b\n```\n\n```\n$ kubectl get x\nNAME\n…\n$ kubectl get y\n```\n\n```yaml\nset: 1\n```\n"
	var got []string
	for _, b := range blocks(page) {
		steps, err := b.steps()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			got = append(got, strings.Join(append([]string{s.Command}, s.Shown...), " > "))
		}
	}
	want := []string{"make x", "export A=1", "helm a \\\n  b", "f() {\n  cat <<E\n$1\nE\n}", "f b", "kubectl get x > NAME", "kubectl get y"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("steps %q, want %q", got, want)
	}
}

// What a page shows may have been printed with other names, times and ages, and with nothing else.
func TestShownLines(t *testing.T) {
	t.Parallel()
	const shown = "shop-sf9qv  m5.large  29s  ip-10-0-0-4.us-west-2.compute.internal  since 2026-11-21T17:54:41Z: … end"
	cases := map[string]struct {
		printed string
		is      bool
	}{
		"other names and times": {"x\nshop-bcdf2   m5.large   1m    ip-10-0-7-9.us-west-2.compute.internal  since 2027-01-01T00:00:00Z: all of it end ", true},
		"another type":          {"shop-bcdf2 m5.xlarge 1m ip-10-0-7-9.us-west-2.compute.internal  since 2027-01-01T00:00:00Z:  end", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := names{}
			if got := n.missing([]string{shown}, tc.printed) == ""; got != tc.is {
				t.Fatalf("matched %v, want %v", got, tc.is)
			}
			if tc.is && n.replace("kubectl delete nodeclaim shop-sf9qv") != "kubectl delete nodeclaim shop-bcdf2" {
				t.Errorf("names %v", n)
			}
		})
	}
}
