package arch

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

const (
	ruleLinks = "documents lead somewhere"
	whyLinks  = "a reader who follows a link into nothing trusts the rest less"
)

// link finds the target of a Markdown link; what is in code spans was taken out before.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

var codeSpan = regexp.MustCompile("`[^`]*`")

// Pages checks that every relative link in a Markdown file leads to a file or folder, and that
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
			target, _, _ := strings.Cut(match[1], "#")
			if target == "" || strings.Contains(target, ":") {
				continue // a heading of the same page, or an address elsewhere
			}
			if _, err := fs.Stat(fsys, path.Join(path.Dir(name), target)); err != nil {
				found = append(found, Violation{Rule: ruleLinks, At: fmt.Sprintf("%s:%d", name, number), What: "link to " + match[1], Why: whyLinks})
			}
		}
	}
	return found
}
