package arch

import (
	"os"
	"path/filepath"
	"testing"
)

// root is the folder of the product's module.
var root = filepath.Join("..", "..")

func report(t *testing.T, found []Violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}

func load(t *testing.T, folder string) Tree {
	t.Helper()
	tree, err := Load(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) == 0 {
		t.Fatalf("no Go files in %s", folder)
	}
	return tree
}

func TestTheProductKeepsTheOrder(t *testing.T) {
	t.Parallel()
	report(t, Imports(load(t, root)))
}

func TestTheCoreIsPure(t *testing.T) {
	t.Parallel()
	report(t, Purity(load(t, root)))
}

// The modules beside the product's have their own dependencies, but the same ways of naming.
func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Glob(filepath.Join(root, "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, Names(load(t, root)))
	for _, module := range modules {
		tree, err := Load(os.DirFS(filepath.Dir(module)))
		if err != nil {
			t.Fatal(err)
		}
		report(t, Names(tree))
	}
}

// Every word on the list is used, so that the list stays short.
func TestPackagesHaveKnownNames(t *testing.T) {
	t.Parallel()
	glossary, err := os.ReadFile(filepath.Join(root, "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	tree := load(t, root)
	report(t, Words(tree, string(glossary)))
	if unused := unusedWords(tree); len(unused) > 0 {
		t.Errorf("no package is named %v: take it off knownWords", unused)
	}
}

func TestCommentsNameTheirSubjects(t *testing.T) {
	t.Parallel()
	report(t, Plain(load(t, root)))
	for _, module := range []string{"lab", "bench"} {
		report(t, Plain(load(t, filepath.Join(root, module))))
	}
}

func TestControllersAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	report(t, Controllers(load(t, root)))
}

func TestTheProductNeedsNeitherControlPlanesNorPeers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, Modules("go.mod", string(text)))
}
