package arch

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

const (
	ruleRounded = "the same bytes everywhere"
	whyRounded  = "a compiler may fuse a product with a sum, as it does on arm64 and not on amd64, and the plans differ; an explicit conversion, float64(x*y), rounds the product first"
)

// Floats checks that pure code rounds each product of floats before it can be added to anything. It knows
// the module's types and so ignores products of integers. It does not know the types of the standard
// library: a product of only such types counts as one of floats.
func Floats(t Tree) []Violation {
	c := &checker{tree: t, known: map[string]*types.Package{}}
	for _, f := range t.Files {
		if !f.Test && matches(pure, f.Folder) {
			_, _ = c.Import(module + "/" + f.Folder) // ignores errors: the compiler reports mistakes
		}
	}
	return c.found
}

// checker checks the types of the module's packages from their source, each once.
type checker struct {
	tree  Tree
	known map[string]*types.Package
	found []Violation
}

var errForeign = errors.New("not a package of the module")

// Import makes a checker an importer.
func (c *checker) Import(path string) (*types.Package, error) {
	folder, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return c.standard(path)
	}
	if p, ok := c.known[path]; ok {
		return p, nil
	}
	var files []*ast.File
	for _, f := range c.tree.Files {
		if f.Folder == folder && !f.Test {
			files = append(files, f.Syntax)
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	ignore := func(error) {}
	p, _ := (&types.Config{Importer: c, Error: ignore}).Check(path, c.tree.fset, files, info)
	c.known[path] = p
	for _, f := range files {
		c.found = append(c.found, c.tree.unrounded(f, info)...)
	}
	return p, nil
}

// integers declares what pure code multiplies of the standard library that has no fraction.
var integers = map[string]string{
	"time":      "package time; type Duration int64; const (Millisecond Duration = 1; Second = Millisecond; Minute = Second; Hour = Second); type Time struct{}; func (Time) Sub(Time) Duration",
	"math/bits": "package bits; func Len64(uint64) int; func OnesCount64(uint64) int; func TrailingZeros64(uint64) int",
}

// standard knows the integers of the standard library; other names of it have no type.
func (c *checker) standard(path string) (*types.Package, error) {
	source, ok := integers[path]
	if !ok {
		return nil, errForeign
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return (&types.Config{IgnoreFuncBodies: true}).Check(path, fset, []*ast.File{file}, nil)
}

// unrounded finds the products of floats that are not converted, nor only multiplied, divided or
// compared.
func (t Tree) unrounded(f *ast.File, info *types.Info) []Violation {
	var found []Violation
	var above []ast.Node
	ast.Inspect(f, func(node ast.Node) bool {
		if node == nil {
			above = above[:len(above)-1]
			return true
		}
		if product(node, info) && !rounded(above, info) {
			found = append(found, Violation{Rule: ruleRounded, At: t.at(node), What: "a product of floats is not rounded", Why: whyRounded})
		}
		above = append(above, node)
		return true
	})
	return found
}

// product reports whether a node multiplies floats that are not constant.
func product(node ast.Node, info *types.Info) bool {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		return n.Op == token.MUL && info.Types[n].Value == nil && mayBeFloat(info.Types[n.X]) && mayBeFloat(info.Types[n.Y])
	case *ast.AssignStmt:
		return n.Tok == token.MUL_ASSIGN && mayBeFloat(info.Types[n.Lhs[0]]) && mayBeFloat(info.Types[n.Rhs[0]])
	}
	return false
}

// mayBeFloat is true for constants, for type parameters and where the type is not known.
func mayBeFloat(x types.TypeAndValue) bool {
	if _, ok := x.Type.(*types.TypeParam); ok || x.Type == nil {
		return true
	}
	basic, ok := x.Type.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	const floats = types.IsFloat | types.IsComplex
	return basic.Kind() == types.Invalid || basic.Info()&floats != 0 || basic.Info()&types.IsUntyped != 0
}

// rounded reports whether what is right above a product keeps it out of a sum.
func rounded(above []ast.Node, info *types.Info) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr: // a negated product can be fused as well
			continue
		case *ast.CallExpr:
			return info.Types[n.Fun].IsType()
		case *ast.BinaryExpr:
			return n.Op != token.ADD && n.Op != token.SUB
		}
		return false
	}
	return false
}
