package arch

import "go/ast"

const (
	ruleLocks = "one order of locks"
	whyLocks  = "the world asks other owners of state while it holds its lock; if one of these asks the world while it holds its own, each waits for the other for good"
)

// Locks checks that no function calls a method of a field named world while it holds a lock of its own. It
// reads functions from top to bottom, as locks are used here: held until Unlock, or to the end if that is deferred.
func Locks(t Tree) []Violation {
	var found []Violation
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		for _, d := range f.Syntax.Decls {
			if fn, is := d.(*ast.FuncDecl); is && fn.Body != nil {
				for _, at := range askedUnderLock(fn.Body) {
					found = append(found, Violation{Rule: ruleLocks, At: t.at(at), What: fn.Name.Name + " asks the world under a lock", Why: whyLocks})
				}
			}
		}
	}
	return found
}

// askedUnderLock returns where a function calls the world while it holds a lock.
func askedUnderLock(body *ast.BlockStmt) (at []ast.Node) {
	held := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt, *ast.FuncLit:
			return false // it runs later
		case *ast.CallExpr:
			method, is := n.Fun.(*ast.SelectorExpr)
			if !is {
				return true
			}
			switch on := lastName(method.X); {
			case on == "mu" && (method.Sel.Name == "Lock" || method.Sel.Name == "RLock"):
				held = true
			case on == "mu" && (method.Sel.Name == "Unlock" || method.Sel.Name == "RUnlock"):
				held = false
			case on == "world" && held:
				at = append(at, n)
			}
		}
		return true
	})
	return at
}

// lastName is b of a.b, and a of a.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}
