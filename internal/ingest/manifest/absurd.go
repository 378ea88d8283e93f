package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"tenon/api/scalar"
	"tenon/core/order"
)

// quantitiesIn are fields that hold quantities by names of resources.
var quantitiesIn = []string{
	"requests", "limits", "capacity", "allocatable", "resources", "allocatedResources", "hard", "used", "overhead", "podFixed",
	"max", "min", "default", "defaultRequest", "maxLimitRequestRatio",
}

// quantityFields are fields that hold one quantity.
var quantityFields = []string{"sizeLimit", "divisor", "volumeSize"}

// absurd finds a quantity that must not be parsed, because that would take seconds or hours. One pass
// over the text shows that it has none, which is the usual case.
func absurd(text []byte) (field string, err error) {
	if !looksAbsurd(text) {
		return "", nil
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return "", nil // the next decoder reports the error
	}
	return absurdIn(tree, "", false)
}

// mostDigits is the largest normal number of consecutive digits, and mostExponent that of an
// exponent's digits.
const (
	mostDigits   = 60
	mostExponent = 3
)

// looksAbsurd reports whether anything in a text may be a number with an absurd size or exponent.
func looksAbsurd(text []byte) bool {
	run := 0 // of digits and points
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9' || c == '.':
			if run++; run > mostDigits {
				return true
			}
			continue
		case (c == 'e' || c == 'E') && run > 0 && exponentAt(text[i+1:]) && startsThere(text[:i-run]):
			return true
		}
		run = 0
	}
	return false
}

// exponentAt reports whether text begins with an exponent that is too long.
func exponentAt(text []byte) bool {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	for i := range min(len(text), mostExponent+1) {
		if c := text[i]; (c < '0' || c > '9') && c != '.' {
			return false
		}
	}
	return len(text) > mostExponent
}

// startsThere reports whether a number may begin after a text: not in the middle of a word.
func startsThere(before []byte) bool {
	if n := len(before); n > 0 && (before[n-1] == '+' || before[n-1] == '-') {
		before = before[:n-1]
	}
	return len(before) > 0 && bytes.IndexByte([]byte(`": [,`), before[len(before)-1]) >= 0
}

// absurdIn checks the quantities of a tree.
func absurdIn(tree any, path string, quantity bool) (field string, err error) {
	switch node := tree.(type) {
	case map[string]any:
		for _, name := range order.Keys(node) {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			of := quantity || slices.Contains(quantitiesIn, name) || slices.Contains(quantityFields, name)
			if field, err := absurdIn(node[name], inner, of); err != nil {
				return field, err
			}
		}
	case []any:
		for i := range node {
			if field, err := absurdIn(node[i], fmt.Sprintf("%s[%d]", path, i), quantity); err != nil {
				return field, err
			}
		}
	case string, json.Number:
		text := fmt.Sprint(node)
		if quantity && looksAbsurd([]byte(`"`+text)) {
			_, err := scalar.ParseQuantity(text)
			return path, err
		}
	}
	return "", nil
}
