package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tenon/core/order"
)

// Vocabulary says which labels have a meaning, which ones users may not touch, and what
// else they are called. It is a value that travels with the snapshot: a provider adds
// its words to a copy. The zero value knows no words.
type Vocabulary struct {
	wellKnown         KeySet
	restrictedDomains KeySet
	restrictedKeys    KeySet
	aliases           map[string]string
	translations      map[string]map[string]string
	knownValues       map[string]KeySet
}

// Core is the vocabulary that every provider builds on.
func Core() Vocabulary { return Vocabulary{}.With(coreWords()) }

// With is v and the words. A word that v has already gets its new meaning.
func (v Vocabulary) With(words Words) Vocabulary {
	out := Vocabulary{
		wellKnown:         v.wellKnown.With(words.WellKnown...),
		restrictedDomains: v.restrictedDomains.With(words.RestrictedDomains...),
		restrictedKeys:    v.restrictedKeys.With(words.RestrictedKeys...),
		aliases:           joined(v.aliases, words.Aliases),
		translations:      maps.Clone(v.translations),
		knownValues:       maps.Clone(v.knownValues),
	}
	if out.translations == nil {
		out.translations = map[string]map[string]string{}
	}
	for key, values := range words.Translations {
		out.translations[key] = joined(out.translations[key], values)
	}
	if out.knownValues == nil {
		out.knownValues = map[string]KeySet{}
	}
	for key, values := range words.KnownValues {
		out.knownValues[key] = out.knownValues[key].With(values...)
	}
	return out
}

func joined(base, more map[string]string) map[string]string {
	out := make(map[string]string, len(base)+len(more))
	maps.Copy(out, base)
	maps.Copy(out, more)
	return out
}

// Words are the parts of v, sorted: Vocabulary{}.With(v.Words()) is v again.
func (v Vocabulary) Words() Words {
	words := Words{
		WellKnown:         v.wellKnown.Sorted(),
		RestrictedDomains: v.restrictedDomains.Sorted(),
		RestrictedKeys:    v.restrictedKeys.Sorted(),
		Aliases:           maps.Clone(v.aliases),
		Translations:      make(map[string]map[string]string, len(v.translations)),
		KnownValues:       make(map[string][]string, len(v.knownValues)),
	}
	for key, values := range v.translations {
		words.Translations[key] = maps.Clone(values)
	}
	for key, values := range v.knownValues {
		words.KnownValues[key] = values.Sorted()
	}
	return words
}

// WellKnown are the keys that pods may select although no object defines them.
func (v Vocabulary) WellKnown() KeySet { return v.wellKnown }

// IsWellKnown reports whether key is one of WellKnown.
func (v Vocabulary) IsWellKnown(key string) bool { return v.wellKnown.Contains(key) }

// IsRestricted reports whether users may not write key: it is in a restricted domain, or
// restricted by itself, and not well-known.
func (v Vocabulary) IsRestricted(key string) bool {
	if v.IsWellKnown(key) {
		return false
	}
	if v.restrictedKeys.Contains(key) {
		return true
	}
	domain, _, found := strings.Cut(key, "/")
	for found {
		if v.restrictedDomains.Contains(domain) {
			return true
		}
		_, domain, found = strings.Cut(domain, ".")
	}
	return false
}

// Key is the right spelling of key.
func (v Vocabulary) Key(key string) string {
	if right, found := v.aliases[key]; found {
		return right
	}
	return key
}

// Value is the right spelling of a value of key, which is itself spelled right.
func (v Vocabulary) Value(key, value string) string {
	if right, found := v.translations[key][value]; found {
		return right
	}
	return value
}

// Entry is e in the right spelling.
func (v Vocabulary) Entry(e Entry) Entry {
	e.Key = v.Key(e.Key)
	if len(v.translations[e.Key]) > 0 && !e.Operator.Numeric() {
		e.Values = slices.Clone(e.Values)
		for i, value := range e.Values {
			e.Values[i] = v.Value(e.Key, value)
		}
	}
	return e
}

// Parse reads entries in any spelling; all of them must hold. It refuses what Parse
// refuses, and does not judge what users may write: Validate does.
func (v Vocabulary) Parse(entries ...Entry) (Set, error) {
	list := make([]Requirement, 0, len(entries))
	for _, e := range entries {
		r, err := Parse(v.Entry(e))
		if err != nil {
			return Set{}, err
		}
		list = append(list, r)
	}
	return setOf(list), nil
}

// FromLabels asks for exactly these labels, in any spelling. Two spellings of one label
// that say different things cannot both hold.
func (v Vocabulary) FromLabels(labels map[string]string) Set {
	list := make([]Requirement, 0, len(labels))
	for _, alias := range order.Keys(labels) {
		key := v.Key(alias)
		list = append(list, New(key, In, v.Value(key, labels[alias])))
	}
	return setOf(list)
}

// Labels are the custom labels that a new node gets because of s: a value for every key
// that is neither well-known, since those come with the machine, nor restricted.
func (v Vocabulary) Labels(s Set) map[string]string {
	labels := map[string]string{}
	for _, r := range s.list {
		if v.IsWellKnown(r.key) || v.IsRestricted(r.key) {
			continue
		}
		if value, found := r.Any(); found {
			labels[r.key] = value
		}
	}
	return labels
}

// IsZero reports whether v knows no words.
func (v Vocabulary) IsZero() bool {
	return v.wellKnown.IsZero() && v.restrictedDomains.IsZero() && v.restrictedKeys.IsZero() &&
		len(v.aliases) == 0 && len(v.translations) == 0 && len(v.knownValues) == 0
}

// MarshalJSON writes the words.
func (v Vocabulary) MarshalJSON() ([]byte, error) { return json.Marshal(v.Words()) }

// UnmarshalJSON reads words, and refuses parts that it does not know.
func (v *Vocabulary) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var words Words
	if err := decoder.Decode(&words); err != nil {
		return fmt.Errorf("read vocabulary: %w", err)
	}
	*v = Vocabulary{}.With(words)
	return nil
}
