package requirement_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "tenon/core/requirement"
)

// FuzzParse reads arbitrary entries: what is accepted means the same through both of its
// written forms, and New never contradicts Parse.
func FuzzParse(f *testing.F) {
	for _, operator := range Operators() {
		f.Add("key", string(operator), "1", 0, "2")
		f.Add("example.com/key", string(operator), "b,a,,a", 2, "a")
	}
	f.Add("k", "Gt", maxInt, 3, maxInt)
	f.Add("k", "Lt", minInt, 0, minInt)
	f.Add("k", "Lte", aboveMaxInt, 0, "-0")
	f.Add("", "", "", -1, "\xff")
	f.Fuzz(func(t *testing.T, key, operator, values string, minValues int, probe string) {
		e := Entry{Key: key, Operator: Operator(operator), MinValues: minValues}
		if values != "" {
			e.Values = strings.Split(values, ",")
		}
		r, err := Parse(e)
		if err != nil {
			if r.Has(probe) || r.MayBeAbsent() {
				t.Fatalf("refused %+v is satisfied by something: %s", e, r)
			}
			return
		}
		if got, want := r.Has(probe), holds(e, outcome{value: probe}); got != want {
			t.Errorf("%+v has %q: %v, want %v", e, probe, got, want)
		}
		if got, want := r.MayBeAbsent(), holds(e, outcome{absent: true}); got != want {
			t.Errorf("%+v may be absent: %v, want %v", e, got, want)
		}
		if made := New(key, e.Operator, e.Values...).WithMinValues(r.MinValues()); !made.Equal(r) {
			t.Errorf("New gives %s, Parse %s", made, r)
		}
		if utf8.ValidString(key) && utf8.ValidString(values) { // JSON has no other texts, nor have labels
			checkRoundTrips(t, r)
		}
		if value, ok := r.Any(); ok && !r.Has(value) {
			t.Errorf("%s.Any() is %q", r, value)
		}
	})
}

// FuzzJSON reads arbitrary bytes: what is accepted is written once and for all.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`[{"key":"b","in":["x","a","x"]},{"key":"a","notIn":["y"],"absent":true},{"key":"b","gte":1}]`))
	f.Add([]byte(`[{"key":"a","in":[],"absent":true},{"key":"c","notIn":["5","z"],"gte":1,"lte":9,"minValues":2}]`))
	f.Add([]byte(`[{"key":"a","gte":5,"lte":4}]`))
	f.Add([]byte(`[{"key":"a","in":null}, null]`))
	f.Add([]byte(`[{"key":"a\u0000&","in":["\"\\"," ","\ufffd"]}]`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Set
		if err := json.Unmarshal(data, &s); err != nil {
			return
		}
		written, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("write %s: %v", s, err)
		}
		var back Set
		if err := json.Unmarshal(written, &back); err != nil || !back.Equal(s) {
			t.Fatalf("%s became %s through %s: %v", s, back, written, err)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != string(written) {
			t.Errorf("%s was written again as %s, %v", written, again, err)
		}
		parsed, err := Vocabulary{}.Parse(s.Entries()...)
		if err != nil || !parsed.Equal(s) {
			t.Errorf("%s became %s through %+v: %v", s, parsed, s.Entries(), err)
		}
	})
}

// FuzzHas compares membership in a range with what strconv reads.
func FuzzHas(f *testing.F) {
	for _, value := range []string{"", "0", "-0", "+7", "007", "7x", "-", "+", maxInt, minInt, aboveMaxInt, belowMinInt, "99999999999999999999", "1e3", "١"} {
		f.Add(value, int64(7))
	}
	f.Fuzz(func(t *testing.T, value string, bound int64) {
		n, err := strconv.ParseInt(value, 10, 64)
		operand := strconv.FormatInt(bound, 10)
		if got, want := New("k", Gte, operand).Has(value), err == nil && n >= bound; got != want {
			t.Errorf("%q >= %d is %v", value, bound, got)
		}
		if got, want := New("k", Lte, operand).Has(value), err == nil && n <= bound; got != want {
			t.Errorf("%q <= %d is %v", value, bound, got)
		}
	})
}

// FuzzSyntax checks the rules for keys and values against each other: a key without a
// domain is well formed exactly when it is a value that is not empty.
func FuzzSyntax(f *testing.F) {
	for _, text := range []string{"", "a", "a/b", "A.b/c", "a_", strings.Repeat("x", 64), "é", "a\x00b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "/") {
			if len(ValueProblems(text)) == 0 {
				t.Errorf("%q is a value", text)
			}
			return
		}
		key, value := len(KeyProblems(text)) == 0, len(ValueProblems(text)) == 0
		if key != (value && text != "") {
			t.Errorf("%q: key is %v, value is %v", text, key, value)
		}
	})
}

// FuzzMismatch renders arbitrary keys, with hints.
func FuzzMismatch(f *testing.F) {
	f.Add("topology.kubernetes.io/zoen", "example.com/x")
	f.Add("", "/")
	f.Add("zone", "zone2")
	f.Fuzz(func(t *testing.T, asked, defined string) {
		existing := NewSet(New(defined, In, "a"))
		mismatch, found := existing.FindMismatch(NewSet(New(asked, In, "a")), Core().WellKnown())
		if found != (asked != defined && !Core().IsWellKnown(asked)) {
			t.Fatalf("found %v: %q", found, mismatch)
		}
		if hint, ok := mismatch.Hint(); ok && (hint == asked || hint != defined && !Core().IsWellKnown(hint)) {
			t.Errorf("hint for %q is %q", asked, hint)
		}
		if found && !strings.HasPrefix(mismatch.String(), "label "+strconv.Quote(asked)) {
			t.Errorf("text is %q", mismatch)
		}
	})
}
