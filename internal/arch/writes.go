package arch

import (
	"go/ast"
	"slices"
	"strings"
)

const (
	ruleWrites = "one writer, one way past the cache"
	whyWrites  = "what a conflict means, and why something is read past the cache, is said once: write with internal/patch or internal/removal, read with Kit.Uncached and a reason, and add up what a pod requests with internal/podresources"
)

// ownWriters are folders that have a policy of their own for some write, and why.
var ownWriters = map[string]string{
	"internal/patch":                     "it is the writer",
	"internal/removal":                   "it counts the claims and nodes that it deletes",
	"internal/versionguard":              "it is the client beneath the writer",
	"internal/reconcile":                 "it runs controllers, and looks again after conflicts",
	"internal/intervention":              "it acts for a user, and tells the user of a conflict",
	"internal/controller/eviction":       "its deletions have a grace period",
	"internal/podresources":              "it copies what Kubernetes' helper would change in the cache",
	"internal/controller/pod/nomination": "it sends one field of many pods, and needs no version",
}

// writing are the methods of a client that write what is there already. Objects that are made have no version.
var writing = []string{"Update", "Patch", "Delete", "DeleteAllOf", "Apply"}

// Writes checks that controllers and the machinery write objects, read past the cache and judge conflicts where that
// has its owner.
func Writes(t Tree) []Violation {
	var found []Violation
	for _, f := range t.Files {
		if _, own := ownWriters[f.Folder]; f.Test || own || !strings.HasPrefix(f.Folder, "internal/") || strings.HasPrefix(f.Folder, "internal/testing/") {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if what := ownWrite(n); what != "" {
				found = append(found, Violation{Rule: ruleWrites, At: t.at(n), What: what, Why: whyWrites})
			}
			return true
		})
	}
	return found
}

// ownWrite says what a selector does that belongs to an owner; empty if nothing.
func ownWrite(n ast.Node) string {
	s, is := n.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	switch on := lastName(s.X); {
	case s.Sel.Name == "IsConflict":
		return "judges a conflict"
	case s.Sel.Name == "Server" && (on == "kit" || on == "Kit"):
		return "reads past the cache without a reason"
	case s.Sel.Name == "PodRequests" || s.Sel.Name == "PodLimits":
		return "may change a pod of the cache with " + s.Sel.Name
	case slices.Contains(writing, s.Sel.Name) && (on == "Client" || isStatus(s.X)):
		return "writes with " + s.Sel.Name
	}
	return ""
}

// isStatus reports whether an expression is a client's writer of statuses.
func isStatus(x ast.Expr) bool {
	call, is := x.(*ast.CallExpr)
	if !is {
		return false
	}
	s, is := call.Fun.(*ast.SelectorExpr)
	return is && s.Sel.Name == "Status"
}
