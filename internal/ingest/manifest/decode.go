package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"tenon/core/order"
)

// found is the result of one document, or one item of a list.
type found struct {
	where    document
	what     typeMeta
	object   metav1.Object // nil if skipped or malformed
	warnings []string      // unknown fields
	err      error
}

// decode reads a document: one object, or each item of a list.
func decode(d document) []found {
	text := d.text
	if !d.json {
		converted, err := toJSON(text)
		if err != nil {
			return []found{{where: d, err: d.problem("", "", err)}}
		}
		text = converted
	}
	text = visible(text)
	what, err := whatIs(text, d.of)
	if err != nil {
		return []found{{where: d, err: d.problem("", "", err)}}
	}
	if !what.isList() {
		return []found{decodeObject(d, what, text)}
	}
	var l list
	if err := json.Unmarshal(text, &l); err != nil {
		return []found{{where: d, what: what, err: d.problem(what.Kind, "items", err)}}
	}
	var out []found
	for _, item := range l.documents(d) {
		if d.item > 0 {
			item.item = d.item // a list in a list: the outer position is the one to find it by
		}
		out = append(out, decode(item)...)
	}
	return out
}

// toJSON reads YAML.
func toJSON(text []byte) ([]byte, error) {
	if converted, ok := plainYAML(text); ok {
		return converted, nil
	}
	return wholeYAML(text)
}

// wholeYAML reads all of YAML, and refuses mappings with duplicate keys.
func wholeYAML(text []byte) ([]byte, error) {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return converted, nil
}

func whatIs(text []byte, otherwise typeMeta) (typeMeta, error) {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return typeMeta{}, errors.New("want a Kubernetes object, a mapping with apiVersion and kind")
	}
	var what typeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &what); err != nil {
		return typeMeta{}, err
	}
	if what == (typeMeta{}) {
		what = otherwise
	}
	switch {
	case what.Kind == "":
		return typeMeta{}, errors.New("kind: is missing")
	case what.APIVersion == "":
		return typeMeta{}, fmt.Errorf("apiVersion: is missing of this %s", what.Kind)
	}
	return what, nil
}

func decodeObject(d document, what typeMeta, text []byte) found {
	out := found{where: d, what: what}
	k, matters := kinds[what]
	if !matters {
		if hint, ours := ourGroups[what.group()]; ours {
			out.err = d.problem(what.Kind, "apiVersion", fmt.Errorf("%s of %s is not known here: %s", what.Kind, what.APIVersion, hint))
		}
		return out
	}
	if field, err := absurd(text); err != nil {
		out.err = d.problem(what.Kind, field, err)
		return out
	}
	object := k.make()
	unknown, err := kjson.UnmarshalStrict(text, object)
	name := strings.TrimSpace(what.Kind + " " + nameOf(object, k))
	if err != nil {
		field, cause := locate(k, text, err)
		out.err = d.problem(name, field, cause)
		return out
	}
	for _, problem := range unknown {
		if k.strict && strings.Contains(problem.Error(), `"spec.`) {
			out.err = d.problem(name, "", problem)
			return out
		}
		out.warnings = append(out.warnings, problem.Error())
	}
	if err := complete(object, k); err != nil {
		out.err = d.problem(name, "metadata.name", err)
		return out
	}
	out.object = object
	return out
}

func (d document) problem(object, field string, err error) error {
	return &Problem{File: d.file, Document: d.number, Item: d.item, Object: object, Field: field, Err: err}
}

func nameOf(o metav1.Object, k kind) string {
	if o.GetNamespace() == "" || k.clusterWide {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// complete applies the API server's defaults for a new object, and drops the fields that are never
// read.
func complete(o metav1.Object, k kind) error {
	slim(o)
	if k.clusterWide {
		o.SetNamespace("")
	} else if o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	if o.GetName() == "" && o.GetGenerateName() == "" {
		return errors.New("is missing")
	}
	if d, ok := o.(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
	return nil
}

// locate finds the field that an error concerns. Decoders of single values (quantities, durations,
// times) do not know where they are, so every leaf of the object is decoded by itself until one
// fails.
func locate(k kind, text []byte, err error) (string, error) {
	var tree any
	if json.Unmarshal(text, &tree) != nil {
		return "", err
	}
	field, cause := "", err
	eachLeaf(tree, "", func(path string, alone any) bool {
		minimal, encodeErr := json.Marshal(alone)
		if encodeErr != nil {
			return true
		}
		problem := kjson.UnmarshalCaseSensitivePreserveInts(minimal, k.make())
		if problem != nil {
			field, cause = path, problem
		}
		return problem == nil
	})
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](cause); ok && mismatch.Field != "" {
		// The decoder knew its depth, but not the indexes in lists.
		parts := strings.Split(field, ".")
		depth := min(len(parts), 1+strings.Count(mismatch.Field, "."))
		return strings.Join(parts[:depth], "."), wantOtherType(mismatch)
	}
	return field, cause
}

func wantOtherType(mismatch *json.UnmarshalTypeError) error {
	hint := ""
	if mismatch.Type.Kind() == reflect.String && (mismatch.Value == "bool" || strings.HasPrefix(mismatch.Value, "number")) {
		hint = `: put it in quotes (YAML takes y, n, yes, no, on and off for true and false)`
	}
	return fmt.Errorf("want %s, not %s%s", plainType(mismatch.Type), mismatch.Value, hint)
}

func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "an integer"
	}
	return t.String()
}

// eachLeaf calls f with every leaf of a tree: its path, and the tree reduced to that leaf. It stops
// when f returns so.
func eachLeaf(tree any, path string, f func(path string, alone any) bool) bool {
	switch node := tree.(type) {
	case map[string]any:
		for _, name := range order.Keys(node) {
			inner := strings.TrimPrefix(path+"."+name, ".")
			if !eachLeaf(node[name], inner, func(p string, alone any) bool { return f(p, map[string]any{name: alone}) }) {
				return false
			}
		}
		return true
	case []any:
		for i, element := range node {
			inner := fmt.Sprintf("%s[%d]", path, i)
			if !eachLeaf(element, inner, func(p string, alone any) bool { return f(p, []any{alone}) }) {
				return false
			}
		}
		return true
	}
	return f(path, tree)
}
