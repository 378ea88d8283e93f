package arch

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Names checks what packages and files of a module are called, and that packages say what they
// are for.
func Names(t Tree) []Violation {
	return slices.Concat(t.words(), t.comments(), t.distinct())
}

// words looks at the last folder, the package clause and the file's name, part by part.
func (t Tree) words() []Violation {
	var found []Violation
	seen := map[string]bool{}
	for _, f := range t.Files {
		file := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.Path), ".go"), "_test")
		names := []string{f.Syntax.Name.Name, file}
		if !seen[f.Folder] {
			names = append(names, path.Base(f.Folder))
		}
		seen[f.Folder] = true
		if word, bad := forbiddenWord(names); bad {
			found = append(found, Violation{Rule: ruleWords, At: t.at(f.Syntax.Name), What: "the name " + word, Why: whyWords})
		}
	}
	return found
}

func forbiddenWord(names []string) (string, bool) {
	for _, name := range names {
		for part := range strings.SplitSeq(strings.ToLower(name), "_") {
			if slices.Contains(forbiddenWords, part) {
				return name, true
			}
		}
	}
	return "", false
}

// comments wants one file of each package to introduce it. A folder of tests alone is a package
// too: its reader wants to know what is tested there.
func (t Tree) comments() []Violation {
	type state struct {
		first      File // where the violation is reported
		introduced bool
	}
	packages := map[string]*state{}
	var folders []string
	for _, f := range t.Files {
		s, known := packages[f.Folder]
		if !known {
			s = &state{first: f}
			packages[f.Folder] = s
			folders = append(folders, f.Folder)
		}
		s.introduced = s.introduced || introduces(f)
	}
	var found []Violation
	for _, folder := range folders {
		if s := packages[folder]; !s.introduced {
			found = append(found, Violation{Rule: ruleComment, At: t.at(s.first.Syntax.Name), What: "package " + folder + " has no comment", Why: whyComment})
		}
	}
	return found
}

// introduces follows the Go convention: "Package x …", and for a main package "Command x …" or
// its name with a capital. A generated file speaks for its generator, not for the package.
func introduces(f File) bool {
	if f.Syntax.Doc == nil || ast.IsGenerated(f.Syntax) {
		return false
	}
	text := f.Syntax.Doc.Text()
	name := strings.TrimSuffix(f.Syntax.Name.Name, "_test")
	if f.Syntax.Name.Name == "main" {
		first, _, _ := strings.Cut(text, " ")
		return first == "Command" || strings.EqualFold(first, path.Base(f.Folder))
	}
	return strings.HasPrefix(text, "Package "+name+" ")
}

// distinct looks for files that import two packages of ours with one name. An alias does
// not help: the reader has to learn it. An API version belongs to the group before it.
func (t Tree) distinct() []Violation {
	var found []Violation
	for _, f := range t.Files {
		first := map[string]string{}
		for _, spec := range f.Syntax.Imports {
			imported := importPath(spec)
			folder, ours := within(imported)
			if !ours {
				continue
			}
			word := lastWord(folder)
			if other, taken := first[word]; !taken {
				first[word] = imported
			} else {
				found = append(found, Violation{Rule: ruleDistinct, At: t.at(spec), What: "imports " + other + " and " + imported, Why: whyDistinct})
			}
		}
	}
	return found
}

func lastWord(folder string) string {
	if base := path.Base(folder); !isVersion(base) {
		return base
	}
	return path.Join(path.Base(path.Dir(folder)), path.Base(folder))
}

var version = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

func isVersion(word string) bool { return version.MatchString(word) }
