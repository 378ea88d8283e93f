package judge

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/testing/randomcluster"
)

var (
	seeds = flag.Uint64("seeds", 400, "how many random clusters to judge")
	first = flag.Uint64("first", 0, "the first seed")
	size  = flag.Int("size", 14, "about how many pods of a random cluster want a place")
	keep  = flag.String("keep", "", "write shrunken refused clusters into this folder")
)

// lanes are the parallel parts of the random tests.
const lanes = 4

// budget keeps a decision about a dozen pods short.
var budget = decide.Budget{Steps: 2_000_000}

// enough is how many failures of one kind are shrunken and printed.
const enough = 2

// patience is how long a decision about a dozen pods may take before it counts as one
// that never ends.
const patience = 20 * time.Second

// TestSchedulerAcceptsPlansForRandomClusters is the proof that plans come about. A
// failure prints the seed and the smallest cluster that fails the same way, which
// randomcluster.Read reads.
func TestSchedulerAcceptsPlansForRandomClusters(t *testing.T) {
	t.Parallel()
	var counts tally
	for lane := range uint64(lanes) {
		t.Run("lane"+strconv.FormatUint(lane, 10), func(t *testing.T) {
			t.Parallel()
			for seed := *first + lane; seed < *first+*seeds; seed += lanes {
				c := randomcluster.World(seed, *size)
				if refused := refusals(c); len(refused) > 0 {
					report(t, &counts, c, refused)
				}
			}
		})
	}
}

// tally counts failures by kind.
type tally struct {
	sync.Mutex
	of map[string]int
}

func (c *tally) add(kind string) int {
	c.Lock()
	defer c.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[kind]++
	return c.of[kind]
}

// refusals are those of the plan that is decided for a cluster. That there is no plan is
// a failure like any other, so that it is shrunken too.
func refusals(c *randomcluster.Cluster) []Refusal {
	s := c.Snapshot()
	p, failure := decided(s)
	if failure != "" {
		return []Refusal{{When: failure}}
	}
	out, err := Judge(context.Background(), c.Listing(), s, p)
	if err != nil {
		return []Refusal{{When: "unjudged", Reason: err.Error()}}
	}
	return out
}

const hangs = "hangs"

// decided waits for a plan. A decision that does not end cannot be stopped: it goes on
// beside the tests, and is not tried again.
func decided(s *snapshot.Snapshot) (*plan.Plan, string) {
	type answer struct {
		plan    *plan.Plan
		failure string
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if broken := recover(); broken != nil {
				answers <- answer{failure: fmt.Sprintf("panics: %v", broken)}
			}
		}()
		decision := decide.Decide(s, budget)
		answers <- answer{plan: &decision.Plan}
	}()
	select {
	case a := <-answers:
		return a.plan, a.failure
	case <-time.After(patience):
		return nil, hangs
	}
}

// kindOf is what shrinking keeps the same: the question and the plugin.
func kindOf(r Refusal) string {
	when, _, _ := strings.Cut(r.When, ":")
	plugin, _, _ := strings.Cut(r.Reason, ":")
	return strings.TrimSuffix(when+"-"+plugin, "-")
}

func report(t *testing.T, counts *tally, c *randomcluster.Cluster, refused []Refusal) {
	t.Helper()
	kind := kindOf(refused[0])
	if counts.add(kind) > enough {
		t.Errorf("seed %d: %s", c.Seed, refused[0])
		return
	}
	small := c
	if kind != hangs {
		small = randomcluster.Shrink(c, func(c *randomcluster.Cluster) bool {
			return slices.ContainsFunc(refusals(c), func(r Refusal) bool { return kindOf(r) == kind })
		})
	}
	t.Errorf("seed %d: %s; shrunken to\n%s", c.Seed, refused[0], small.YAML())
	if *keep != "" {
		name := filepath.Join(*keep, kind+"-"+strconv.FormatUint(c.Seed, 10)+".yaml")
		if err := os.WriteFile(name, small.YAML(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
