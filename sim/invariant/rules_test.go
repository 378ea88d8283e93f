package invariant_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tenon/sim/invariant"
)

func everyExample() map[string]example {
	all := examples()
	maps.Copy(all, decisions())
	maps.Copy(all, accounts())
	maps.Copy(all, besides())
	maps.Copy(all, buffered())
	maps.Copy(all, totals())
	maps.Copy(all, grouping())
	return all
}

// Each rule is broken by a state made by hand, and kept by one that is nearly the same.
func TestRules(t *testing.T) {
	t.Parallel()
	for name, e := range everyExample() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := newFixture(t), newFixture(t)
			if e.breaks(bad); !slices.Contains(bad.rules, e.rule) {
				t.Errorf("no rule says that it breaks %q, but %q", e.rule, bad.rules)
			}
			if e.keeps(good); slices.Contains(good.rules, e.rule) {
				t.Errorf("a rule says that it breaks %q", e.rule)
			}
		})
	}
}

// Every rule has an example: a new rule needs a state that breaks it.
func TestEveryRuleHasAnExample(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, e := range everyExample() {
		shown[e.rule] = true
	}
	rules := written(t)
	if len(rules) < 20 {
		t.Fatalf("only %d rules are found", len(rules))
	}
	for name, rule := range rules {
		if !shown[rule] {
			t.Errorf("%s (%q) has no example", name, rule)
		}
	}
}

// written finds the rules in the source: exported constants that are sentences.
func written(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 || !spec.Names[0].IsExported() {
				return true
			}
			if text, is := spec.Values[0].(*ast.BasicLit); is && text.Kind == token.STRING && spec.Names[0].Name != "Infeasible" {
				rules[spec.Names[0].Name], err = strconv.Unquote(text.Value)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if rules["BoughtOnce"] != invariant.BoughtOnce {
		t.Fatalf("the source says %q", rules["BoughtOnce"])
	}
	return rules
}
