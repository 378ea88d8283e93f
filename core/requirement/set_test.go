package requirement_test

import (
	"encoding/json"
	"slices"
	"testing"

	. "tenon/core/requirement"
)

func TestSetText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		set  Set
		want string
	}{
		"nothing": {NewSet(), ""},
		"sorted by key": {
			NewSet(New("b", Exists), New("a", In, "y", "x"), New("a-b", DoesNotExist), New("c", Gte, "4").WithMinValues(2)),
			"a In [x y], a-b DoesNotExist, b Exists, c Exists >=4 minValues 2",
		},
		"the hostname is left out": {
			NewSet(New(KeyHostname, In, "placeholder-1"), New(KeyArch, In, "arm64"), New(KeyZone, NotIn, "a")),
			"kubernetes.io/arch In [arm64], topology.kubernetes.io/zone NotIn [a]",
		},
		"repeated keys intersect": {
			NewSet(New("a", In, "1", "5", "9"), New("a", Gt, "2"), New("a", Lt, "7")),
			"a In [5]",
		},
		"labels": {
			FromLabels(map[string]string{"b": "2", "a": ""}),
			"a In [], b In [2]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.set.String(); got != tc.want {
				t.Errorf("String() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSetIsAValue(t *testing.T) {
	t.Parallel()
	list := []Requirement{New("b", Exists), New("a", In, "1", "2")}
	s := NewSet(list...)
	list[0] = New("z", Exists)
	want := "a In [1 2], b Exists"
	derived := map[string]string{
		s.With().String():                                       want,
		s.With(New("a", In, "2")).String():                      "a In [2], b Exists",
		s.With(New("0", Exists), New("c", Exists)).String():     "0 Exists, a In [1 2], b Exists, c Exists",
		s.Without("a", "x").String():                            "b Exists",
		s.Replaced(New("a", DoesNotExist)).String():             "a DoesNotExist, b Exists",
		s.Replaced(New("aa", In, "3")).String():                 "a In [1 2], aa In [3], b Exists",
		s.Replaced(New("c", In, "3")).String():                  "a In [1 2], b Exists, c In [3]",
		s.Intersect(NewSet(New("b", NotIn, "x"))).String():      "a In [1 2], b NotIn [x]",
		NewSet().Intersect(s).Replaced(New("b", Lt, "1")).Key(): NewSet(New("a", In, "1", "2"), New("b", Lt, "1")).Key(),
	}
	for got, want := range derived {
		if got != want {
			t.Errorf("derived %q, want %q", got, want)
		}
	}
	s.Keys()[0] = "y"
	if s.String() != want || !slices.Equal(s.Keys(), []string{"a", "b"}) || s.Len() != 2 {
		t.Errorf("the set changed to %q", s)
	}
}

func TestGetAndHas(t *testing.T) {
	t.Parallel()
	s := NewSet(New("a", In, "1"), New("c", DoesNotExist))
	cases := map[string]struct {
		want    string
		defined bool
	}{
		"a": {"a In [1]", true},
		"b": {"b Exists", false}, // "Undefined keys read as Exists."
		"c": {"c DoesNotExist or absent", true},
		"":  {" Exists", false},
		"d": {"d Exists", false},
	}
	for key, tc := range cases {
		if got := parts(s.Get(key)); got != tc.want || s.Has(key) != tc.defined {
			t.Errorf("Get(%q) = %q, Has is %v", key, got, s.Has(key))
		}
	}
	if s.Impossible() || !s.With(New("a", In, "2")).Impossible() {
		t.Error("Impossible() is wrong")
	}
	if !NewSet().IsZero() || s.IsZero() || !s.Without("a", "c").IsZero() {
		t.Error("IsZero() is wrong")
	}
}

func TestKeyTellsSetsApart(t *testing.T) {
	t.Parallel()
	different := []Set{
		{},
		NewSet(New("a", Exists)), NewSet(New("a", DoesNotExist)), NewSet(New("a", In)),
		NewSet(New("a", NotIn, "x")), NewSet(New("a", NotIn, "x"), New("a", Exists)),
		NewSet(New("a", In, "x")), NewSet(New("a", In, "x", "y")), NewSet(New("a", In, "xy")), NewSet(New("ax", In, "y")),
		NewSet(New("a", In, "x", "yz")), NewSet(New("a", In, "xy", "z")),
		NewSet(New("a", In, "x").WithMinValues(1)), NewSet(New("a", In, "")),
		NewSet(New("a", Gte, "0")), NewSet(New("a", Lte, "0")), NewSet(New("a", Gte, "0"), New("a", Lte, "0")),
		NewSet(New("a", Exists), New("b", Exists)), NewSet(New("b", Exists)),
	}
	for i, a := range different {
		for j, b := range different {
			if (a.Key() == b.Key()) != (i == j) || a.Equal(b) != (i == j) {
				t.Errorf("%q and %q: keys %q and %q", a, b, a.Key(), b.Key())
			}
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		r    Requirement
		want string
	}{
		"in":             {New("k", In, "b", "a"), `{"key":"k","in":["a","b"]}`},
		"not in":         {New("k", NotIn, "a"), `{"key":"k","notIn":["a"],"absent":true}`},
		"exists":         {New("k", Exists), `{"key":"k"}`},
		"does not exist": {New("k", DoesNotExist), `{"key":"k","in":[],"absent":true}`},
		"impossible":     {New("k", In), `{"key":"k","in":[]}`},
		"range with exclusions": {
			New("k", Gt, "0").Intersect(New("k", Lte, "9")).Intersect(New("k", NotIn, "5", "x")).WithMinValues(2),
			`{"key":"k","notIn":["5"],"gte":1,"lte":9,"minValues":2}`,
		},
		"a bound of zero":         {New("k", Gte, "0"), `{"key":"k","gte":0}`},
		"letters that are quoted": {New("k<", In, `a"b`, `ü`), `{"key":"k\u003c","in":["a\"b","ü"]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(tc.r)
			if err != nil || string(got) != tc.want {
				t.Errorf("written as %s, %v, want %s", got, err, tc.want)
			}
			checkRoundTrips(t, tc.r)
		})
	}
}

func TestJSONOfSets(t *testing.T) {
	t.Parallel()
	type holder struct {
		Set  Set `json:"set"`
		None Set `json:"none,omitzero"`
	}
	got, err := json.Marshal(holder{Set: NewSet(New("b", Exists), New("a", In, "x"))})
	if want := `{"set":[{"key":"a","in":["x"]},{"key":"b"}]}`; err != nil || string(got) != want {
		t.Errorf("written as %s, %v, want %s", got, err, want)
	}
	if got, err := json.Marshal(holder{}); err != nil || string(got) != `{"set":[]}` {
		t.Errorf("empty sets are written as %s, %v", got, err)
	}
	var read Set
	err = json.Unmarshal([]byte(`[{"key":"b"},{"key":"a","in":["y","x","x"]},{"key":"b","gte":3}]`), &read)
	if want := "a In [x y], b Exists >=3"; err != nil || read.String() != want {
		t.Errorf("read %q, %v, want %q", read, err, want)
	}
}

func TestJSONRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"crossed bounds":            `{"key":"k","gte":5,"lte":4}`,
		"in and notIn":              `{"key":"k","in":["a"],"notIn":["b"]}`,
		"in and bounds":             `{"key":"k","in":["1"],"gte":1}`,
		"absence of a set":          `{"key":"k","in":["a"],"absent":true}`,
		"absence of a range":        `{"key":"k","gte":1,"absent":true}`,
		"absence of exists":         `{"key":"k","absent":true}`,
		"absence, exclusion, range": `{"key":"k","notIn":["1"],"gte":1,"absent":true}`,
		"a negative minimum":        `{"key":"k","minValues":-1}`,
		"unknown fields":            `{"key":"k","regex":"x"}`,
		"the wrong type":            `{"key":1}`,
		"a list":                    `[]`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := New("k", In, "kept")
			r := kept
			if err := json.Unmarshal([]byte(text), &r); err == nil || !r.Equal(kept) {
				t.Errorf("%s read as %s, %v", text, r, err)
			}
			var s Set
			if err := json.Unmarshal([]byte("["+text+"]"), &s); err == nil {
				t.Errorf("[%s] read as %s", text, s)
			}
		})
	}
}

func TestJSONNullChangesNothing(t *testing.T) {
	t.Parallel()
	r := New("k", In, "kept")
	if err := json.Unmarshal([]byte("null"), &r); err != nil || r.String() != "k In [kept]" {
		t.Errorf("null read as %s, %v", r, err)
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		r    Requirement
		want []Entry
	}{
		"both bounds, each with the minimum": {
			New("k", Gte, "2").Intersect(New("k", Lte, "8")).WithMinValues(3),
			[]Entry{{"k", Gte, []string{"2"}, 3}, {"k", Lte, []string{"8"}, 3}},
		},
		"exclusions within a bound are not lost": {
			New("k", Gt, "2").Intersect(New("k", NotIn, "5", "1")),
			[]Entry{{"k", Gte, []string{"3"}, 0}, {"k", NotIn, []string{"5"}, 0}},
		},
		"values are sorted": {New("k", In, "b", "a"), []Entry{{"k", In, []string{"a", "b"}, 0}}},
		"exists":            {New("k", Exists), []Entry{{"k", Exists, nil, 0}}},
		"does not exist":    {New("k", DoesNotExist), []Entry{{"k", DoesNotExist, nil, 0}}},
		"not in":            {New("k", NotIn, "a"), []Entry{{"k", NotIn, []string{"a"}, 0}}},
		"not in, but there": {
			New("k", NotIn, "a").Intersect(New("k", Exists)),
			[]Entry{{"k", Exists, nil, 0}, {"k", NotIn, []string{"a"}, 0}},
		},
		"impossible": {
			New("k", In, "a").Intersect(New("k", In, "b")),
			[]Entry{{"k", Exists, nil, 0}, {"k", DoesNotExist, nil, 0}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same := func(a, b Entry) bool {
				return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values) && a.MinValues == b.MinValues
			}
			if got := tc.r.Entries(); !slices.EqualFunc(got, tc.want, same) {
				t.Errorf("Entries() = %+v, want %+v", got, tc.want)
			}
			checkRoundTrips(t, tc.r)
		})
	}
}
