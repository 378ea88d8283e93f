// Package rulecase is a table of the API's rules: for each of them an object that is accepted, one
// that is refused, and what the refusal says. The table is applied to the schemas in-process and
// to a real API server, so it is data and neither of the two.
//
// A file of testdata is about one kind:
//
//	base:                    # an object that is accepted
//	  apiVersion: …
//	rules:
//	- name: weight has a maximum
//	  at: spec.weight        # the patches are applied here; default: the whole object
//	  accept: 100            # a JSON merge patch (RFC 7386) of the base
//	  refuse: 101
//	  message: should be less than or equal to 100
//	- name: the class is required
//	  at: spec.nodeClassRef
//	  accept: {name: a}
//	  refuse: null           # null removes the field
//	  message: Required value
//	- name: the number of items has a maximum
//	  at: spec.requirements
//	  most: 100              # so many items are accepted, and one more is refused
//	  item: "{key: key-#}"   # an item, or an entry of a map; # is its number
//	  message: must have at most 100 items
//
// A rule about changes has the object before the change in addition, as a patch named before.
package rulecase

import (
	"embed"
	"fmt"
	"path"

	"sigs.k8s.io/yaml"
)

//go:embed testdata/*.yaml
var files embed.FS

// Case is one rule with examples. The objects belong to the caller, who may change them.
type Case struct {
	// Kind of the objects.
	Kind string
	// Name says what the rule is about. It is unique within the kind.
	Name string
	// Before is the stored object of a rule about changes, else nil.
	Before map[string]any
	// Accepted is created, or replaces Before, without complaint.
	Accepted map[string]any
	// Refused differs from Accepted in what the rule is about.
	Refused map[string]any
	// Message is part of the message that refuses Refused.
	Message string
}

// file is the form of a file of testdata.
type file struct {
	Base  map[string]any `json:"base"`
	Rules []celRule      `json:"rules"`
}

type celRule struct {
	Name    string `json:"name"`
	At      string `json:"at"`
	Before  any    `json:"before"`
	Accept  any    `json:"accept"`
	Refuse  any    `json:"refuse"`
	Most    int    `json:"most"`
	Item    string `json:"item"`
	Message string `json:"message"`
}

// All returns the cases of all kinds, by kind and then in the order in which they are written.
func All() ([]Case, error) {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, entry := range entries {
		text, err := files.ReadFile(path.Join("testdata", entry.Name()))
		if err != nil {
			return nil, err
		}
		read, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		cases = append(cases, read...)
	}
	return cases, nil
}

// Parse reads the cases of one kind.
func Parse(text []byte) ([]Case, error) {
	var f file
	if err := yaml.UnmarshalStrict(text, &f); err != nil {
		return nil, err
	}
	kind, _ := f.Base["kind"].(string)
	if kind == "" {
		return nil, fmt.Errorf("base has no kind")
	}
	seen := map[string]bool{}
	var cases []Case
	for _, r := range f.Rules {
		if seen[r.Name] {
			return nil, fmt.Errorf("rule %q occurs twice", r.Name)
		}
		seen[r.Name] = true
		c, err := r.expand(f.Base)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.Name, err)
		}
		c.Kind = kind
		cases = append(cases, c)
	}
	return cases, nil
}

// expand makes the objects of a rule out of its patches.
func (r celRule) expand(base map[string]any) (Case, error) {
	if r.Name == "" || r.Message == "" {
		return Case{}, fmt.Errorf("name and message are needed")
	}
	accept, refuse := r.Accept, r.Refuse
	if r.Most > 0 {
		var err error
		if accept, err = repeat(r.Item, r.Most); err != nil {
			return Case{}, err
		}
		if refuse, err = repeat(r.Item, r.Most+1); err != nil {
			return Case{}, err
		}
	}
	c := Case{Name: r.Name, Message: r.Message}
	var err error
	if c.Accepted, err = patched(base, r.At, accept); err != nil {
		return Case{}, err
	}
	if c.Refused, err = patched(base, r.At, refuse); err != nil {
		return Case{}, err
	}
	if r.Before != nil {
		c.Before, err = patched(base, r.At, r.Before)
	}
	return c, err
}

// patched returns a copy of base with a merge patch applied at a path.
func patched(base map[string]any, at string, patch any) (map[string]any, error) {
	object, ok := integers(merge(base, nested(at, patch))).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("patch %v replaces the whole object", patch)
	}
	return object, nil
}
