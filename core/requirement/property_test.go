package requirement_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	. "tenon/core/requirement"
)

// eachSeed runs law for many generators, each made from a seed that failures show.
func eachSeed(t *testing.T, seeds uint64, law func(t *testing.T, random *rand.Rand)) {
	t.Helper()
	t.Parallel()
	for seed := range seeds {
		law(t, rand.New(rand.NewPCG(seed, 1)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestRequirementIsItsPredicate(t *testing.T) {
	outcomes := universe()
	eachSeed(t, 5000, func(t *testing.T, random *rand.Rand) {
		entries := randomEntries(random, "k")
		r := meaning(entries)
		possible := false
		for _, o := range outcomes {
			want := allHold(entries, o)
			possible = possible || want
			got := r.Has(o.value)
			if o.absent {
				got = r.MayBeAbsent()
			}
			if got != want {
				t.Errorf("%+v read as %s: %+v is %v, want %v", entries, parts(r), o, got, want)
			}
		}
		if r.Impossible() == possible {
			t.Errorf("%+v read as %s: possible is %v", entries, parts(r), possible)
		}
		if value, ok := r.Any(); ok && !r.Has(value) {
			t.Errorf("%+v: Any() gives %q", entries, value)
		} else if _, negative := r.AtMost(); !ok && r.Len() > 0 && !negative {
			t.Errorf("%+v: Any() gives nothing for %s", entries, r)
		}
	})
}

func TestIntersectionIsConjunction(t *testing.T) {
	outcomes := universe()
	eachSeed(t, 5000, func(t *testing.T, random *rand.Rand) {
		first, second := randomEntries(random, "k"), randomEntries(random, "k")
		a, b := meaning(first), meaning(second)
		before := NewSet(a).Key() + NewSet(b).Key()
		both := a.Intersect(b)

		shared, sharedAbsent := false, false
		for _, o := range outcomes {
			want := allHold(first, o) && allHold(second, o)
			if o.absent {
				sharedAbsent = want
			} else {
				shared = shared || want
			}
			if got := both.Has(o.value); !o.absent && got != want {
				t.Errorf("(%s) ∩ (%s) = %s: has %q is %v", a, b, both, o.value, got)
			}
		}
		if a.Intersects(b) != shared || b.Intersects(a) != shared {
			t.Errorf("(%s).Intersects(%s) is %v", parts(a), parts(b), !shared)
		}
		if got := a.Compatible(b); got != (shared || sharedAbsent) || got != b.Compatible(a) {
			t.Errorf("(%s).Compatible(%s) is %v", parts(a), parts(b), got)
		}
		if both.MayBeAbsent() != sharedAbsent || both.Impossible() == (shared || sharedAbsent) {
			t.Errorf("(%s) ∩ (%s) = %s", parts(a), parts(b), parts(both))
		}
		if NewSet(a).Key()+NewSet(b).Key() != before {
			t.Errorf("an operand changed: %s, %s", a, b)
		}
	})
}

// TestOneMeaningHasOneForm means that requirements can be compared by their parts.
func TestOneMeaningHasOneForm(t *testing.T) {
	outcomes := universe()
	eachSeed(t, 300, func(t *testing.T, random *rand.Rand) {
		var all []Requirement
		for range 20 {
			all = append(all, meaning(randomEntries(random, "k")).WithMinValues(0))
		}
		for _, a := range all {
			for _, b := range all {
				same := !slices.ContainsFunc(outcomes, func(o outcome) bool {
					if o.absent {
						return a.MayBeAbsent() != b.MayBeAbsent()
					}
					return a.Has(o.value) != b.Has(o.value)
				})
				if a.Equal(b) != same && !atTheEnds(a) && !atTheEnds(b) {
					t.Errorf("%s and %s: Equal is %v", parts(a), parts(b), a.Equal(b))
				}
				if keys := NewSet(a).Key() == NewSet(b).Key(); keys != a.Equal(b) {
					t.Errorf("%s and %s: same key is %v", parts(a), parts(b), keys)
				}
			}
		}
	})
}

// atTheEnds is true for bounds that bound nothing: at most the largest integer and at
// least the smallest one both mean "an integer", and are kept as they were written.
func atTheEnds(r Requirement) bool {
	low, bounded := r.AtLeast()
	high, capped := r.AtMost()
	return bounded && slices.Contains([]int64{-1 << 63, 1<<63 - 1}, low) ||
		capped && slices.Contains([]int64{-1 << 63, 1<<63 - 1}, high)
}

func TestIntersectionLaws(t *testing.T) {
	eachSeed(t, 3000, func(t *testing.T, random *rand.Rand) {
		a := meaning(randomEntries(random, "k"))
		b := meaning(randomEntries(random, "k"))
		c := meaning(randomEntries(random, "k"))
		if !a.Intersect(b).Equal(b.Intersect(a)) {
			t.Errorf("(%s) ∩ (%s) depends on the order", a, b)
		}
		if left, right := a.Intersect(b).Intersect(c), a.Intersect(b.Intersect(c)); !left.Equal(right) {
			t.Errorf("(%s) ∩ (%s) ∩ (%s) is %s or %s", a, b, c, parts(left), parts(right))
		}
		if !a.Intersect(a).Equal(a) {
			t.Errorf("(%s) ∩ itself is %s", a, a.Intersect(a))
		}
		if want := max(a.MinValues(), b.MinValues()); a.Intersect(b).MinValues() != want {
			t.Errorf("(%s) ∩ (%s) has not the larger minimum", a, b)
		}
	})
}

func TestRoundTrips(t *testing.T) {
	eachSeed(t, 3000, func(t *testing.T, random *rand.Rand) {
		checkRoundTrips(t, meaning(randomEntries(random, "k")))
	})
}

func checkRoundTrips(t *testing.T, r Requirement) {
	t.Helper()
	if back := meaning(r.Entries()); !back.Equal(r) {
		t.Errorf("%s became %s through entries %+v", parts(r), parts(back), r.Entries())
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("write %s: %v", r, err)
	}
	var back Requirement
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("read %s: %v", data, err)
	}
	if !back.Equal(r) {
		t.Errorf("%s became %s through %s", parts(r), parts(back), data)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != string(data) {
		t.Errorf("%s was written again as %s, %v", data, again, err)
	}
}

// keys of generated sets.
var keys = []string{"a", "b", "c", "d", "e"}

// randomSide is a set, and by key the entries that it was made of.
func randomSide(random *rand.Rand) (Set, map[string][]Entry) {
	entries := map[string][]Entry{}
	var list []Requirement
	for _, key := range keys {
		if random.IntN(2) == 0 {
			continue
		}
		entries[key] = randomEntries(random, key)
		for _, e := range entries[key] {
			list = append(list, meaning([]Entry{e}))
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return NewSet(list...), entries
}

// acceptable tells whether some outcome for key satisfies both sides, where a key that
// the node's side does not mention is absent unless anything may be there.
func acceptable(node, incoming map[string][]Entry, key string, undefined KeySet) bool {
	defined, found := node[key]
	return slices.ContainsFunc(universe(), func(o outcome) bool {
		if !found && !undefined.Contains(key) && !o.absent {
			return false
		}
		return allHold(defined, o) && allHold(incoming[key], o)
	})
}

func TestCompatibleIsExact(t *testing.T) {
	eachSeed(t, 3000, func(t *testing.T, random *rand.Rand) {
		node, nodeEntries := randomSide(random)
		incoming, incomingEntries := randomSide(random)
		undefined := NewKeySet(keys[random.IntN(len(keys))], keys[random.IntN(len(keys))])
		before := node.Key() + incoming.Key()

		var wrong []string
		for _, key := range incoming.Keys() {
			if !acceptable(nodeEntries, incomingEntries, key, undefined) {
				wrong = append(wrong, key)
			}
		}
		if got := node.Compatible(incoming, undefined); got != (len(wrong) == 0) {
			t.Errorf("(%s).Compatible(%s, %v) is %v, wrong are %q", node, incoming, undefined.Sorted(), got, wrong)
		}
		mismatch, found := node.FindMismatch(incoming, undefined)
		if found != (len(wrong) > 0) || found && !slices.Contains(wrong, mismatch.Key()) || found == (mismatch.Code() == Agreement) {
			t.Errorf("(%s).FindMismatch(%s, %v) is %v %q, wrong are %q", node, incoming, undefined.Sorted(), found, mismatch, wrong)
		}
		if node.Key()+incoming.Key() != before {
			t.Errorf("an operand changed: %s, %s", node, incoming)
		}
	})
}

func TestSetsIntersectKeyByKey(t *testing.T) {
	outcomes := universe()
	eachSeed(t, 2000, func(t *testing.T, random *rand.Rand) {
		a, aEntries := randomSide(random)
		b, bEntries := randomSide(random)
		both := a.Intersect(b)
		agree := true
		for _, key := range keys {
			_, inA := aEntries[key]
			_, inB := bEntries[key]
			if both.Has(key) != (inA || inB) {
				t.Errorf("(%s) ∩ (%s) = %s", a, b, both)
			}
			some := false
			for _, o := range outcomes {
				want := allHold(aEntries[key], o) && allHold(bEntries[key], o)
				some = some || want
				r := both.Get(key)
				if got := r.Has(o.value); both.Has(key) && !o.absent && got != want {
					t.Errorf("(%s) ∩ (%s) = %s: %q of %s is %v", a, b, both, o.value, key, got)
				}
			}
			agree = agree && (some || !inA || !inB)
		}
		if a.Intersects(b) != agree || b.Intersects(a) != agree {
			t.Errorf("(%s).Intersects(%s) is %v", a, b, !agree)
		}
		if _, conflicts := a.FindConflict(b); conflicts == agree {
			t.Errorf("(%s).FindConflict(%s) is %v", a, b, conflicts)
		}
		if !both.Equal(b.Intersect(a)) || !a.With(slices.Collect(b.All())...).Equal(both) || !a.Intersect(a).Equal(a) {
			t.Errorf("(%s) ∩ (%s) depends on the order", a, b)
		}
	})
}

func TestSetRoundTrips(t *testing.T) {
	eachSeed(t, 1000, func(t *testing.T, random *rand.Rand) {
		s, _ := randomSide(random)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("write %s: %v", s, err)
		}
		var back Set
		if err := json.Unmarshal(data, &back); err != nil || !back.Equal(s) || back.Key() != s.Key() {
			t.Errorf("%s became %s through %s: %v", s, back, data, err)
		}
		parsed, err := Vocabulary{}.Parse(s.Entries()...)
		if err != nil || !parsed.Equal(s) {
			t.Errorf("%s became %s through %+v: %v", s, parsed, s.Entries(), err)
		}
	})
}

// TestListsOfAnyLength covers the ways that lists are searched, which depend on lengths.
func TestListsOfAnyLength(t *testing.T) {
	eachSeed(t, 2000, func(t *testing.T, random *rand.Rand) {
		list := func() []string {
			out := make([]string, random.IntN(1<<random.IntN(7)))
			for i := range out {
				out[i] = string(rune('!' + random.IntN(90)))
			}
			return out
		}
		a, b := list(), list()
		first, second, without := New("k", In, a...), New("k", In, b...), New("k", NotIn, b...)
		shared, left := false, false
		for _, value := range a {
			inBoth := slices.Contains(b, value)
			shared, left = shared || inBoth, left || !inBoth
			if !first.Has(value) || second.Has(value) != inBoth || first.Intersect(second).Has(value) != inBoth || first.Intersect(without).Has(value) == inBoth {
				t.Errorf("%q of %q and %q", value, a, b)
			}
		}
		if first.Intersects(second) != shared || second.Intersects(first) != shared || first.Intersects(without) != left {
			t.Errorf("%q and %q: shared is %v, left is %v", a, b, shared, left)
		}
	})
}
