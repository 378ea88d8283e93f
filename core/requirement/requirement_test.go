package requirement_test

import (
	"math"
	"slices"
	"testing"

	. "tenon/core/requirement"
)

const (
	maxInt      = "9223372036854775807"
	minInt      = "-9223372036854775808"
	aboveMaxInt = "9223372036854775808"
	belowMinInt = "-9223372036854775809"
)

// parts are everything that can be seen of a requirement, as one line.
func parts(r Requirement) string {
	text := r.String()
	if r.MayBeAbsent() {
		text += " or absent"
	}
	if r.Impossible() {
		text += " impossible"
	}
	return text
}

// TestOperators has a row for each row of the table "Operator, Representation", and for
// what is special at the ends of the integers.
func TestOperators(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		entry    Entry
		want     string
		operator Operator
		has, not []string
	}{
		"in": {
			entry: Entry{Operator: In, Values: []string{"b", "a", "b"}},
			want:  "k In [a b]", operator: In,
			has: []string{"a", "b"}, not: []string{"", "c", "ab"},
		},
		"in the empty value": {
			entry: Entry{Operator: In, Values: []string{""}},
			want:  "k In []", operator: In,
			has: []string{""}, not: []string{"a"},
		},
		"in nothing": {
			entry: Entry{Operator: In},
			want:  "k DoesNotExist impossible", operator: DoesNotExist,
			not: []string{"", "a", "1"},
		},
		"not in": {
			entry: Entry{Operator: NotIn, Values: []string{"b", "a"}},
			want:  "k NotIn [a b] or absent", operator: NotIn,
			has: []string{"", "c", "7"}, not: []string{"a", "b"},
		},
		"not in nothing reads as exists": {
			entry: Entry{Operator: NotIn},
			want:  "k Exists", operator: Exists,
			has: []string{"", "a", "1"},
		},
		"exists": {
			entry: Entry{Operator: Exists},
			want:  "k Exists", operator: Exists,
			has: []string{"", "a", "-1"},
		},
		"does not exist": {
			entry: Entry{Operator: DoesNotExist},
			want:  "k DoesNotExist or absent", operator: DoesNotExist,
			not: []string{"", "a", "1"},
		},
		"greater than": {
			entry: Entry{Operator: Gt, Values: []string{"4"}},
			want:  "k Exists >=5", operator: Exists,
			has: []string{"5", "05", "+5", "100", maxInt}, not: []string{"4", "-5", "", "a", "5.5", "5a", aboveMaxInt},
		},
		"greater than the largest integer": {
			entry: Entry{Operator: Gt, Values: []string{maxInt}, MinValues: 3},
			want:  "k DoesNotExist impossible", operator: DoesNotExist,
			not: []string{maxInt, "0"},
		},
		"less than": {
			entry: Entry{Operator: Lt, Values: []string{"4"}},
			want:  "k Exists <=3", operator: Exists,
			has: []string{"3", "0", "-7", minInt}, not: []string{"4", "", "a", belowMinInt},
		},
		"less than the smallest integer": {
			entry: Entry{Operator: Lt, Values: []string{minInt}},
			want:  "k DoesNotExist impossible", operator: DoesNotExist,
			not: []string{minInt, maxInt},
		},
		"less than zero": {
			entry: Entry{Operator: Lt, Values: []string{"0"}},
			want:  "k Exists <=-1", operator: Exists,
			has: []string{"-1"}, not: []string{"0", "1"},
		},
		"at least": {
			entry: Entry{Operator: Gte, Values: []string{"4"}},
			want:  "k Exists >=4", operator: Exists,
			has: []string{"4", maxInt}, not: []string{"3", "x"},
		},
		"at least the largest integer": {
			entry: Entry{Operator: Gte, Values: []string{maxInt}},
			want:  "k Exists >=" + maxInt, operator: Exists,
			has: []string{maxInt}, not: []string{"0"},
		},
		"at most": {
			entry: Entry{Operator: Lte, Values: []string{"4"}},
			want:  "k Exists <=4", operator: Exists,
			has: []string{"4", "-4"}, not: []string{"5", "x"},
		},
		"at most, with a minimum": {
			entry: Entry{Operator: Lte, Values: []string{"4"}, MinValues: 2},
			want:  "k Exists <=4 minValues 2", operator: Exists,
			has: []string{"4"}, not: []string{"5"},
		},
		"in, with a minimum": {
			entry: Entry{Operator: In, Values: []string{"a", "b", "c"}, MinValues: 2},
			want:  "k In [a b c] minValues 2", operator: In,
			has: []string{"a"}, not: []string{"d"},
		},
		"five values are shown": {
			entry: Entry{Operator: NotIn, Values: []string{"e", "d", "c", "b", "a"}},
			want:  "k NotIn [a b c d e] or absent", operator: NotIn,
			has: []string{"f"}, not: []string{"e"},
		},
		"of more values the rest is counted": {
			entry: Entry{Operator: In, Values: []string{"g", "f", "e", "d", "c", "b", "a"}, MinValues: 7},
			want:  "k In [a b c d e and 2 others] minValues 7", operator: In,
			has: []string{"g"}, not: []string{"h"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.entry.Key = "k"
			r, err := Parse(tc.entry)
			if err != nil {
				t.Fatalf("Parse(%+v): %v", tc.entry, err)
			}
			if got := parts(r); got != tc.want {
				t.Errorf("parts are %q, want %q", got, tc.want)
			}
			if r.Operator() != tc.operator || r.Key() != "k" {
				t.Errorf("operator %s on %q, want %s on \"k\"", r.Operator(), r.Key(), tc.operator)
			}
			for _, value := range tc.has {
				if !r.Has(value) {
					t.Errorf("%s does not have %q", r, value)
				}
			}
			for _, value := range tc.not {
				if r.Has(value) {
					t.Errorf("%s has %q", r, value)
				}
			}
			if direct := New("k", tc.entry.Operator, tc.entry.Values...).WithMinValues(r.MinValues()); !direct.Equal(r) {
				t.Errorf("New gives %s, Parse %s", direct, r)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		entry Entry
		want  string
	}{
		"an unknown operator":   {Entry{Key: "k", Operator: "in"}, `requirement on "k": unknown operator "in"`},
		"no operator":           {Entry{Key: "k"}, `requirement on "k": unknown operator ""`},
		"gt without a value":    {Entry{Key: "k", Operator: Gt}, `requirement on "k": operator Gt takes one value, not 0`},
		"lt with two values":    {Entry{Key: "k", Operator: Lt, Values: []string{"1", "2"}}, `requirement on "k": operator Lt takes one value, not 2`},
		"gte with a text":       {Entry{Key: "k", Operator: Gte, Values: []string{"two"}}, `requirement on "k": operator Gte takes an integer, not "two"`},
		"lte beyond 64 bits":    {Entry{Key: "k", Operator: Lte, Values: []string{aboveMaxInt}}, `requirement on "k": operator Lte takes an integer, not "` + aboveMaxInt + `"`},
		"lte with a sign only":  {Entry{Key: "k", Operator: Lte, Values: []string{"-"}}, `requirement on "k": operator Lte takes an integer, not "-"`},
		"a negative minimum":    {Entry{Key: "k", Operator: Exists, MinValues: -1}, `requirement on "k": minValues -1 is negative`},
		"underscores in digits": {Entry{Key: "k", Operator: Gt, Values: []string{"1_0"}}, `requirement on "k": operator Gt takes an integer, not "1_0"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Parse(tc.entry)
			if err == nil || err.Error() != tc.want {
				t.Errorf("Parse gives %v, want %s", err, tc.want)
			}
			if !r.Impossible() {
				t.Errorf("what is refused reads as %s", r)
			}
			if tc.entry.MinValues >= 0 && !New(tc.entry.Key, tc.entry.Operator, tc.entry.Values...).Impossible() {
				t.Error("New gives something that can be satisfied")
			}
		})
	}
}

func TestIntersect(t *testing.T) {
	t.Parallel()
	in := func(values ...string) Requirement { return New("k", In, values...) }
	notIn := func(values ...string) Requirement { return New("k", NotIn, values...) }
	gte := func(n string) Requirement { return New("k", Gte, n) }
	lte := func(n string) Requirement { return New("k", Lte, n) }
	exists, doesNotExist := New("k", Exists), New("k", DoesNotExist)
	cases := map[string]struct {
		a, b       Requirement
		want       string
		intersects bool
		compatible bool
	}{
		"sets meet":                       {in("a", "b"), in("b", "c"), "k In [b]", true, true},
		"sets do not meet":                {in("a"), in("b"), "k DoesNotExist impossible", false, false},
		"a set loses the excluded":        {in("a", "b"), notIn("b"), "k In [a]", true, true},
		"a set loses everything":          {in("b"), notIn("a", "b"), "k DoesNotExist impossible", false, false},
		"exclusions join":                 {notIn("a", "c"), notIn("b", "c"), "k NotIn [a b c] or absent", true, true},
		"exists makes not-in need it":     {notIn("a"), exists, "k NotIn [a]", true, true},
		"exists of a set":                 {in("a"), exists, "k In [a]", true, true},
		"exists and not":                  {exists, doesNotExist, "k DoesNotExist impossible", false, false},
		"absent is fine with not-in":      {notIn("a"), doesNotExist, "k DoesNotExist or absent", false, true},
		"absent twice":                    {doesNotExist, doesNotExist, "k DoesNotExist or absent", false, true},
		"absent and a set":                {doesNotExist, in("a"), "k DoesNotExist impossible", false, false},
		"bounds narrow":                   {gte("2").Intersect(lte("9")), gte("4").Intersect(lte("12")), "k Exists >=4 <=9", true, true},
		"bounds touch":                    {gte("4"), lte("4"), "k Exists >=4 <=4", true, true},
		"bounds cross":                    {gte("5"), lte("4"), "k DoesNotExist impossible", false, false},
		"bounds drop from a set":          {in("1", "4", "9", "x", ""), gte("4").Intersect(lte("8")), "k In [4]", true, true},
		"bounds of a set with no integer": {in("x"), gte("0"), "k DoesNotExist impossible", false, false},
		"bounds drop exclusions outside":  {notIn("1", "5", "x"), gte("4"), "k NotIn [5] >=4", true, true},
		"bounds drop all exclusions":      {notIn("1", "x"), gte("4"), "k Exists >=4", true, true},
		"bounds and absence":              {gte("4"), doesNotExist, "k DoesNotExist impossible", false, false},
		"the larger minimum wins":         {in("a", "b").WithMinValues(1), exists.WithMinValues(2), "k In [a b] minValues 2", true, true},
		"crossing keeps the minimum":      {gte("5").WithMinValues(2), lte("4"), "k DoesNotExist minValues 2 impossible", false, false},
		"many exclusions": {
			notIn("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"), in("j", "k"), "k In [k]", true, true,
		},
		"a range with all plain numbers excluded has others": {
			gte("5").Intersect(lte("5")), notIn("5"), "k NotIn [5] >=5 <=5", true, true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]Requirement{{tc.a, tc.b}, {tc.b, tc.a}} {
				if got := parts(pair[0].Intersect(pair[1])); got != tc.want {
					t.Errorf("(%s) ∩ (%s) = %q, want %q", pair[0], pair[1], got, tc.want)
				}
				if got := pair[0].Intersects(pair[1]); got != tc.intersects {
					t.Errorf("(%s).Intersects(%s) = %v", pair[0], pair[1], got)
				}
				if got := pair[0].Compatible(pair[1]); got != tc.compatible {
					t.Errorf("(%s).Compatible(%s) = %v", pair[0], pair[1], got)
				}
			}
		})
	}
}

func TestAny(t *testing.T) {
	t.Parallel()
	all := func(rs ...Requirement) Requirement {
		out := New("k", Exists)
		for _, r := range rs {
			out = out.Intersect(r)
		}
		return out
	}
	cases := map[string]struct {
		r    Requirement
		want string
		ok   bool
	}{
		"the first of a set":               {New("k", In, "b", "a"), "a", true},
		"the empty value":                  {New("k", In, "", "a"), "", true},
		"exists":                           {New("k", Exists), "0", true},
		"excluded values are stepped over": {New("k", NotIn, "0", "1", "3"), "2", true},
		"within bounds":                    {all(New("k", Gt, "6"), New("k", Lt, "9"), New("k", NotIn, "7")), "8", true},
		"negative lower bound":             {New("k", Gte, "-5"), "0", true},
		"the largest integer":              {New("k", Gte, maxInt), maxInt, true},
		"all plain numbers excluded":       {all(New("k", Gte, "5"), New("k", Lte, "6"), New("k", NotIn, "5", "6", "05")), "06", true},
		"largest integer excluded":         {all(New("k", Gte, maxInt), New("k", NotIn, maxInt)), "0" + maxInt, true},
		"below zero there is no label":     {New("k", Lt, "0"), "", false},
		"does not exist":                   {New("k", DoesNotExist), "", false},
		"impossible":                       {New("k", In), "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := tc.r.Any()
			if got != tc.want || ok != tc.ok {
				t.Errorf("(%s).Any() = %q, %v, want %q, %v", tc.r, got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestAccessors(t *testing.T) {
	t.Parallel()
	r := New("k", Gte, "2").Intersect(New("k", Lte, "7")).Intersect(New("k", NotIn, "3"))
	low, hasLow := r.AtLeast()
	high, hasHigh := r.AtMost()
	if low != 2 || high != 7 || !hasLow || !hasHigh || !r.Complement() {
		t.Errorf("bounds %d %v, %d %v of %s", low, hasLow, high, hasHigh, r)
	}
	if got := r.Len(); got != math.MaxInt-1 {
		t.Errorf("Len() = %d", got)
	}
	if got := New("k", In, "a", "b", "a").Len(); got != 2 {
		t.Errorf("Len() of two values = %d", got)
	}
	if value, ok := New("k", In, "a").Single(); value != "a" || !ok {
		t.Errorf("Single() = %q, %v", value, ok)
	}
	for _, many := range []Requirement{New("k", In, "a", "b"), New("k", NotIn, "a"), New("k", DoesNotExist)} {
		if value, ok := many.Single(); ok {
			t.Errorf("(%s).Single() = %q", many, value)
		}
	}
	if got := slices.Collect(New("k", In, "b", "a").All()); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("All() = %q", got)
	}
	if got := New("k", Exists).WithMinValues(-3).MinValues(); got != 0 {
		t.Errorf("a negative minimum reads as %d", got)
	}
}

func TestCallersKeepTheirSlices(t *testing.T) {
	t.Parallel()
	mine := []string{"b", "a"}
	r := New("k", In, mine...)
	mine[0] = "z"
	r.Values()[0] = "y"
	r.Entries()[0].Values[0] = "x"
	if got := r.String(); got != "k In [a b]" {
		t.Errorf("the requirement changed to %s", got)
	}
}
