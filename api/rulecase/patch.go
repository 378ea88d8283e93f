package rulecase

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// nested wraps a patch in objects, so that it applies at a path of keys with dots between them.
func nested(at string, patch any) any {
	if at == "" && patch == nil {
		return map[string]any{}
	}
	if at == "" {
		return patch
	}
	keys := strings.Split(at, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		patch = map[string]any{keys[i]: patch}
	}
	return patch
}

// merge applies a JSON merge patch: objects are merged, null removes, all else replaces. It
// returns a new value and shares nothing with target that it changes.
func merge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	result := map[string]any{}
	if old, ok := target.(map[string]any); ok {
		for key, value := range old {
			result[key] = value
		}
	}
	for key, change := range changes {
		if change == nil {
			delete(result, key)
			continue
		}
		result[key] = merge(result[key], change)
	}
	return result
}

// integers returns a deep copy of a decoded JSON value with whole numbers as int64, which is how
// API machinery represents them.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		result := make(map[string]any, len(v))
		for key, inner := range v {
			result[key] = integers(inner)
		}
		return result
	case []any:
		result := make([]any, 0, len(v))
		for _, inner := range v {
			result = append(result, integers(inner))
		}
		return result
	case float64:
		if whole := int64(v); float64(whole) == v {
			return whole
		}
	}
	return value
}

// repeat makes a list of items, or a map if the item has the form "key: value". In each item #
// stands for its number.
func repeat(item string, count int) (any, error) {
	var text strings.Builder
	for i := range count {
		numbered := strings.ReplaceAll(item, "#", strconv.Itoa(i))
		if isEntry(item) {
			fmt.Fprintf(&text, "%s\n", numbered)
		} else {
			fmt.Fprintf(&text, "- %s\n", numbered)
		}
	}
	var value any
	if err := yaml.Unmarshal([]byte(text.String()), &value); err != nil {
		return nil, fmt.Errorf("item %q: %w", item, err)
	}
	return value, nil
}

func isEntry(item string) bool {
	return !strings.HasPrefix(item, "{") && strings.Contains(item, ": ")
}
