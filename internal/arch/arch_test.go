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

func TestTheProductNeedsNeitherControlPlanesNorPeers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, Modules("go.mod", string(text)))
}
