package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestBench checks the figures of a generated input, which are the same each time but for the times, and those of files.
func TestBench(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it computes in one goroutine, for long")
	}
	measured := func(args ...string) benched {
		t.Helper()
		got := run(t, nil, append([]string{"bench", "-o", "json", "--times", "2"}, args...)...)
		var out benched
		if err := json.Unmarshal([]byte(got.out), &out); err != nil || got.status != 0 {
			t.Fatalf("bench %v: status %d, %q, %v", args, got.status, got.err, err)
		}
		return out
	}
	first, again := measured("--generate", "230"), measured("--generate", "230")
	if len(first.Plans) != 1 {
		t.Fatalf("plans: %+v", first.Plans)
	}
	p, q := first.Plans[0], again.Plans[0]
	if first.Input.Waiting != 230 || first.Input.Kinds != 40 || first.Input.Offerings < 100 || p.NewNodes == 0 || p.Unplaced != 0 || p.Bound <= 0 || p.Price < p.Bound || p.Gap < 0 || p.Least <= 0 || p.Most < p.Middle || first.Currency != "USD" {
		t.Errorf("measured %+v of %+v", p, first.Input)
	}
	if p.NewNodes != q.NewNodes || p.Price != q.Price || p.Bound != q.Bound {
		t.Errorf("another time %+v, before %+v", q, p)
	}
	if other := measured("--generate", "230", "--seed", "2"); other.Plans[0].Price == p.Price {
		t.Errorf("another seed has the same price: %+v", other.Plans[0])
	}
	got := run(t, nil, "bench", "--generate", "7", "--times", "1")
	if got.status != 0 || !strings.HasPrefix(got.out, "7 pods of 7 kinds, 7 of them wait; 0 nodes;") || !strings.Contains(got.out, "pods that wait") {
		t.Errorf("status %d, %q:\n%s", got.status, got.err, got.out)
	}
}

// TestBenchTeachesMistakes checks what is said of flags that cannot be.
func TestBenchTeachesMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-o xml": "use table or json", "--times 0": "made once at least", "--generate -1": "from 1 to 1000000", "--generate 5 -f a.yaml": "leave out -f and --snapshot",
	} {
		got := run(t, nil, append([]string{"bench"}, strings.Fields(args)...)...)
		if got.status != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, messages %q", args, got.status, got.err)
		}
	}
}
