// Package arch holds the rules of the repository: who may import whom, what the core may not do, and
// how packages are named. The rules are data (rules.go), each with its reason; the tests run them
// over the whole tree and show every one of them to fail on a planted violation. It parses source
// and must not build or run anything, so that it costs a second and needs no network.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Tree is the parsed source of one module.
type Tree struct {
	Files []File
	fset  *token.FileSet
}

// File is one Go file.
type File struct {
	Path   string // from the module's root, with slashes
	Folder string // "." for the root
	Test   bool
	Syntax *ast.File
}

// Load parses every Go file of the module at the root of the file system. It leaves out nested
// modules, which have rules of their own, test data, and folders that the go command ignores.
func Load(fsys fs.FS) (Tree, error) {
	t := Tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (ignored(entry.Name()) || nested(fsys, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.parse(fsys, name)
	})
	if err != nil {
		return Tree{}, fmt.Errorf("load source: %w", err)
	}
	return t, nil
}

func ignored(folder string) bool {
	return folder == "testdata" || folder == "vendor" || folder == "node_modules" ||
		strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func nested(fsys fs.FS, folder string) bool {
	_, err := fs.Stat(fsys, path.Join(folder, "go.mod"))
	return err == nil
}

func (t *Tree) parse(fsys fs.FS, name string) error {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, File{
		Path:   name,
		Folder: path.Dir(name),
		Test:   strings.HasSuffix(name, "_test.go"),
		Syntax: syntax,
	})
	return nil
}

// at names a place as editors understand it.
func (t Tree) at(node ast.Node) string {
	position := t.fset.Position(node.Pos())
	return fmt.Sprintf("%s:%d", position.Filename, position.Line)
}

// Violation is one place that breaks one rule.
type Violation struct {
	Rule string
	At   string
	What string
	Why  string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s (rule %q: %s)", v.At, v.What, v.Rule, v.Why)
}
