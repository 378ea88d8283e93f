package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const definition = `
spec:
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              list: {items: {properties: {key: {type: string}}}}
              map: {additionalProperties: {type: string, minLength: 1}}
`

func rewritten(t *testing.T, refine func(schema) error) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "definition.yaml")
	if err := os.WriteFile(path, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	err := rewrite(path, refine)
	text, readErr := os.ReadFile(path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), err
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	got, err := rewritten(t, func(s schema) error {
		return s.editAll(
			edit{"spec.list.[].key", set("maxLength", 3)},
			edit{"spec.list.[].key", rule("self != 'a'", "not a")},
			edit{"spec.list.[].key", rule("self != 'b'", "not b")},
			edit{"spec.map.{}", remove("minLength")},
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `---
spec:
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              list:
                items:
                  properties:
                    key:
                      maxLength: 3
                      type: string
                      x-kubernetes-validations:
                      - message: not a
                        rule: self != 'a'
                      - message: not b
                        rule: self != 'b'
              map:
                additionalProperties:
                  type: string
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRewriteNeedsItsFields checks that a renamed field cannot lose its rules unnoticed.
func TestRewriteNeedsItsFields(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"spec.other", "spec.list.{}", "spec.map.[]", "spec.list.[].value"} {
		got, err := rewritten(t, func(s schema) error { return s.editAll(edit{path, set("maxLength", 3)}) })
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error that names the path", path, err)
		}
		if got != definition {
			t.Errorf("%s: the file was changed", path)
		}
	}
}

func TestRootSchemaNeedsOneVersion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"spec: {}", "spec: {versions: [{}, {}]}", "spec: {versions: [{schema: {}}]}"} {
		var definition map[string]any
		if err := yaml.Unmarshal([]byte(text), &definition); err != nil {
			t.Fatal(err)
		}
		if _, err := rootSchema(definition); err == nil {
			t.Errorf("%s has a schema", text)
		}
	}
}

// TestCloudLabels checks that only labels in the cloud's own domain need permission.
func TestCloudLabels(t *testing.T) {
	t.Parallel()
	labels := cloudLabels()
	if len(labels) != 27 || !slices.IsSorted(labels) || slices.Contains(labels, "topology.k8s.aws/zone-id") {
		t.Errorf("got %d labels: %v", len(labels), labels)
	}
	const want = `self in ["a.b/c", "d"] || !self.find("^([^/]+)").endsWith("karpenter.k8s.aws")`
	if got := cloudDomainRule("self", []string{"a.b/c", "d"}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
