package cli

import (
	"bytes"
	"strings"
	"testing"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/ingest"
)

// TestOutputsAreChecked checks which outputs are refused, and how.
func TestOutputsAreChecked(t *testing.T) {
	t.Parallel()
	known := []string{"table", "json", outputPath}
	for output, want := range map[string]string{
		"table": "", "json": "", "jsonpath={.items[*].name}": "",
		"xml":       `unknown output format "xml"; use table, json or jsonpath=TEMPLATE`,
		"jsonpath":  `unknown output format "jsonpath"; use table, json or jsonpath=TEMPLATE`,
		"jsonpath=": "-o jsonpath= needs a template", "jsonpath={.a": "-o jsonpath={.a: ",
	} {
		if err := checkOutput(output, known...); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", output, err)
		}
	}
	if err := checkOutput("jsonpath={.a}", "json"); err == nil || err.Error() != `unknown output format "jsonpath={.a}"; use json` {
		t.Errorf("a template where there is none: %v", err)
	}
}

// TestTemplates checks that whole numbers stay whole, and that fields without a value are missing.
func TestTemplates(t *testing.T) {
	t.Parallel()
	document := map[string]any{"items": []map[string]any{{"id": int64(12_345_678), "price": 0.25, "pool": nil}}}
	for template, want := range map[string]string{
		"{.items[0].id}": "12345678", "{.items[*].price}": "0.25", "[{.items[0].pool}{.items[0].none}]": "[]", "{.items[?(@.price<1.0)].id}": "12345678",
	} {
		var out bytes.Buffer
		if err := writeTemplate(&out, template, document); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v; want %q", template, out.String(), err, want)
		}
	}
}

// TestGroupsCheckOutputs checks what programs read of a hand-over; the words for people have scripts.
func TestGroupsCheckOutputs(t *testing.T) {
	t.Parallel()
	p := document.Planned{Snapshot: &snapshot.Snapshot{}}
	pool := snapshot.GroupPool("web")
	p.Plan.Prospects = []plan.Prospect{
		{Node: "n1", Pool: pool, Kind: plan.Chosen},
		{Node: "n2", Pool: pool, Kind: plan.Waiting, Cause: reason.Cause{Code: reason.NotCheaper}},
		{Node: "n3", Pool: pool, Kind: plan.Blocked, Cause: reason.Cause{Code: reason.PodProtected, Where: "a/b"}},
		{Node: "n4", Pool: "other", Kind: plan.Blocked},
	}
	p.Plan.Disruptions = []plan.Disruption{{}}
	for output, want := range map[string]string{
		outputName: "node/n3\n",
		"jsonpath={range .nodes[*]}{.name} {.outcome}{\"\\n\"}{end}": "n1 replaced\nn2 waits\nn3 stays\n",
		"yaml": "group: web\nnodes:\n- name: n1\n  outcome: replaced\n  replacement: needs no replacement\n- name: n2\n",
		"json": "{\n  \"group\": \"web\",\n",
		"text": "1 node: can be replaced now\n  n1 needs no replacement\n1 node: would be replaced after others\n  n2: ",
	} {
		var out bytes.Buffer
		c := groupCheck{name: "web", output: output, objects: &ingest.Objects{}}
		if err := c.write(&out, p); err != nil || !strings.HasPrefix(out.String(), want) || !c.open {
			t.Errorf("%s: %v\n%s", output, err, out.String())
		}
	}
}
