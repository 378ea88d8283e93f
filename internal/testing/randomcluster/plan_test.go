package randomcluster

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

var (
	seeds = flag.Uint64("seeds", 300, "how many random clusters to plan for")
	first = flag.Uint64("first", 0, "the first seed")
	size  = flag.Int("size", 14, "about how many pods of a random cluster want a place")
	keep  = flag.String("keep", "", "write shrunken failing clusters into this folder")
)

// budget keeps a decision about a dozen pods short.
var budget = decide.Budget{Steps: 2_000_000, Disrupt: true}

// patience is how long such a decision may take before it counts as endless. On a machine that stands still
// meanwhile, or is busy with other things, it may take longer: half of it has to be spent computing.
const patience = 20 * time.Second

// enough is how many failures of one kind are shrunken and printed.
const enough = 2

// TestPlansForRandomClustersHold runs the verifier on plans for random clusters. A failure prints the
// seed and, in a form that Read reads, the smallest cluster that fails the same way.
func TestPlansForRandomClustersHold(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for seed := *first; seed < *first+*seeds; seed++ {
		c := World(seed, *size)
		for _, kind := range failures(c) {
			if count[kind]++; count[kind] <= enough {
				report(t, kind, c)
			}
		}
	}
	for kind, n := range count {
		t.Errorf("%s: %d of %d plans", kind, n, *seeds)
	}
}

// TestDisruptionsOfRandomFleetsHold runs the verifier on plans for half-used fleets.
func TestDisruptionsOfRandomFleetsHold(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	disrupted := 0
	for seed := *first; seed < *first+*seeds; seed++ {
		c := Fleet(seed, 8)
		for _, kind := range failures(c) {
			if count[kind]++; count[kind] <= enough {
				report(t, kind, c)
			}
		}
		if p, _ := decided(c.Snapshot()); p != nil {
			disrupted += len(p.Disruptions)
		}
	}
	for kind, n := range count {
		t.Errorf("%s: %d of %d plans", kind, n, *seeds)
	}
	if disrupted < int(*seeds)/4 {
		t.Errorf("only %d disruptions for %d fleets: nothing was tried", disrupted, *seeds)
	}
	t.Logf("%d disruptions", disrupted)
}

// TestPacedFleetsHold runs the verifier on plans for fleets in which roll-outs have a pace and pools are
// cautious.
func TestPacedFleetsHold(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+*seeds/2; seed++ {
		s := Fleet(seed, 8).Snapshot()
		for i := range s.Pools {
			s.Pools[i].Consolidation.Pace = &snapshot.Pace{More: (int(seed) + i) % 3, Rollout: reason.Rollout{Pool: s.Pools[i].Name, Phase: reason.RolloutGoesOn, Width: 1}}
			s.Pools[i].Consolidation.Caution = 1000 + 500*((int(seed)+i)%7)
		}
		p, failure := decided(s)
		if failure != "" {
			t.Fatalf("seed %d: %s", seed, failure)
		}
		for _, v := range check.Plan(s, p) {
			t.Errorf("seed %d: %s", seed, v)
		}
	}
}

// TestSavedClustersHold plans for clusters that failed once.
func TestSavedClustersHold(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no saved clusters: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := explain(c); len(wrong) > 0 {
				t.Errorf("%s", strings.Join(wrong, "\n"))
			}
		})
	}
}

const (
	hangs  = "Hang"
	panics = "Panic"
)

// failures returns the rules that the plan for a cluster breaks, each once, or says that there is no
// plan.
func failures(c *Cluster) []string {
	s := c.Snapshot()
	p, failure := decided(s)
	if failure != "" {
		kind, _, _ := strings.Cut(failure, ":")
		return []string{kind}
	}
	var out []string
	for _, v := range check.Plan(s, p) {
		if !slices.Contains(out, string(v.Rule)) {
			out = append(out, string(v.Rule))
		}
	}
	return out
}

// explain says what is wrong with the plan for a cluster.
func explain(c *Cluster) []string {
	s := c.Snapshot()
	p, failure := decided(s)
	if failure != "" {
		return []string{failure}
	}
	var out []string
	for _, v := range check.Plan(s, p) {
		out = append(out, v.String())
	}
	return out
}

// decided waits for a plan. A decision that does not end cannot be stopped: it continues beside the
// tests, and is not tried again.
func decided(s *snapshot.Snapshot) (*plan.Plan, string) {
	type answer struct {
		plan    *plan.Plan
		failure string
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if broken := recover(); broken != nil {
				answers <- answer{failure: fmt.Sprintf("%s: %v", panics, broken)}
			}
		}()
		decision := decide.Decide(s, budget)
		answers <- answer{plan: &decision.Plan}
	}()
	for begun := processorTime(); ; {
		select {
		case a := <-answers:
			return a.plan, a.failure
		case <-time.After(patience):
			if processorTime()-begun >= patience/2 {
				return nil, hangs
			}
		}
	}
}

// processorTime is what this process has used of the processors.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it fails for wrong arguments only
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func report(t *testing.T, kind string, c *Cluster) {
	t.Helper()
	small := c
	if kind != hangs {
		small = Shrink(c, func(c *Cluster) bool { return slices.Contains(failures(c), kind) })
		t.Errorf("seed %d: %s, shrunken to\n%s\n%s", c.Seed, kind, small.YAML(), strings.Join(explain(small), "\n"))
	} else {
		t.Errorf("seed %d: the decision does not end:\n%s", c.Seed, c.YAML())
	}
	if *keep != "" {
		name := filepath.Join(*keep, fmt.Sprintf("%s-%d.yaml", kind, c.Seed))
		if err := os.WriteFile(name, small.YAML(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
