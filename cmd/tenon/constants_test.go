package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tenon/internal/reference"
)

// sources are the folders whose programs read and write objects.
var sources = []string{"api", "core", "cloud", "internal"}

// eachFile parses the product's files, tests excepted.
func eachFile(t *testing.T, visit func(folder string, file *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join("..", "..", source), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testing") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err == nil {
				visit(filepath.Dir(path), file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// texts are the constants of the product that are texts, by folder and name.
func texts(t *testing.T) map[string]string {
	t.Helper()
	type open struct {
		folder string
		value  ast.Expr
	}
	known, waiting := map[string]string{}, map[string]open{}
	eachFile(t, func(folder string, file *ast.File) {
		for _, d := range file.Decls {
			declared, is := d.(*ast.GenDecl)
			if !is || declared.Tok != token.CONST {
				continue
			}
			for _, s := range declared.Specs {
				spec := s.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						waiting[folder+"."+name.Name] = open{folder, spec.Values[i]}
					}
				}
			}
		}
	})
	for more := true; more; {
		more = false
		for name, w := range waiting {
			if value, is := textOf(w.value, w.folder, known); is {
				known[name], more = value, true
				delete(waiting, name)
			}
		}
	}
	return known
}

// textOf evaluates expressions of literals and constants of the same folder.
func textOf(e ast.Expr, folder string, known map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0)), true
	case *ast.Ident:
		value, is := known[folder+"."+e.Name]
		return value, is
	case *ast.BinaryExpr:
		left, is := textOf(e.X, folder, known)
		right, are := textOf(e.Y, folder, known)
		return left + right, is && are && e.Op == token.ADD
	}
	return "", false
}

// ourKey matches a key in a domain of Karpenter, Tenon or AWS.
var ourKey = regexp.MustCompile(`^([a-z.0-9]+\.)?(karpenter\.sh|tenon\.sh|k8s\.aws)/[a-z][a-z-]+$`)

// Every key that the product names is on the page, and so is every label that pods may select.
func TestEveryKeyIsExplained(t *testing.T) {
	t.Parallel()
	cloud := thisCloud()
	listed := map[string]bool{}
	for _, k := range slices.Concat(reference.Keys(), cloud.Reference.Keys) {
		listed[k.Name] = true
	}
	named := map[string]bool{}
	for constant, value := range texts(t) {
		if !ourKey.MatchString(value) {
			continue
		}
		named[value] = true
		if !listed[value] {
			t.Errorf("docs/reference/labels.md does not explain %s (%s)", value, constant)
		}
	}
	for _, key := range reference.Labels(cloud.Labels).WellKnown() {
		if !listed[key] {
			t.Errorf("docs/reference/labels.md does not explain the label %s", key)
		}
	}
	// These are combined from constants of several packages.
	composed := []string{"karpenter.sh/disrupted", "karpenter.sh/unregistered", "karpenter.sh/nodeclaim"}
	for key := range listed {
		if ourKey.MatchString(key) && !named[key] && !slices.Contains(composed, key) {
			t.Errorf("docs/reference/labels.md explains %s, which no constant names", key)
		}
	}
}

// computed are functions that compute the reasons of their events, with these results.
var computed = map[string][]string{
	"announce": {"SpotInterrupted", "SpotRebalanceRecommendation", "CapacityReservationInstanceInterrupted", "InstanceStopping", "InstanceTerminating", "InstanceUnhealthy"},
	"both":     {"DisruptionTerminating", "ConsolidationApproved"},
	"warn":     {"LimitReached", "OutOfStock"},
	"lower":    {"ScaleUpFailed", "ScaleUpTimedOut"},

	"TellScaleDown": {"ScaleDown", "ScaleDownEmpty"},
	"refused":       {"InsufficientCapacityError", "NodeClassNotReady"},
	"again":         {"NodeClassReadinessUnknown"},
	"event":         {"DisruptionBlocked", "Unconsolidatable"},
	"events":        {reference.ConditionReason},
	// Reasons of the pools' controllers of classes and of annotations.
	"Reconcile": {"NodeClassNotFound", "NodeClassTerminating"},
	"reconcile": {"NodeClassNotFound", "NodeClassTerminating", "NodePriceRefused", "DriftAtLimitRefused", "PriceCeilingRefused"},
}

// Every reason that the product publishes is on the page, with its type, and the page has no other.
func TestEveryEventIsExplained(t *testing.T) {
	t.Parallel()
	known := texts(t)
	listed := map[string]bool{}
	for _, e := range slices.Concat(reference.Events(), thisCloud().Reference.Events) {
		listed[typed(e.Reason, e.Warning)] = true
	}
	for function, reasons := range computed {
		for _, r := range reasons {
			if !listed[typed(r, false)] && !listed[typed(r, true)] {
				t.Errorf("docs/reference/events.md does not explain %q, of %s", r, function)
			}
		}
	}
	published := map[string]bool{}
	eachFile(t, func(folder string, file *ast.File) {
		for _, d := range file.Decls {
			function, is := d.(*ast.FuncDecl)
			if !is || function.Body == nil {
				continue
			}
			ast.Inspect(function.Body, func(n ast.Node) bool {
				if selector, is := n.(*ast.SelectorExpr); is && isTelemetry(selector) { // called here, or as a value
					for _, r := range computed[function.Name.Name] {
						published[r] = true
					}
				}
				call, is := n.(*ast.CallExpr)
				if !is || len(call.Args) < 2 {
					return true
				}
				selector, is := call.Fun.(*ast.SelectorExpr)
				if !is || !isTelemetry(selector) {
					return true
				}
				text, is := textOf(call.Args[1], folder, known)
				switch {
				case is && !listed[typed(text, selector.Sel.Name == "Warning")]:
					t.Errorf("%s: docs/reference/events.md does not explain %q as %s", folder, text, selector.Sel.Name)
				case is:
					published[text] = true
				case len(computed[function.Name.Name]) == 0:
					t.Errorf("%s: the reasons of the events of %s are not known: add them to computed", folder, function.Name.Name)
				}
				return true
			})
		}
	})
	for _, e := range slices.Concat(reference.Events(), thisCloud().Reference.Events) {
		if !published[e.Reason] {
			t.Errorf("docs/reference/events.md explains %s, which the product does not publish", e.Reason)
		}
	}
}

func isTelemetry(s *ast.SelectorExpr) bool {
	from, is := s.X.(*ast.Ident)
	return is && from.Name == "telemetry" && (s.Sel.Name == "Normal" || s.Sel.Name == "Warning")
}

func typed(reason string, warning bool) string {
	if warning {
		return "Warning " + reason
	}
	return "Normal " + reason
}
