package source

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// index is where the entry of a mapping begins, -1 if there is none.
func index(m *yaml.Node, key string) int {
	if m == nil || m.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// Lookup finds the value at a path of keys, nil if there is none.
func Lookup(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		i := index(resolve(n), key)
		if i < 0 {
			return nil
		}
		n = resolve(n).Content[i+1]
	}
	return resolve(n)
}

// Value is the text of a scalar, empty for anything else.
func Value(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// Keys are the keys of a mapping, in order.
func Keys(m *yaml.Node) []string {
	var keys []string
	if m != nil && m.Kind == yaml.MappingNode {
		for i := 0; i < len(m.Content); i += 2 {
			keys = append(keys, m.Content[i].Value)
		}
	}
	return keys
}

// Line finds the line of the field that a path such as spec.requirements[0].values names, or of the
// nearest thing around it that is there. A key with dots is in brackets, or is what is left of the path.
func (d Document) Line(field string) int { return lineOf(d.Root, field) }

func lineOf(n *yaml.Node, field string) int {
	line := n.Line
	for field != "" {
		next, at, rest := step(resolve(n), field)
		if next == nil {
			return line
		}
		n, line, field = next, at, rest
	}
	return line
}

// step goes one part of the path down. It prefers the longest key, as keys have dots in them.
func step(n *yaml.Node, field string) (next *yaml.Node, line int, rest string) {
	if inner, ok := strings.CutPrefix(field, "["); ok {
		key, rest, _ := strings.Cut(inner, "]")
		rest = strings.TrimPrefix(rest, ".")
		if i, err := strconv.Atoi(key); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line, rest
		}
		if i := index(n, key); i >= 0 {
			return n.Content[i+1], n.Content[i].Line, rest
		}
		return nil, 0, ""
	}
	for _, key := range slices.Backward(slices.Sorted(slices.Values(Keys(n)))) {
		if rest, ok := strings.CutPrefix(field, key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			i := index(n, key)
			return n.Content[i+1], n.Content[i].Line, strings.TrimPrefix(rest, ".")
		}
	}
	return nil, 0, ""
}

// Mapping is a new mapping without entries.
func Mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// Sequence is a new list.
func Sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// Text is a new scalar that is read as text, also where it looks like a number.
func Text(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	if oldTruth.MatchString(value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// oldTruth are words that Kubernetes' reader, which follows YAML 1.1, takes for true and false.
var oldTruth = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false)$`)

// Bare is a new scalar that is read as what it looks like: a number, true.
func Bare(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }

// Pairs is a new mapping of keys and values in turn.
func Pairs(entries ...string) *yaml.Node {
	m := Mapping()
	for i := 0; i+1 < len(entries); i += 2 {
		Set(m, entries[i], Text(entries[i+1]))
	}
	return m
}

// Set gives a key of a mapping a value, at the end if the key is new.
func Set(m *yaml.Node, key string, value *yaml.Node) {
	if i := index(m, key); i >= 0 {
		m.Content[i+1] = value
		return
	}
	m.Content = append(m.Content, Text(key), value)
}

// Take removes an entry from a mapping and returns its value, nil if there is none.
func Take(m *yaml.Node, key string) *yaml.Node {
	_, value := take(m, key)
	return value
}

func take(m *yaml.Node, key string) (*yaml.Node, *yaml.Node) {
	i := index(m, key)
	if i < 0 {
		return nil, nil
	}
	k, v := m.Content[i], m.Content[i+1]
	m.Content = slices.Delete(m.Content, i, i+2)
	return k, v
}

// Move takes an entry from one mapping to another, comments included, and reports whether it was there.
func Move(from *yaml.Node, key string, to *yaml.Node, as string) bool {
	k, v := take(from, key)
	if k == nil {
		return false
	}
	k.Value = as
	to.Content = append(to.Content, k, v)
	return true
}

// Under finds the mapping at a path of keys, and makes what is missing of it.
func Under(m *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		next := Lookup(m, key)
		if next == nil || next.Kind != yaml.MappingNode {
			next = Mapping()
			Set(m, key, next)
		}
		m = next
	}
	return m
}

// Clone copies a tree.
func Clone(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, inner := range n.Content {
		out.Content[i] = Clone(inner)
	}
	return &out
}

// Walk calls f with every node of a tree.
func Walk(n *yaml.Node, f func(*yaml.Node)) {
	f(n)
	for _, inner := range n.Content {
		Walk(inner, f)
	}
}

// Write writes documents as YAML, with their comments.
func Write(documents []Document) ([]byte, error) {
	var text strings.Builder
	for i, d := range documents {
		if i > 0 {
			text.WriteString("---\n")
		}
		if d.Comment != "" {
			text.WriteString(d.Comment + "\n")
		}
		encoder := yaml.NewEncoder(&text)
		encoder.SetIndent(2)
		if err := encoder.Encode(d.Root); err != nil {
			return nil, err
		}
		if err := encoder.Close(); err != nil {
			return nil, err
		}
	}
	return []byte(text.String()), nil
}
