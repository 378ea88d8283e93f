package requirement_test

import (
	"testing"

	. "tenon/core/requirement"
)

// verdicts of a pod's requirement on one key, in the columns of the specification's
// matrix "Outcome matrix for a pod requirement on key K".
type verdicts struct {
	wellKnown   string // new claim, K well-known, pool silent
	custom      string // new claim, K custom, pool silent
	defined     map[string]bool
	nodeWithout string
	nodeWith    map[string]bool // by the node's value of K
	types       map[string]bool // claim narrowed on a well-known K: types that stay
}

const accepted = ""

// pools define K in all the ways that they can.
var pools = map[string]Requirement{
	"In 1 2":       New("K", In, "1", "2"),
	"In x":         New("K", In, "x"),
	"NotIn 1":      New("K", NotIn, "1"),
	"Exists":       New("K", Exists),
	"DoesNotExist": New("K", DoesNotExist),
	"Gte 2":        New("K", Gte, "2"),
	"Lte 1":        New("K", Lte, "1"),
}

const (
	unknownK    = `label "K" does not have known values`
	unknownZone = `label "topology.kubernetes.io/zone" does not have known values`
)

func TestOutcomeMatrix(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		operator Operator
		values   []string
		want     verdicts
	}{
		"In": {In, []string{"1", "3"}, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": true, "In x": false, "NotIn 1": true, "Exists": true, "DoesNotExist": false, "Gte 2": true, "Lte 1": true},
			nodeWith: map[string]bool{"1": true, "2": false, "3": true, "x": false, "": false},
			types:    map[string]bool{"In 1 2": true, "In x": false, "DoesNotExist": false},
		}},
		"In a single value that the pool excludes": {In, []string{"1"}, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": true, "In x": false, "NotIn 1": false, "Exists": true, "DoesNotExist": false, "Gte 2": false, "Lte 1": true},
			nodeWith: map[string]bool{"1": true, "2": false},
			types:    map[string]bool{"In 1 2": true, "In x": false, "DoesNotExist": false},
		}},
		"NotIn": {NotIn, []string{"1", "2"}, verdicts{
			wellKnown: accepted, custom: accepted, nodeWithout: accepted,
			defined:  map[string]bool{"In 1 2": false, "In x": true, "NotIn 1": true, "Exists": true, "DoesNotExist": true, "Gte 2": true, "Lte 1": true},
			nodeWith: map[string]bool{"1": false, "2": false, "3": true, "x": true, "": true},
			types:    map[string]bool{"In 1 2": false, "In x": true, "DoesNotExist": true},
		}},
		"Exists": {Exists, nil, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": true, "In x": true, "NotIn 1": true, "Exists": true, "DoesNotExist": false, "Gte 2": true, "Lte 1": true},
			nodeWith: map[string]bool{"1": true, "x": true, "": true},
			types:    map[string]bool{"In 1 2": true, "In x": true, "DoesNotExist": false},
		}},
		"DoesNotExist": {DoesNotExist, nil, verdicts{
			wellKnown: accepted, custom: accepted, nodeWithout: accepted,
			defined:  map[string]bool{"In 1 2": false, "In x": false, "NotIn 1": true, "Exists": false, "DoesNotExist": true, "Gte 2": false, "Lte 1": false},
			nodeWith: map[string]bool{"1": false, "x": false, "": false},
			types:    map[string]bool{"In 1 2": false, "In x": false, "DoesNotExist": true},
		}},
		"Gt": {Gt, []string{"1"}, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": true, "In x": false, "NotIn 1": true, "Exists": true, "DoesNotExist": false, "Gte 2": true, "Lte 1": false},
			nodeWith: map[string]bool{"1": false, "2": true, "x": false, "": false},
			types:    map[string]bool{"In 1 2": true, "In x": false, "DoesNotExist": false},
		}},
		"Lt": {Lt, []string{"2"}, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": true, "In x": false, "NotIn 1": true, "Exists": true, "DoesNotExist": false, "Gte 2": false, "Lte 1": true},
			nodeWith: map[string]bool{"1": true, "2": false, "x": false},
			types:    map[string]bool{"In 1 2": true, "In x": false, "DoesNotExist": false},
		}},
		"Gte": {Gte, []string{"3"}, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": false, "In x": false, "NotIn 1": true, "Exists": true, "DoesNotExist": false, "Gte 2": true, "Lte 1": false},
			nodeWith: map[string]bool{"2": false, "3": true, "x": false},
			types:    map[string]bool{"In 1 2": false, "In x": false, "DoesNotExist": false},
		}},
		"Lte": {Lte, []string{"1"}, verdicts{
			wellKnown: accepted, custom: unknownK, nodeWithout: unknownZone,
			defined:  map[string]bool{"In 1 2": true, "In x": false, "NotIn 1": true, "Exists": true, "DoesNotExist": false, "Gte 2": false, "Lte 1": true},
			nodeWith: map[string]bool{"1": true, "2": false, "x": false},
			types:    map[string]bool{"In 1 2": true, "In x": false, "DoesNotExist": false},
		}},
	}
	known := Core().WellKnown()
	silent := NewSet(New(KeyArch, In, "amd64"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			custom := NewSet(New("K", tc.operator, tc.values...))
			zone := NewSet(New(KeyZone, tc.operator, tc.values...))
			checkVerdict(t, "new claim, well-known", silent, zone, known, tc.want.wellKnown)
			checkVerdict(t, "new claim, custom", silent, custom, known, tc.want.custom)
			checkVerdict(t, "node without the label", FromLabels(map[string]string{KeyArch: "amd64"}), zone, KeySet{}, tc.want.nodeWithout)
			for pool, want := range tc.want.defined {
				if got := silent.With(pools[pool]).Compatible(custom, known); got != want {
					t.Errorf("pool with K %s: %v, want %v", pool, got, want)
				}
			}
			for value, want := range tc.want.nodeWith {
				if got := FromLabels(map[string]string{"K": value}).Compatible(custom, KeySet{}); got != want {
					t.Errorf("node with K=%q: %v, want %v", value, got, want)
				}
			}
			claim := NewSet().Intersect(custom)
			for declared, want := range tc.want.types {
				if got := NewSet(pools[declared]).Intersects(claim); got != want {
					t.Errorf("type with K %s: %v, want %v", declared, got, want)
				}
			}
			if !silent.Intersects(claim) {
				t.Error("a type that says nothing about K drops out")
			}
		})
	}
}

