package requirement

import (
	"encoding/json"
	"maps"

	"tenon/core/order"
)

// KeySet is a set of label keys that does not change. The zero value is empty.
type KeySet struct{ keys map[string]struct{} }

// NewKeySet makes a set of the keys.
func NewKeySet(keys ...string) KeySet { return KeySet{}.With(keys...) }

// With is s and the keys.
func (s KeySet) With(keys ...string) KeySet {
	out := make(map[string]struct{}, len(s.keys)+len(keys))
	maps.Copy(out, s.keys)
	for _, key := range keys {
		out[key] = struct{}{}
	}
	return KeySet{out}
}

// Contains reports whether key is in s.
func (s KeySet) Contains(key string) bool {
	_, found := s.keys[key]
	return found
}

// Len is the number of keys.
func (s KeySet) Len() int { return len(s.keys) }

// Sorted are the keys in order. The caller owns the slice.
func (s KeySet) Sorted() []string { return order.Keys(s.keys) }

// IsZero reports whether s is empty.
func (s KeySet) IsZero() bool { return len(s.keys) == 0 }

// Equal reports whether s and o hold the same keys.
func (s KeySet) Equal(o KeySet) bool { return maps.Equal(s.keys, o.keys) }

// MarshalJSON writes the keys as a sorted list.
func (s KeySet) MarshalJSON() ([]byte, error) { return json.Marshal(s.Sorted()) }

// UnmarshalJSON reads a list of keys.
func (s *KeySet) UnmarshalJSON(data []byte) error {
	var keys []string
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	*s = NewKeySet(keys...)
	return nil
}
