package fingerprint_test

import (
	"math/rand"
	"strconv"
	"testing"
	"testing/quick"
	"time"

	"github.com/mitchellh/hashstructure/v2"

	"tenon/api/fingerprint"
)

type quantity string

func (q quantity) String() string { return "<" + string(q) + ">" }

type inner struct {
	Name    string
	Enabled *bool
	Count   *int32
	Secret  string `hash:"ignore"`
}

type Embedded struct {
	Tags map[string]string
}

// sample has a field of every shape that the API's types have.
type sample struct {
	Embedded
	Text     string
	Plain    int
	Small    int8
	Wide     uint64
	Flag     bool
	Wait     *time.Duration
	List     []inner
	Pointer  *inner
	Pointers []*inner
	Counts   map[string]int64
	Size     quantity `hash:"string"`
}

// stamped adds the fields that testing/quick cannot generate.
type stamped struct {
	Sample sample
	At     time.Time
	hidden string
}

func oracle(t *testing.T, value any) string {
	t.Helper()
	h, err := hashstructure.Hash(value, hashstructure.FormatV2, &hashstructure.HashOptions{
		SlicesAsSets: true, IgnoreZeroValue: true, ZeroNil: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(h, 10)
}

// TestAgreesWithOracle compares with the library that defined the format, on random values.
func TestAgreesWithOracle(t *testing.T) {
	t.Parallel()
	agrees := func(part sample, hidden string, unix int64) bool {
		s := stamped{Sample: part, At: time.Unix(unix%(1<<40), 0).UTC(), hidden: hidden}
		return fingerprint.Of(s) == oracle(t, s) && fingerprint.Of([]any{s, hidden, unix}) == oracle(t, []any{s, hidden, unix})
	}
	if err := quick.Check(agrees, &quick.Config{MaxCount: 300, Rand: rand.New(rand.NewSource(1))}); err != nil {
		t.Error(err)
	}
}

func TestAgreesWithOracleOnEdges(t *testing.T) {
	t.Parallel()
	no, zero := false, time.Duration(0)
	var nilText *string
	for name, value := range map[string]any{
		"nothing set":             sample{},
		"pointer to nothing":      &sample{},
		"empty text":              "",
		"nil pointer":             nilText,
		"pointer to false counts": inner{Enabled: &no},
		"pointer to zero counts":  sample{Wait: &zero},
		"empty list is not nil":   sample{List: []inner{}},
		"empty map is not nil":    sample{Counts: map[string]int64{}},
		"nil element":             sample{Pointers: []*inner{nil}},
		"ignored field only":      sample{Pointer: &inner{Secret: "x"}},
		"zero time":               stamped{At: time.Time{}},
	} {
		if got, want := fingerprint.Of(value), oracle(t, value); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestConsequences states what users rely on, without the oracle.
func TestConsequences(t *testing.T) {
	t.Parallel()
	no := false
	a, b := inner{Name: "a"}, inner{Name: "b"}
	same := func(what string, x, y any, want bool) {
		t.Helper()
		if got := fingerprint.Of(x) == fingerprint.Of(y); got != want {
			t.Errorf("%s: equal is %v, want %v", what, got, want)
		}
	}
	same("list order does not matter", sample{List: []inner{a, b}}, sample{List: []inner{b, a}}, true)
	same("equal elements cancel in pairs", sample{List: []inner{a, a, b}}, sample{List: []inner{b}}, true)
	same("an unset pointer and one to false differ", inner{}, inner{Enabled: &no}, false)
	same("a plain false is like unset", sample{Flag: false}, sample{}, true)
	same("ignored fields do not count", inner{Secret: "x"}, inner{}, true)
	same("a value's type name counts", struct{ Name string }{"a"}, inner{Name: "a"}, false)
}

func TestKnownValues(t *testing.T) {
	t.Parallel()
	// FNV-1 with 64 bits, of no bytes and of "a": published constants of the function.
	for text, want := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63bd4c8601b7be} {
		if got := fingerprint.Of(text); got != strconv.FormatUint(want, 10) {
			t.Errorf("Of(%q) = %s, want %d", text, got, want)
		}
	}
}

func TestPanicsOnForeignTypes(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a channel was hashed")
		}
	}()
	fingerprint.Of(make(chan int))
}
