package rulecase_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/api/rulecase"
)

const base = `
base: {kind: Example, spec: {size: 1, keep: a, list: [1, 2]}}
rules:
`

func TestParse(t *testing.T) {
	t.Parallel()
	cases, err := rulecase.Parse([]byte(base + `
- {name: size, at: spec.size, accept: 2, refuse: null, message: no size}
- {name: merge, accept: {spec: {list: [3]}}, refuse: {spec: {keep: null, other: {x: 1.5}}}, message: m}
- {name: change, at: spec, before: {size: 7}, accept: {size: 8}, refuse: {size: 9}, message: m}
`))
	if err != nil {
		t.Fatal(err)
	}
	object := func(spec map[string]any) map[string]any { return map[string]any{"kind": "Example", "spec": spec} }
	list := []any{int64(1), int64(2)}
	want := []rulecase.Case{
		{
			Kind: "Example", Name: "size", Message: "no size",
			Accepted: object(map[string]any{"size": int64(2), "keep": "a", "list": list}),
			Refused:  object(map[string]any{"keep": "a", "list": list}),
		},
		{
			Kind: "Example", Name: "merge", Message: "m",
			Accepted: object(map[string]any{"size": int64(1), "keep": "a", "list": []any{int64(3)}}),
			Refused:  object(map[string]any{"size": int64(1), "list": list, "other": map[string]any{"x": 1.5}}),
		},
		{
			Kind: "Example", Name: "change", Message: "m",
			Before:   object(map[string]any{"size": int64(7), "keep": "a", "list": list}),
			Accepted: object(map[string]any{"size": int64(8), "keep": "a", "list": list}),
			Refused:  object(map[string]any{"size": int64(9), "keep": "a", "list": list}),
		},
	}
	if diff := cmp.Diff(want, cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
}

func TestParseRepeats(t *testing.T) {
	t.Parallel()
	cases, err := rulecase.Parse([]byte(base + `
- {name: items, at: spec.list, most: 2, item: "{key: k-#}", message: m}
- {name: entries, at: spec.map, most: 1, item: "k-#: v", message: m}
`))
	if err != nil {
		t.Fatal(err)
	}
	spec := func(object map[string]any) map[string]any { return object["spec"].(map[string]any) }
	if accepted, refused := spec(cases[0].Accepted)["list"].([]any), spec(cases[0].Refused)["list"].([]any); len(accepted) != 2 || len(refused) != 3 {
		t.Errorf("got %d and %d items, want 2 and 3", len(accepted), len(refused))
	}
	want := map[string]any{"k-0": "v", "k-1": "v"}
	if diff := cmp.Diff(want, spec(cases[1].Refused)["map"]); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestParseRefusesMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"base: {}\nrules: []":                                "base has no kind",
		base + "- {name: a}":                                 "name and message are needed",
		base + "- {name: a, message: m}\n- {name: a}":        "occurs twice",
		base + "- {name: a, message: m, most: 1, item: b}":   "replaces the whole object",
		base + "- {name: a, message: m, acept: 1}":           "acept",
		base + "- {name: a, message: m, most: 1, item: '{'}": `item "{"`,
	} {
		_, err := rulecase.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", text, err, want)
		}
	}
}

// TestObjectsAreIndependent checks that a caller may change the objects that it gets.
func TestObjectsAreIndependent(t *testing.T) {
	t.Parallel()
	first, err := rulecase.All()
	if err != nil {
		t.Fatal(err)
	}
	again, err := rulecase.All()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range first {
		clear(c.Accepted["metadata"].(map[string]any))
		clear(c.Accepted)
		if diff := cmp.Diff(again[i].Refused, c.Refused); diff != "" {
			t.Fatalf("%s/%s: objects share their parts: %s", c.Kind, c.Name, diff)
		}
	}
}
