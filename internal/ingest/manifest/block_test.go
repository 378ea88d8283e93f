package manifest

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// plainCases are texts and whether plainYAML reads them itself.
var plainCases = map[string]struct {
	text string
	own  bool
}{
	"a pod as kubectl prints it": {liveLike(1), true},
	"scalars":                    {"a: 1\nb: -2\nc: text\nd: true\ne: ~\nf: 1.5\ng: 100m\nh: 0x10\ni: 010\nj: 1e3\nk: 2026-01-01\nl: 2026-01-01T00:00:00Z\nm: 5d8f9c\no: .5\np: 1_000\nq: +5\nr: -\u0020x\n", false},
	"numbers and near numbers":   {"a: 1\nb: -2\nf: 1.5\ng: 100m\nh: 0x10\ni: 010\nj: 1e3\nk: 2026-01-01\nl: 2026-01-01T00:00:00Z\nm: 5d8f9c\no: .5\np: 1_000\nq: +5\nr: 12345678901234567890\ns: -0\nt: 0\nu: 1.2.3\nv: 7a3b8c9d-1111\n", true},
	"a separator that is none":   {"c: ---\nd: --- x\n", true},
	"literal without an end":     {"a: |\n ne\n   \n w", false},
	"infinity":                   {"a: .inf\n", false},
	"words":                      {"a: yes\nb: no\nc: on\nd: off\ne: null\nf: Null\ng: nO\nh: y\n", true},
	"a key that is a word":       {"y: 1\n", false},
	"a key that is a number":     {"1: a\n", false},
	"keys with signs":            {"a.b/c-d: 1\n'quoted key': 2\n\"another\": 3\n", true},
	"no values":                  {"a:\nb:\n  c:\nd: # nothing\n", true},
	"sequences":                  {"a:\n- 1\n- b: 2\n  c: 3\n-\n  d: 4\n-   e: 5\n    f: 6\n- - 7\n  - 8\n-\nb:\n  - 9\n", true},
	"indentation goes back":      {"a:\n    b: 1\n  c: 2\n", false},
	"indentation goes on":        {"a: 1\n  b: 2\n", false},
	"comments":                   {"# one\na: 1 # two\n# three\nb: # four\n  # five\n  c: a#b\n", true},
	"single quotes":              {"a: 'it''s'\nb: ''\nc: 'two\n  lines'\nd: 'x: y' # no\n", true},
	"double quotes":              {"a: \"x\\\"y\\\\z\\n\"\nb: \"\"\n", true},
	"rare escapes":               {"a: \"\\u0041\"\n", false},
	"double quotes, two lines":   {"a: \"x\n  y\"\n", false},
	"plain, several lines":       {"a: one\n  two three\n   four\nb: 1\n  2\n", true},
	"plain, blank line inside":   {"a: one\n\n  two\n", false},
	"literal":                    {"a: |\n  one\n    two\n\n  three\n\nb: |-\n  x\nc: 1\n", true},
	"literal in a sequence":      {"a:\n- |\n  one\n- 2\n", true},
	"literal, empty":             {"a: |\nb: 1\n", false},
	"folded":                     {"a: >\n  one\n  two\n", false},
	"flow":                       {"a: {b: 1, c: [x, \"y\", 'z', {}], d: {}}\ne: []\nf: [ a , b ]\n", true},
	"flow, several lines":        {"a: [b,\n  c]\n", false},
	"flow, trailing comma":       {"a: [b, ]\n", false},
	"flow, no space":             {"a: {b:1}\n", false},
	"anchor":                     {"a: &x 1\nb: *x\n", false},
	"tag":                        {"a: !!str 1\n", false},
	"two keys alike":             {"a: 1\na: 2\n", false},
	"tab":                        {"a:\t1\n", false},
	"beyond ASCII":               {"a: é\n", false},
	"colon inside":               {"a: b:c\nd: http://x:80/\n", true},
	"colon and space inside":     {"a: b: c\n", false},
	"merge key":                  {"<<: {a: 1}\n", false},
	"only a scalar":              {"abc\n", false},
	"nothing":                    {"# nothing\n", false},
	"end marker":                 {"a: 1\n...\n", false},
}

func TestPlainYAML(t *testing.T) {
	t.Parallel()
	for name, tc := range plainCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if own := comparePlain(t, tc.text); own != tc.own {
				t.Errorf("read by itself: %v, want %v", own, tc.own)
			}
		})
	}
}

// comparePlain compares the result of plainYAML with that of the complete parser.
func comparePlain(t *testing.T, text string) bool {
	t.Helper()
	got, own := plainYAML([]byte(text))
	if !own {
		return false
	}
	want, err := wholeYAML([]byte(text))
	if err != nil {
		t.Fatalf("%q is read as %s, but is refused: %v", text, got, err)
	}
	var a, b any
	if err := unmarshalNumbers(got, &a); err != nil {
		t.Fatalf("%q gives malformed JSON %s: %v", text, got, err)
	}
	if err := unmarshalNumbers(want, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%q is read as\n%s, not as\n%s", text, got, want)
	}
	return true
}

func unmarshalNumbers(text []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode(into)
}

func FuzzPlainYAML(f *testing.F) {
	for _, tc := range plainCases {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) { comparePlain(t, text) })
}

// Random texts of YAML's parts, most of which are nearly right.
func TestPlainYAMLOfPieces(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"a:", "b: ", "c: 1", "d: text", "'e':", "- ", "-", "- f: g", "- - ", "|", "|-", "'it''s", "x'", "\"q\"", "{h: i}", "[j, k]", "{", "]",
		"# note", " # note", "l: 'm", "---", "y: n", "0x1f", "1e3", "2026-01-01", "word", ": ", ":", "~", "null", "...", "  ", "    ", " ", "\n",
	}
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 60_000 {
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteString(strings.Repeat(" ", random.IntN(5)))
			for range 1 + random.IntN(3) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			if random.IntN(9) > 0 {
				b.WriteByte('\n')
			}
		}
		if comparePlain(t, b.String()) {
			read++
		}
	}
	if read < 1000 {
		t.Errorf("only %d texts were read: too few to say anything", read)
	}
}
