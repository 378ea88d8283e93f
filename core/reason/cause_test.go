package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every code that is declared for nodes has words of its own: none is told by its name.
func TestEveryCauseHasAText(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "cause.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, decl := range file.Decls {
		consts, is := decl.(*ast.GenDecl)
		if !is || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			n++
			name := spec.(*ast.ValueSpec).Names[0].Name
			cause := Cause{Code: Code(name), Where: "x", Want: 2, Rollout: &Rollout{Pool: "x"}}
			if text := cause.Text(); text == "" || text == name {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d codes found", n)
	}
}

// Causes with operands are told with all of them.
func TestCauseWithOperands(t *testing.T) {
	t.Parallel()
	closest := &PoolVerdict{Pool: "web", Reason: Reason{Code: TaintNotTolerated, Where: "gpu"}}
	cases := map[string]struct {
		cause Cause
		want  string
	}{
		"a budget that cannot be read": {
			Cause{Code: DisruptionBudget, Where: "Empty", Budgets: &BrokenBudgets{Pool: "a", Faults: []BudgetFault{{Code: BudgetHalfScheduled}}}},
			"No allowed disruptions for disruption reason Empty due to blocking budget: invalid disruption budgets in nodepool a, 'schedule' must be set with 'duration'",
		},
		"a score": {
			Cause{Code: ScoreTooLow, Want: 2, Shares: Shares{Savings: 0.1, Disruption: 0.4}},
			"Savings are too small for the disruption, score 0.25 < threshold 0.50 (k: 2, savings 10.0%, disruption 40.0%)",
		},
		"nothing is saved": {
			Cause{Code: ScoreTooLow, Want: 2, Shares: Shares{Savings: -0.1, Disruption: 0.4}},
			"Savings are too small for the disruption, score 0.00 < threshold 0.50 (k: 2, savings -10.0%, disruption 40.0%)",
		},
		"pods that do not fit elsewhere": {
			Cause{Code: PodsWithoutOtherPlace, Have: 5, Pods: []Stranded{
				{"a/b", Refusal{Closest: closest}}, {"a/c", Refusal{General: Reason{Code: NoPools}}}, {"a/d", Refusal{General: Reason{Code: MinimumNotMet}}},
			}},
			"Not all pods would schedule, a/b => no other node has a place for it; pool web: did not tolerate taint (taint=gpu)" +
				" a/c => no other node has a place for it; there is no pool that nodes may be bought from a/d => minValues requirement is not met and 2 other(s)",
		},
	}
	for name, tc := range cases {
		if diff := cmp.Diff(tc.want, tc.cause.Text()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"a/b"}, (&Cause{Pods: []Stranded{{Pod: "a/b"}}}).Names()); diff != "" {
		t.Error(diff)
	}
}
