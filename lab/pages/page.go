// Package pages runs the commands of documents, as a reader types them: from top to bottom, in one shell, with the
// real kubectl and Helm. What cannot be had here (an AWS account, eksctl, a registry) is played by programs of
// this package, which refuse what the real ones would refuse.
//
// It is for tests. It must not know what a page is about: what a command has to print is in the page, or with the test.
package pages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"tenon/lab/labtest"
)

// Step is one command of a page, with what the page shows that it prints.
type Step struct {
	Command string
	Shown   []string
	Line    int
}

// programs are the first words of what a reader types.
var programs = regexp.MustCompile(`^(\(?cd|\(|set|export|make|go|kubectl|helm|aws|eksctl|envsubst|sed|curl|tenon|bin/tenon|bin/tenon-lab)( |$)`)

// Read reads the steps of a page, which is named from the root of the repository.
func Read(name string) ([]Step, error) {
	root, err := labtest.Repository()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	var steps []Step
	for _, b := range blocks(string(text)) {
		found, err := b.steps()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		steps = append(steps, found...)
	}
	return steps, nil
}

// block is code in a page: fenced, in the language that the fence names, or indented.
type block struct {
	fence string
	lines []string
	first int // its number
}

const indent = "    "

func blocks(text string) []block {
	var found []block
	var open *block
	blank := true // an indented block follows an empty line
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		code, indented := strings.CutPrefix(line, indent)
		// In a list, code is indented once more.
		code = strings.TrimPrefix(code, "   ")
		switch {
		case open != nil && open.fence != "":
			if isFence {
				found, open = append(found, *open), nil
				break
			}
			open.lines = append(open.lines, line)
		case isFence:
			open = &block{fence: "```" + fence, first: i + 2}
		case open != nil && indented:
			open.lines = append(open.lines, code)
		case open == nil && indented && blank:
			open = &block{lines: []string{code}, first: i + 1}
		case open != nil:
			found, open = append(found, *open), nil
		}
		blank = strings.TrimSpace(line) == ""
	}
	if open != nil {
		found = append(found, *open)
	}
	return found
}

// steps are the commands of a block. With "$ " before its commands a block shows what they print, without it has commands alone.
func (b block) steps() ([]Step, error) {
	switch {
	case len(b.lines) == 0:
		return nil, nil
	case strings.HasPrefix(b.lines[0], "$ "):
		return b.session(), nil
	case b.fence == "```sh", b.fence == "" && programs.MatchString(b.lines[0]):
		return b.commands()
	default:
		return nil, nil
	}
}

func (b block) session() []Step {
	var steps []Step
	for i, line := range b.lines {
		if command, is := strings.CutPrefix(line, "$ "); is {
			steps = append(steps, Step{Command: command, Line: b.first + i})
		} else if line != "" && line != "…" {
			last := &steps[len(steps)-1]
			last.Shown = append(last.Shown, line)
		}
	}
	return steps
}

// commands are cut where the shell sees a whole command.
func (b block) commands() ([]Step, error) {
	var steps []Step
	var lines []string
	for i, line := range b.lines {
		lines = append(lines, line)
		text := strings.Join(lines, "\n")
		if !whole(text) {
			continue
		}
		steps = append(steps, Step{Command: text, Line: b.first + i + 1 - len(lines)})
		lines = nil
	}
	if len(lines) > 0 {
		return nil, fmt.Errorf("line %d: the shell does not see an end of %q", b.first+len(b.lines)-len(lines), strings.Join(lines, "\n"))
	}
	return steps, nil
}

// whole asks the shell, which warns of documents that have no end.
func whole(text string) bool {
	if strings.HasSuffix(text, `\`) {
		return false
	}
	said, err := exec.Command("bash", "-n", "-c", text).CombinedOutput()
	return err == nil && len(said) == 0
}
