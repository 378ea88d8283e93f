package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/internal/aws"
)

// A script is a file in a folder of testdata that is named for its command: the command line, the files that it reads, and all that it
// leaves behind.
//
//	# Why this script is there.
//	env NO_COLOR=1
//	tenon plan -f $WORK/pool.yaml -f -
//	-- pool.yaml --
//	…
//	-- stdin --
//	…
//	-- status --
//	0
//	-- out --
//	…
//	-- err --
//	…
//
// $WORK is where the files are, $DATA is testdata. With -rewrite the last three sections are written
// anew, to be reviewed like code.
var rewrite = flag.Bool("rewrite", false, "write the results of scripts anew")

type script struct {
	head     []string
	command  string
	sections []section
}

type section struct{ name, text string }

var sectionTitle = regexp.MustCompile(`^-- (\S+) --$`)

func readScript(t *testing.T, path string) script {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s script
	for line := range strings.Lines(string(text)) {
		if title := sectionTitle.FindStringSubmatch(strings.TrimSuffix(line, "\n")); title != nil {
			s.sections = append(s.sections, section{name: title[1]})
			continue
		}
		if n := len(s.sections); n > 0 {
			s.sections[n-1].text += line
			continue
		}
		s.head = append(s.head, line)
		if command, ok := strings.CutPrefix(line, "tenon "); ok {
			s.command = strings.TrimSpace(command)
		}
	}
	if s.command == "" {
		t.Fatalf("%s has no line that begins with tenon", path)
	}
	return s
}

func (s *script) get(name string) string {
	for _, section := range s.sections {
		if section.name == name {
			return section.text
		}
	}
	return ""
}

// results are the sections that a run leaves.
var results = []string{"status", "out", "err"}

// run executes the command, and returns the results with what changes from run to run replaced.
func (s *script) run(t *testing.T) map[string]string {
	t.Helper()
	work := t.TempDir()
	variables := map[string]string{}
	for _, line := range s.head {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "env "); ok {
			name, value, _ := strings.Cut(text, "=")
			variables[name] = value
		}
	}
	for _, f := range s.sections {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(work, f.name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, f.name), []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expand := strings.NewReplacer("$WORK", work, "$DATA", "testdata")
	args := strings.Fields(s.command)
	for i := range args {
		args[i] = expand.Replace(args[i])
	}
	var out, messages bytes.Buffer
	status := Run(t.Context(), args, Env{In: strings.NewReader(s.get("stdin")), Out: &out, Err: &messages, Progress: io.Discard, Cloud: aws.Cloud(), LookupEnv: func(name string) (string, bool) {
		text, ok := variables[name]
		return text, ok
	}})
	clean := func(text string) string {
		return timed.ReplaceAllString(strings.ReplaceAll(text, work, "$WORK"), "${1}TIME${2}")
	}
	return map[string]string{"status": fmt.Sprintln(status), "out": clean(out.String()), "err": clean(messages.String())}
}

// timed finds the one thing in a plan that differs from run to run.
var timed = regexp.MustCompile(`("?duration"?: "|Planned  in )[0-9.]+[a-zµ]+([",])`)

func TestScripts(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".txt"), func(t *testing.T) {
			t.Parallel()
			s := readScript(t, path)
			got := s.run(t)
			if *rewrite {
				s.write(t, path, got)
				return
			}
			for _, name := range results {
				if diff := cmp.Diff(s.get(name), got[name]); diff != "" {
					t.Errorf("%s of %q (-want +got):\n%s", name, "tenon "+s.command, diff)
				}
			}
		})
	}
}

func (s *script) write(t *testing.T, path string, got map[string]string) {
	t.Helper()
	text := strings.Join(s.head, "")
	for _, section := range s.sections {
		if _, isResult := got[section.name]; !isResult {
			text += "-- " + section.name + " --\n" + section.text
		}
	}
	for _, name := range results {
		text += "-- " + name + " --\n" + got[name]
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