func checkVerdict(t *testing.T, column string, existing, incoming Set, undefined KeySet, want string) {
	t.Helper()
	mismatch, found := existing.FindMismatch(incoming, undefined)
	if got := mismatch.String(); got != want || found != (want != accepted) {
		t.Errorf("%s: %q, want %q", column, got, want)
	}
	if got := existing.Compatible(incoming, undefined); got == found {
		t.Errorf("%s: Compatible is %v but FindMismatch gives %q", column, got, mismatch)
	}
}

// TestPodsOnOneKeyTogether covers requirements of several entries, which the reference
// cannot tell from DoesNotExist or NotIn. Kubernetes demands every expression.
func TestPodsOnOneKeyTogether(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node, pod Set
		undefined KeySet
		want      string
	}{
		"exists with not-in needs the label": {
			node: NewSet(), pod: NewSet(New("K", Exists), New("K", NotIn, "a")),
			want: unknownK,
		},
		"in a and in b cannot be absent instead": {
			node: NewSet(), pod: NewSet(New("K", In, "a"), New("K", In, "b")),
			want: "key K, its requirements exclude every value",
		},
		"nor may a well-known label hide the contradiction": {
			node: NewSet(), pod: NewSet(New("K", In, "a"), New("K", In, "b")), undefined: NewKeySet("K"),
			want: "key K, its requirements exclude every value",
		},
		"a claim that needs the label takes no pod without": {
			node: NewSet(New("K", Exists), New("K", NotIn, "a")), pod: NewSet(New("K", DoesNotExist)),
			want: "key K, K DoesNotExist not in K NotIn [a]",
		},
		"ranges with exclusions must overlap": {
			node: NewSet(New("K", Gt, "5"), New("K", NotIn, "7")), pod: NewSet(New("K", Lt, "3"), New("K", NotIn, "1")),
			want: "key K, K NotIn [1] <=2 not in K NotIn [7] >=6",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkVerdict(t, name, tc.node, tc.pod, tc.undefined, tc.want)
		})
	}
}
