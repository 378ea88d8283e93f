package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A disruption reason is treated in many places, and a compiler finds none that a new one lacks. So a
// file that names one reason names all of them, or stands in someReasons with those that it leaves out.

// reasonConstants are where reasons are declared: as users write them in budgets, and as plans have them.
var reasonConstants = []struct{ folder, kind, prefix string }{
	{"core/plan", "Reason", ""},
	{"api/karpenter/v1", "DisruptionReason", "Disruption"},
}

// proposing is the folder whose files are each about one reason: no file has to name the others, but each reason
// has a file beside those that name all.
const proposing = "core/disrupt"

// someReasons are the files in which some reasons need nothing, and these reasons.
var someReasons = map[string][]string{
	// Only drift may be forced.
	"internal/controller/disruption/look.go": {"Empty", "Underutilized"},
	// Only drift is rolled out at a pace.
	"internal/cli/planning/gather.go":            {"Empty", "Underutilized"},
	"internal/controller/disruption/evaluate.go": {"Empty", "Underutilized"},
	"internal/rolloutpace/rollout.go":            {"Empty", "Underutilized"},
	// EKS's update config is about nodes that are replaced by newer ones.
	"cloud/aws/nodegroup/conversion.go": {"Empty", "Underutilized"},
	// Drifted nodes are replaced, also where a buffer has to buy afterwards.
	"core/decide/buffer.go": {"Drifted"},
	// Only consolidation waits for a better moment, and must save something.
	"core/wait/wait.go":         {"Drifted", "Empty"},
	"internal/command/judge.go": {"Drifted", "Empty"},
	"sim/invariant/decision.go": {"Drifted", "Empty"},
	// Empty nodes have no pods that move.
	"internal/savings/accounts.go":           {"Empty"},
	"internal/controller/disruption/tell.go": {"Empty"},
	"sim/invariant/buffer.go":                {"Drifted", "Underutilized"},
	"sim/invariant/settle.go":                {"Drifted", "Underutilized"},
	// Consolidation is the case that is left.
	"internal/controller/disruption/begin.go": {"Underutilized"},
	"internal/removal/removal.go":             {"Underutilized"},
}

// Reasons checks that no file forgets a disruption reason.
func Reasons(t Tree) []Violation {
	declared := map[string][]string{} // by folder, without prefix
	for _, c := range reasonConstants {
		declared[c.folder] = t.constants(c.folder, c.kind, c.prefix)
	}
	all := declared[reasonConstants[0].folder]
	var found []Violation
	for _, c := range reasonConstants[1:] {
		if !slices.Equal(declared[c.folder], all) {
			what := fmt.Sprintf("%s has %v, and %s %v", c.folder, declared[c.folder], reasonConstants[0].folder, all)
			found = append(found, Violation{Rule: ruleReasons, At: c.folder, What: what, Why: whyReasons})
		}
	}
	proposed := map[string]bool{}
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		named := reasonsIn(f, all)
		if f.Folder == proposing && len(named) < len(all) {
			maps.Copy(proposed, named)
			continue
		}
		if len(named) == 0 {
			continue
		}
		for _, reason := range all {
			left := slices.Contains(someReasons[f.Path], reason)
			switch {
			case !named[reason] && !left:
				found = append(found, Violation{Rule: ruleReasons, At: f.Path, What: "no word about " + reason, Why: whyReasons})
			case named[reason] && left:
				found = append(found, Violation{Rule: ruleReasons, At: f.Path, What: reason + " is there, and someReasons says that it is not", Why: whyReasons})
			}
		}
	}
	for _, reason := range all {
		if !proposed[reason] {
			found = append(found, Violation{Rule: ruleReasons, At: proposing, What: "no file proposes for " + reason, Why: whyReasons})
		}
	}
	return found
}

// constants are those of a type in a folder, without the prefix, sorted.
func (t Tree) constants(folder, kind, prefix string) []string {
	var out []string
	for _, f := range t.Files {
		if f.Folder != folder || f.Test {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) > 0 {
				if of, named := spec.Type.(*ast.Ident); named && of.Name == kind {
					out = append(out, strings.TrimPrefix(spec.Names[0].Name, prefix))
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

// reasonsIn are the reasons that a file names: by a constant of another package, or in the declaration.
func reasonsIn(f File, all []string) map[string]bool {
	prefixes := map[string]string{} // by the name under which the file imports the package
	for _, spec := range f.Syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		for _, c := range reasonConstants {
			if imported != module+"/"+c.folder {
				continue
			}
			name := c.folder[strings.LastIndex(c.folder, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			prefixes[name] = c.prefix
		}
	}
	named := map[string]bool{}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		selected, is := n.(*ast.SelectorExpr)
		if !is {
			return true
		}
		from, is := selected.X.(*ast.Ident)
		if !is {
			return true
		}
		if prefix, ours := prefixes[from.Name]; ours {
			if reason, cut := strings.CutPrefix(selected.Sel.Name, prefix); cut && slices.Contains(all, reason) {
				named[reason] = true
			}
		}
		return true
	})
	return named
}

// staleReasons are the files of someReasons that are not there any more, or name no reason.
func staleReasons(t Tree) []string {
	all := t.constants(reasonConstants[0].folder, reasonConstants[0].kind, "")
	var stale []string
	for path := range someReasons {
		if !slices.ContainsFunc(t.Files, func(f File) bool { return f.Path == path && len(reasonsIn(f, all)) > 0 }) {
			stale = append(stale, path)
		}
	}
	slices.Sort(stale)
	return stale
}
