package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const listed = `# before
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
- apiVersion: v1
  kind: Pod
  metadata:
    generateName: b-
    annotations:
      example.com/a.b: "1"
---
- no object
---
kind: Pod # a comment
metadata: {name: c}
`

// Lists are taken apart, what is no mapping is passed over, and documents are counted as in an editor.
func TestParse(t *testing.T) {
	t.Parallel()
	documents, err := Parse("pods.yaml", []byte(listed))
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		Object       string
		Number, Item int
	}
	var got []place
	for _, d := range documents {
		got = append(got, place{d.Object(), d.Number, d.Item})
	}
	if diff := cmp.Diff([]place{{"Pod a", 1, 1}, {"Pod b-", 1, 2}, {"Pod c", 3, 0}}, got); diff != "" {
		t.Error(diff)
	}
}

// A path leads to a line, or to that of the nearest thing that is there; keys may have dots in them.
func TestLine(t *testing.T) {
	t.Parallel()
	documents, err := Parse("x", []byte("spec:\n  list:\n    - a: 1\n    - b:\n        example.com/x.y: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]int{
		"": 1, "spec": 1, "spec.list": 2, "spec.list[0].a": 3, "spec.list[1].b": 4, "spec.list[1].b[example.com/x.y]": 5,
		"spec.list[1].b.example.com/x.y": 5, "spec.list[1].c": 4, "spec.list[7]": 2, "status.x": 1,
	} {
		if got := documents[0].Line(field); got != want {
			t.Errorf("%q is on line %d, want %d", field, got, want)
		}
	}
}

// What is written is what was read, comments included; text that YAML 1.1 takes for a truth value is quoted.
func TestWrite(t *testing.T) {
	t.Parallel()
	documents, err := Parse("x", []byte("# head\nkind: A # why\nspec:\n  # above\n  a: [1, 2]\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec := Lookup(documents[0].Root, "spec")
	Set(spec, "zone", Text("y"))
	Set(spec, "on", Text("1"))
	Move(spec, "a", Under(spec, "inner"), "b")
	text, err := Write(documents)
	if err != nil {
		t.Fatal(err)
	}
	want := "# head\nkind: A # why\nspec:\n  zone: \"y\"\n  \"on\": \"1\"\n  inner:\n    # above\n    b: [1, 2]\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	object, err := documents[0].Map()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"zone": "y", "on": "1", "inner": map[string]any{"b": []any{int64(1), int64(2)}}}, object["spec"]); diff != "" {
		t.Error(diff)
	}
}
