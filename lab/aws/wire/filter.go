package wire

import (
	"slices"
	"strings"
)

// Filter keeps the resources that have one of the values.
type Filter struct {
	Name   string
	Values []string `query:"Value"`
}

// Tag is a name and a value that users put on a resource.
type Tag struct {
	Key   string `json:"key" xml:"key"`
	Value string `json:"value" xml:"value"`
}

// Attributes holds what filters may ask of a resource: the values by the filter's name. A missing name
// means that the operation has no such filter.
type Attributes map[string][]string

// Match reports whether a resource passes all filters: all names must match, each
// with any of its values. Filters that name tags look at the tags.
func Match(filters []Filter, attributes Attributes, tags []Tag) (bool, error) {
	for _, f := range filters {
		if len(f.Values) == 0 {
			return false, Errorf("InvalidParameterValue", "The filter '%s' must have at least one value", f.Name)
		}
		have, known := attributesOf(f.Name, attributes, tags)
		if !known {
			return false, Errorf("InvalidParameterValue", "The filter '%s' is invalid", f.Name)
		}
		if !slices.ContainsFunc(have, func(value string) bool { return matchesAny(f.Values, value) }) {
			return false, nil
		}
	}
	return true, nil
}

func attributesOf(name string, attributes Attributes, tags []Tag) (values []string, known bool) {
	key, byKey := strings.CutPrefix(name, "tag:")
	if !byKey && name != "tag-key" && name != "tag-value" {
		values, known = attributes[name]
		return values, known
	}
	for _, t := range tags {
		switch {
		case byKey && t.Key == key, name == "tag-value":
			values = append(values, t.Value)
		case name == "tag-key":
			values = append(values, t.Key)
		}
	}
	return values, true
}

func matchesAny(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Glob(p, value) })
}

// Glob matches EC2's wildcards: a star is any text, a question mark any one
// character, and a backslash takes the next character literally. Case counts.
func Glob(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	var i, j int
	star, mark := -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && p[i] == '?':
			i, j = i+1, j+1
		case i+1 < len(p) && p[i] == '\\' && p[i+1] == t[j]:
			i, j = i+2, j+1
		case i < len(p) && p[i] != '\\' && p[i] == t[j], i == len(p)-1 && p[i] == '\\' && t[j] == '\\':
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
