package arch

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestNoFileForgetsADisruptionReason(t *testing.T) {
	t.Parallel()
	tree := load(t, root)
	if n := len(tree.constants("core/plan", "Reason", "")); n < 3 {
		t.Fatalf("found %d reasons in core/plan", n)
	}
	report(t, Reasons(tree))
	if stale := staleReasons(tree); len(stale) > 0 {
		t.Errorf("someReasons has files that name no reason: %v", stale)
	}
}

// A reason that is declared and nothing else is missing in each file that names another.
func TestAHalfAddedReasonIsFound(t *testing.T) {
	t.Parallel()
	tree, err := Load(fstest.MapFS{
		"core/plan/disruption.go": {Data: []byte(`package plan

const (
	Empty   Reason = "Empty"
	Drifted Reason = "Drifted"
	Costly  Reason = "Costly"
)`)},
		"api/karpenter/v1/nodepool.go": {Data: []byte(`package v1

const (
	DisruptionEmpty   DisruptionReason = "Empty"
	DisruptionDrifted DisruptionReason = "Drifted"
)`)},
		"internal/page/page.go":       {Data: []byte("package page\n\nimport \"tenon/core/plan\"\n\nvar all = []plan.Reason{plan.Empty, plan.Drifted}\n")},
		"internal/page/whole.go":      {Data: []byte("package page\n\nimport \"tenon/core/plan\"\n\nvar whole = []plan.Reason{plan.Empty, plan.Drifted, plan.Costly}\n")},
		"core/disrupt/empty.go":       {Data: []byte("package disrupt\n\nimport \"tenon/core/plan\"\n\nvar why = plan.Empty\n")},
		"internal/page/unrelated.go":  {Data: []byte("package page\n\nimport \"tenon/core/plan\"\n\nvar blocked = plan.Blocked\n")},
		"internal/page/count.go":      {Data: []byte("package page\n\nimport karpenterv1 \"tenon/api/karpenter/v1\"\n\nvar counted = karpenterv1.DisruptionEmpty\n")},
		"internal/page/page_test.go":  {Data: []byte("package page\n\nimport \"tenon/core/plan\"\n\nvar tested = plan.Empty\n")},
		"internal/controller/x/in.go": {Data: []byte("package x\n\nvar empty = struct{ Empty bool }{}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"api/karpenter/v1: api/karpenter/v1 has [Drifted Empty]",
		"internal/page/count.go: no word about Costly", "internal/page/count.go: no word about Drifted",
		"internal/page/page.go: no word about Costly",
		"core/disrupt: no file proposes for Costly",
		"core/disrupt: no file proposes for Drifted",
	}
	found := Reasons(tree)
	if len(found) != len(want) {
		t.Fatalf("found %v, want %v", found, want)
	}
	for i, v := range found {
		if !strings.HasPrefix(v.String(), want[i]) {
			t.Errorf("found %s, want %s", v, want[i])
		}
	}
}
