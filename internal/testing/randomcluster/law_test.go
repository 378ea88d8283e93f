package randomcluster

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/snapshot"
)

// laws is how many random clusters each law is tried on.
const laws = 60

func eachCluster(t *testing.T, try func(t *testing.T, seed uint64, s *snapshot.Snapshot)) {
	t.Helper()
	t.Parallel()
	for seed := range uint64(laws) {
		try(t, seed, World(seed, 14).Snapshot())
	}
}

// A decision does not change its snapshot.
func TestDecisionsLeaveTheSnapshotAlone(t *testing.T) {
	eachCluster(t, func(t *testing.T, seed uint64, s *snapshot.Snapshot) {
		before := written(t, s)
		decide.Decide(s, budget)
		if !bytes.Equal(before, written(t, s)) {
			t.Errorf("seed %d: the snapshot is not what it was", seed)
		}
	})
}

// The same snapshot, written and read back, gives the same plan.
func TestDecisionsAreTheSameFromAFile(t *testing.T) {
	eachCluster(t, func(t *testing.T, seed uint64, s *snapshot.Snapshot) {
		again, err := snapshot.Read(bytes.NewReader(written(t, s)))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := shown(s), shown(again); a != b {
			t.Errorf("seed %d:\n%s\nfrom the file:\n%s", seed, a, b)
		}
	})
}

// The order in which objects were listed does not affect the plan.
func TestDecisionsDoNotDependOnTheOrderOfTheInput(t *testing.T) {
	eachCluster(t, func(t *testing.T, seed uint64, s *snapshot.Snapshot) {
		if a, b := shown(s), shown(shuffled(s, seed)); a != b {
			t.Errorf("seed %d:\n%s\nin another order:\n%s", seed, a, b)
		}
	})
}

// More effort never makes a plan dearer, nor makes it place fewer pods.
func TestMoreEffortIsNeverDearer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		s := World(seed, 14).Snapshot()
		full := decide.Decide(s, decide.Budget{}).Plan
		more := decide.Decide(s, decide.Budget{Steps: 8 * provision.FullEffort}).Plan
		if len(more.Unplaced) > len(full.Unplaced) || len(more.Unplaced) == len(full.Unplaced) && more.Cost.New > full.Cost.New {
			t.Errorf("seed %d: %d unplaced for %s, with more effort %d for %s", seed, len(full.Unplaced), full.Cost.New, len(more.Unplaced), more.Cost.New)
		}
	}
}

func written(t *testing.T, s *snapshot.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := snapshot.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shown writes a plan with the names of its pods.
func shown(s *snapshot.Snapshot) string {
	p := decide.Decide(s, budget).Plan
	var b strings.Builder
	for i := range p.Claims {
		c := &p.Claims[i]
		fmt.Fprintln(&b, c.Name, c.Offer, c.Narrowed(), c.Requests, keys(s, c.Pods))
		for o := range c.Alternatives.All() {
			fmt.Fprintln(&b, "  or", o)
		}
	}
	for _, e := range p.Existing {
		fmt.Fprintln(&b, e.Node, keys(s, e.Pods))
	}
	for _, line := range verdicts(s, p.Unplaced) {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b, p.Cost)
	return b.String()
}

func keys(s *snapshot.Snapshot, pods []snapshot.PodIndex) []string {
	var out []string
	for _, i := range pods {
		out = append(out, s.Pods[i].Key())
	}
	slices.Sort(out)
	return out
}

func verdicts(s *snapshot.Snapshot, unplaced []plan.Unplaced) []string {
	var out []string
	for _, u := range unplaced {
		out = append(out, s.Pods[u.Pod].Key()+": "+u.Verdict.Text())
	}
	slices.Sort(out)
	return out
}

// shuffled lists pods, nodes and pools in another order.
func shuffled(s *snapshot.Snapshot, seed uint64) *snapshot.Snapshot {
	r := rand.New(rand.NewPCG(seed, 1))
	out := *s
	out.Pods = slices.Clone(s.Pods)
	out.Nodes = slices.Clone(s.Nodes)
	out.Pools = slices.Clone(s.Pools)
	r.Shuffle(len(out.Pods), func(i, j int) { out.Pods[i], out.Pods[j] = out.Pods[j], out.Pods[i] })
	r.Shuffle(len(out.Nodes), func(i, j int) { out.Nodes[i], out.Nodes[j] = out.Nodes[j], out.Nodes[i] })
	r.Shuffle(len(out.Pools), func(i, j int) { out.Pools[i], out.Pools[j] = out.Pools[j], out.Pools[i] })
	return &out
}

// TestABoundHoldsForOtherPlans: a bound that is proven for one plan holds for every other plan that
// places the same pods, such as one made with more effort.
func TestABoundHoldsForOtherPlans(t *testing.T) {
	t.Parallel()
	proven := 0
	for seed := range *seeds / 2 {
		s := World(seed, *size).Snapshot()
		one := decide.Decide(s, decide.Budget{Steps: budget.Steps, Unadvised: true}).Plan
		more := decide.Decide(s, decide.Budget{Steps: 8 * budget.Steps, Unadvised: true}).Plan
		if !slices.EqualFunc(one.Unplaced, more.Unplaced, func(a, b plan.Unplaced) bool { return a.Pod == b.Pod }) {
			continue
		}
		proven++
		if more.Cost.New < one.Cost.LowerBound || one.Cost.New < more.Cost.LowerBound {
			t.Errorf("seed %d: prices %s and %s, bounds %s and %s", seed, one.Cost.New, more.Cost.New, one.Cost.LowerBound, more.Cost.LowerBound)
		}
	}
	if proven < int(*seeds)/4 {
		t.Errorf("only %d of %d clusters could be compared", proven, *seeds/2)
	}
}
