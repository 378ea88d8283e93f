package arch

import (
	"go/ast"
	"slices"
)

// Purity checks that the core decides and does nothing else. It looks at names, not at types: it
// cannot see a clock that is called through an interface, but then a caller had to pass it in.
func Purity(t Tree) []Violation {
	var found []Violation
	for _, f := range t.Files {
		if !f.Test && matches(pure, f.Folder) {
			found = append(found, t.impureImports(f)...)
			found = append(found, t.impureCode(f)...)
		}
	}
	return found
}

func (t Tree) impureImports(f File) []Violation {
	var found []Violation
	for _, spec := range f.Syntax.Imports {
		imported := importPath(spec)
		if importName(spec) == "." {
			found = append(found, Violation{Rule: ruleDotImport, At: t.at(spec), What: "dot import of " + imported, Why: whyDotImport})
		}
		for _, rule := range impureImports {
			if slices.ContainsFunc(rule.paths, func(p string) bool { return matches(p, imported) }) {
				found = append(found, Violation{Rule: rule.rule, At: t.at(spec), What: "imports " + imported, Why: rule.why})
			}
		}
	}
	return found
}

func (t Tree) impureCode(f File) []Violation {
	packages := map[string]string{} // what the file calls a package → its path
	for _, spec := range f.Syntax.Imports {
		packages[importName(spec)] = importPath(spec)
	}
	var found []Violation
	ast.Inspect(f.Syntax, func(node ast.Node) bool {
		if v, is := impureNode(node, packages); is {
			v.At = t.at(node)
			found = append(found, v)
		}
		return true
	})
	return found
}

func impureNode(node ast.Node, packages map[string]string) (Violation, bool) {
	switch n := node.(type) {
	case *ast.GoStmt:
		return Violation{Rule: ruleGoroutine, What: "starts a goroutine", Why: whyGoroutine}, true
	case *ast.SelectStmt:
		return Violation{Rule: ruleGoroutine, What: "waits for channels", Why: whyGoroutine}, true
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			return Violation{Rule: ruleInitFunction, What: "has an init function", Why: whyInitFunction}, true
		}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && slices.Contains(impureBuiltins, name.Name) {
			return Violation{Rule: ruleBuiltin, What: "calls " + name.Name, Why: whyBuiltin}, true
		}
	case *ast.SelectorExpr:
		if name, ok := n.X.(*ast.Ident); ok {
			return impureName(packages[name.Name], name.Name, n.Sel.Name)
		}
	}
	return Violation{}, false
}

func impureName(imported, called, name string) (Violation, bool) {
	for _, rule := range impureNames {
		if rule.path == imported && slices.Contains(rule.names, name) != rule.except {
			return Violation{Rule: rule.rule, What: "uses " + called + "." + name, Why: rule.why}, true
		}
	}
	return Violation{}, false
}
