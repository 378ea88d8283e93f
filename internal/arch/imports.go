package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Imports checks the order of packages in the product's module.
func Imports(t Tree) []Violation {
	var found []Violation
	for _, f := range t.Files {
		found = append(found, t.imports(f)...)
	}
	return found
}

func (t Tree) imports(f File) []Violation {
	at := t.at(f.Syntax.Name)
	if f.Folder == "." {
		return []Violation{{Rule: ruleOneRoot, At: at, What: "Go file at the module's root", Why: whyOneRoot}}
	}
	rule, ok := ruleFor(f.Folder)
	if !ok {
		return []Violation{{Rule: ruleOrdered, At: at, What: "folder " + f.Folder + " has no rule", Why: whyOrdered}}
	}
	var found []Violation
	for _, spec := range f.Syntax.Imports {
		imported := importPath(spec)
		if why, is := isForeign(imported); is {
			found = append(found, Violation{Rule: ruleForeign, At: t.at(spec), What: "imports " + imported, Why: why})
		} else if !rule.allows(f, imported) {
			found = append(found, Violation{Rule: rule.name, At: t.at(spec), What: fmt.Sprintf("%s imports %s", f.Folder, imported), Why: rule.why})
		}
	}
	return found
}

func ruleFor(folder string) (importRule, bool) {
	at := slices.IndexFunc(importRules, func(r importRule) bool { return matches(r.from, folder) })
	if at < 0 {
		return importRule{}, false
	}
	return importRules[at], true
}

// allows asks the list from its end, so that an exception (with "!") can follow what it is an
// exception of, and be followed by one of its own.
func (r importRule) allows(f File, imported string) bool {
	if f.Test && slices.ContainsFunc(r.tests, func(p string) bool { return matches(p, imported) || covers(p, imported) }) {
		return true
	}
	for _, pattern := range slices.Backward(r.may) {
		named, exception := strings.CutPrefix(pattern, "!")
		if covers(strings.ReplaceAll(named, "SELF", f.Folder), imported) {
			return !exception
		}
	}
	return false
}

// covers says whether a pattern of a list of imports means the import.
func covers(pattern, imported string) bool {
	inside, ours := within(imported)
	switch pattern {
	case "std":
		return !ours && standard(imported)
	case "others":
		return !ours && !standard(imported)
	default:
		return ours && matches(pattern, inside)
	}
}

// within gives the folder of an import of our own module.
func within(imported string) (folder string, ours bool) {
	return strings.CutPrefix(imported, module+"/")
}

// standard follows the go command: a path whose first part has a dot is some module's. Our own
// module has none, and is taken out before.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// matches says whether a path is what a pattern names: itself, or with /... itself and below.
func matches(pattern, name string) bool {
	if root, tree := strings.CutSuffix(pattern, "/..."); tree {
		return name == root || strings.HasPrefix(name, root+"/")
	}
	return name == pattern
}

func isForeign(imported string) (why string, is bool) {
	for _, f := range foreign {
		if matches(f.path+"/...", imported) {
			return f.why, true
		}
	}
	return "", false
}

func importPath(spec *ast.ImportSpec) string {
	// The parser accepts quoted strings only, so there is no error to handle.
	unquoted, _ := strconv.Unquote(spec.Path.Value)
	return unquoted
}

// importName is what the file calls the package: its alias, or the last part of the path that is
// no version.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	imported := importPath(spec)
	if base := path.Base(imported); !isVersion(base) {
		return base
	}
	return path.Base(path.Dir(imported))
}

// Modules checks a go.mod: what it does not name, directly or as indirect, no package that the
// product builds can come from.
func Modules(file, text string) []Violation {
	var found []Violation
	number := 0
	for line := range strings.Lines(text) {
		number++
		code, _, _ := strings.Cut(line, "//")
		for _, word := range strings.Fields(code) {
			if why, is := isForeign(word); is {
				found = append(found, Violation{Rule: ruleForeign, At: fmt.Sprintf("%s:%d", file, number), What: "needs " + word, Why: why})
			}
		}
	}
	return found
}
