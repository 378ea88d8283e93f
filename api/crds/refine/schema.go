package main

import (
	"fmt"
	"strings"
)

// schema is one node of an OpenAPI schema, as decoded from YAML.
type schema map[string]any

// rootSchema returns the schema of the only version of a definition.
func rootSchema(definition map[string]any) (schema, error) {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	if len(versions) != 1 {
		return nil, fmt.Errorf("want one version, got %d", len(versions))
	}
	version, _ := versions[0].(map[string]any)
	outer, _ := version["schema"].(map[string]any)
	root, ok := outer["openAPIV3Schema"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("no openAPIV3Schema")
	}
	return root, nil
}

// at follows a path of property names with dots between them; [] steps into a list's items and {}
// into a map's values.
func (s schema) at(path string) (schema, error) {
	current := s
	for step := range strings.SplitSeq(path, ".") {
		var next any
		switch step {
		case "[]":
			next = current["items"]
		case "{}":
			next = current["additionalProperties"]
		default:
			properties, _ := current["properties"].(map[string]any)
			next = properties[step]
		}
		inner, ok := next.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("no %q in %s", step, path)
		}
		current = inner
	}
	return current, nil
}

// edit is a change of the schema at a path.
type edit struct {
	path  string
	apply func(schema)
}

// editAll applies edits, of which each must find its path.
func (s schema) editAll(edits ...edit) error {
	for _, e := range edits {
		target, err := s.at(e.path)
		if err != nil {
			return err
		}
		e.apply(target)
	}
	return nil
}

// set gives a keyword of the schema a value.
func set(keyword string, value any) func(schema) {
	return func(s schema) { s[keyword] = value }
}

// remove takes a keyword out of the schema.
func remove(keyword string) func(schema) {
	return func(s schema) { delete(s, keyword) }
}

// rule adds a CEL rule to the schema.
func rule(expression, message string) func(schema) {
	return func(s schema) {
		rules, _ := s["x-kubernetes-validations"].([]any)
		s["x-kubernetes-validations"] = append(rules, map[string]any{"rule": expression, "message": message})
	}
}
