package arch

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	ruleLinks = "documents lead somewhere"
	whyLinks  = "a reader who follows a link into nothing trusts the rest less"
)

// link finds the target of a Markdown link; what is in code spans was taken out before.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

var codeSpan = regexp.MustCompile("`[^`]*`")

// Pages checks that every relative link in a Markdown file leads to a file or folder, and to a heading if it names one, and that
// pages name their subjects.
func Pages(fsys fs.FS) ([]Violation, error) {
	var found []Violation
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && ignored(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		found = append(found, deadLinks(fsys, name, string(text))...)
		found = append(found, riddlesOf(name, string(text))...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	return found, nil
}

func deadLinks(fsys fs.FS, name, text string) []Violation {
	var found []Violation
	number := 0
	for line := range strings.Lines(text) {
		number++
		for _, match := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			target, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue // an address elsewhere
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if !leads(fsys, to, heading) {
				found = append(found, Violation{Rule: ruleLinks, At: fmt.Sprintf("%s:%d", name, number), What: "link to " + match[1], Why: whyLinks})
			}
		}
	}
	return found
}

// leads says whether there is a file or folder, and in a page the heading, if one is named.
func leads(fsys fs.FS, to, heading string) bool {
	if _, err := fs.Stat(fsys, to); err != nil {
		return false
	}
	if heading == "" || path.Ext(to) != ".md" {
		return true
	}
	text, err := fs.ReadFile(fsys, to)
	return err == nil && slices.Contains(headings(string(text)), heading)
}

// notInNames is what GitHub leaves out of the names of headings.
var notInNames = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_\- ]`)

// headings are the names by which links lead to the headings of a page, as GitHub makes them: small letters, no
// punctuation, hyphens for spaces, and a number for a name that is there already.
func headings(text string) []string {
	var names []string
	times := map[string]int{}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		title := strings.TrimLeft(line, "#")
		if fenced || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		title = link.ReplaceAllString(strings.TrimSpace(title), "]")
		name := strings.ReplaceAll(notInNames.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		times[name]++
		if n := times[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n-1)
		}
		names = append(names, name)
	}
	return names
}
