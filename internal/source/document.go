// Package source reads files of Kubernetes objects as trees that remember lines and comments: what
// a message about a file points at, and what a rewritten file keeps. Package manifest reads the
// same files as typed objects.
//
// The package knows no kind, and judges nothing.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	kyaml "sigs.k8s.io/yaml"

	"tenon/internal/ingest/manifest"
)

// Document is one object of a file: a document of it, or an item of a list.
type Document struct {
	File string
	// Number counts the documents of the file from 1, Item those of a list from 1; 0 is no item.
	Number, Item int
	// Root is the mapping that the object is.
	Root *yaml.Node
	// Comment stands before the object, apart from it.
	Comment string
}

// SyntaxError is a file that is no YAML.
type SyntaxError struct {
	File string
	Line int
	Text string
}

// Error reads "pools.yaml:3: did not find expected key".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Read reads the objects of files and directories, in order; "-" is stdin. A file that is no YAML
// gives a SyntaxError and the documents before it. What is no mapping is passed over.
func Read(paths []string, stdin io.Reader) ([]Document, []error) {
	files, err := manifest.Expand(paths)
	if err != nil {
		return nil, []error{err}
	}
	var documents []Document
	var problems []error
	for _, file := range files {
		text, err := manifest.Load(file, stdin)
		if err == nil {
			var found []Document
			found, err = Parse(file, text)
			documents = append(documents, found...)
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return documents, problems
}

// Parse reads the objects of one file.
func Parse(file string, text []byte) ([]Document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var documents []Document
	for number := 1; ; number++ {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, syntaxError(file, err)
		}
		root := resolve(node.Content[0])
		if root.Kind != yaml.MappingNode {
			continue // no object: hooks are given all YAML files of a change
		}
		documents = append(documents, open(Document{File: file, Number: number, Root: root, Comment: node.HeadComment})...)
	}
}

// open takes a list apart.
func open(d Document) []Document {
	items := Lookup(d.Root, "items")
	if !strings.HasSuffix(d.Kind(), "List") || items == nil || items.Kind != yaml.SequenceNode {
		return []Document{d}
	}
	var out []Document
	for i, item := range items.Content {
		if item = resolve(item); item.Kind == yaml.MappingNode {
			out = append(out, Document{File: d.File, Number: d.Number, Item: i + 1, Root: item})
		}
	}
	return out
}

var lineOfError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func syntaxError(file string, err error) error {
	text := err.Error()
	found := lineOfError.FindStringSubmatch(text)
	if found == nil {
		return &SyntaxError{File: file, Line: 1, Text: text}
	}
	line, _ := strconv.Atoi(found[1]) // without a line, 0
	return &SyntaxError{File: file, Line: max(line, 1), Text: strings.TrimPrefix(text, found[0])}
}

// APIVersion is what the object says of itself, empty if it says nothing.
func (d Document) APIVersion() string { return Value(Lookup(d.Root, "apiVersion")) }

// Kind is what the object says of itself, empty if it says nothing.
func (d Document) Kind() string { return Value(Lookup(d.Root, "kind")) }

// Name is the object's name, or what it begins with.
func (d Document) Name() string {
	if name := Value(Lookup(d.Root, "metadata", "name")); name != "" {
		return name
	}
	return Value(Lookup(d.Root, "metadata", "generateName"))
}

// Object names the document in messages: "NodePool default".
func (d Document) Object() string { return strings.TrimSpace(d.Kind() + " " + d.Name()) }

// Map is the object as an API server would read it: integers are int64, other numbers float64.
func (d Document) Map() (map[string]any, error) {
	text, err := yaml.Marshal(d.Root)
	if err != nil {
		return nil, fmt.Errorf("write %s anew: %w", d.Object(), err)
	}
	converted, err := kyaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	object := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(converted, &object); err != nil {
		return nil, err
	}
	return object, nil
}
