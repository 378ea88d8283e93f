package pages

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"tenon/lab/labtest"
)

// runEnv is set by "make pages", which runs all pages.
const runEnv = "PAGES_RUN"

// byHand skips the test unless "make pages" runs it: it takes minutes, one page after the other.
func byHand(t *testing.T) {
	t.Helper()
	if os.Getenv(runEnv) == "" {
		t.Skip("skipped: make pages runs it")
	}
}

// Want is what a command of a page has to print, where the page does not show it, and the status that it ends with.
type Want struct {
	Command string // how it begins
	Prints  string // a regular expression
	Status  int
	// After is done when the command has ended: what would happen by itself where the cluster runs images.
	After func()
}

// Run runs the steps of a page. What only reads is repeated until it prints what is wanted: a reader looks again.
func (s *Shell) Run(steps []Step, wants ...Want) {
	s.Helper()
	names := names{}
	for _, step := range steps {
		step.Command = names.replace(step.Command)
		want := Want{}
		for i, w := range wants {
			if w.Command != "" && strings.HasPrefix(step.Command, w.Command) {
				want, wants[i] = w, Want{} // each is of one step
				break
			}
		}
		s.step(step, want, names)
		if want.After != nil {
			want.After()
		}
	}
	for _, w := range wants {
		if w.Command != "" {
			s.Errorf("the page has no command %q", w.Command)
		}
	}
}

func (s *Shell) step(step Step, want Want, names names) {
	s.Helper()
	if len(step.Shown) > 0 && watches(step.Command) {
		s.watch(step, names)
		return
	}
	limit := time.Now().Add(2 * labtest.Within)
	for {
		printed, status := s.Do(step.Command)
		missing := ""
		switch {
		case status != want.Status:
			missing = fmt.Sprintf("status %d, want %d", status, want.Status)
		case !regexp.MustCompile(want.Prints).MatchString(printed):
			missing = "want " + want.Prints
		default:
			missing = names.missing(step.Shown, printed)
		}
		if missing == "" {
			s.Logf("line %d: %s\n%s", step.Line, step.Command, printed)
			return
		}
		if !reads(step.Command) || time.Now().After(limit) {
			s.Fatalf("line %d: %s\n%s\n%s", step.Line, step.Command, printed, missing)
		}
		time.Sleep(pollEvery)
	}
}

// reads says whether a command may be given again.
func reads(command string) bool {
	first := strings.Fields(command)
	return len(first) > 1 && (first[0] == "bin/tenon" || first[0] == "kubectl" && (first[1] == "get" || first[1] == "describe"))
}

func watches(command string) bool { return strings.Contains(command+" ", " -w ") }

// watch lets the real kubectl watch until what the page shows last of each object has been seen. The states before
// it follow each other so fast that a watch may begin after them.
func (s *Shell) watch(step Step, names names) {
	s.Helper()
	latest := map[string]string{}
	var order []string
	for _, line := range step.Shown {
		first := strings.Fields(line)[0]
		if _, is := latest[first]; !is {
			order = append(order, first)
		}
		latest[first] = line
	}
	var shown []string
	for _, first := range order {
		shown = append(shown, latest[first])
	}
	file := s.path(".watched")
	// The shell opens the file in the background, so it may come later than the first look at it.
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		s.Fatal(err)
	}
	if said, status := s.Do(realKubectl + strings.TrimPrefix(step.Command, "kubectl") + " > " + file + " 2>&1 & watcher=$!"); status != 0 {
		s.Fatalf("line %d: %s\n%s", step.Line, step.Command, said)
	}
	defer s.Do("kill $watcher; wait $watcher 2>/dev/null; true")
	limit := time.Now().Add(2 * labtest.Within)
	for {
		text, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		missing := names.missing(shown, string(text))
		if missing == "" {
			s.Logf("line %d: %s\n%s", step.Line, step.Command, text)
			return
		}
		if time.Now().After(limit) {
			s.Fatalf("line %d: %s\n%s\n%s", step.Line, step.Command, text, missing)
		}
		time.Sleep(pollEvery)
	}
}

// names are those that this run has in place of those that the page shows.
type names map[string]string

// Names and times are others with every run.
var (
	madeUp  = regexp.MustCompile(`\b[a-z]+(?:-[0-9a-z]{6,10})?-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	varying = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT[0-9:]+Z|\bip-[0-9-]+\b|\b\d+[smh]\b|…|\s{2,}`)
)

func (n names) replace(command string) string {
	return madeUp.ReplaceAllStringFunc(command, func(name string) string {
		if now, is := n[name]; is {
			return now
		}
		return name
	})
}

// missing is the first line that is shown and was not printed; a line may be printed with other names and times.
func (n names) missing(shown []string, printed string) string {
	lines := strings.Split(printed, "\n")
	for _, line := range shown {
		pattern, of := likeIt(line)
		found := false
		for _, p := range lines {
			if match := pattern.FindStringSubmatch(strings.TrimSpace(p)); match != nil {
				found = true
				for i, name := range of {
					n[name] = match[i+1]
				}
			}
		}
		if !found {
			return "the page shows " + line
		}
	}
	return ""
}

// likeIt matches a line that differs in names and times alone. The names are the groups.
func likeIt(line string) (pattern *regexp.Regexp, of []string) {
	var text strings.Builder
	rest := strings.TrimSpace(line)
	for rest != "" {
		name, other := madeUp.FindStringIndex(rest), varying.FindStringIndex(rest)
		switch {
		case name != nil && (other == nil || name[0] < other[0]):
			text.WriteString(regexp.QuoteMeta(rest[:name[0]]) + "(" + madeUp.String() + ")")
			of = append(of, rest[name[0]:name[1]])
			rest = rest[name[1]:]
		case other != nil:
			text.WriteString(regexp.QuoteMeta(rest[:other[0]]) + standsFor(rest[other[0]:other[1]]))
			rest = rest[other[1]:]
		default:
			text.WriteString(regexp.QuoteMeta(rest))
			rest = ""
		}
	}
	return regexp.MustCompile("^" + text.String() + "$"), of
}

func standsFor(what string) string {
	switch {
	case strings.TrimSpace(what) == "":
		return `\s+`
	case what == "…":
		return `.*`
	default:
		return `\S+`
	}
}
