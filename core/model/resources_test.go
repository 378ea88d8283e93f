package model

import (
	"math"
	"testing"
)

// TestSumsDoNotWrapAround checks that what thousands of pods with absurd requests leave of a node is less than
// nothing. Without an end, 2,048 pods of 4 PiB were -8 EiB together, and the node had that much room.
func TestSumsDoNotWrapAround(t *testing.T) {
	t.Parallel()
	absurd := NewResources(Amount{CPU, 1 << 52}, Amount{Memory, 1 << 52}, Amount{"example.com/device", 1 << 52})
	var used Resources
	for range 5000 {
		used = used.Add(absurd)
	}
	left := NewResources(Amount{CPU, 4000}, Amount{Memory, 1 << 34}, Amount{"example.com/device", 4}).Sub(used).Sub(absurd)
	for _, name := range []string{CPU, Memory, "example.com/device"} {
		if used.Get(name) != math.MaxInt64 || left.Get(name) >= 0 {
			t.Errorf("%s: %d used, %d left", name, used.Get(name), left.Get(name))
		}
	}
}

func TestNewResources(t *testing.T) {
	t.Parallel()
	got := NewResources(Amount{"b", 2}, Amount{"a", 1}, Amount{CPU, 5}, Amount{"b", 3}, Amount{"c", 1}, Amount{"c", -1}, Amount{"a", 0}, Amount{CPU, 5})
	if want := (Resources{CPU: 10, Extended: []Amount{{"a", 1}, {"b", 5}}}); !got.Equal(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if nothing := NewResources(Amount{"a", 1}, Amount{"a", -1}); !nothing.IsZero() || nothing.Extended != nil {
		t.Errorf("%+v is not nothing", nothing)
	}
}
