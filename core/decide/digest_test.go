package decide_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// digests is where the digest of each plan of the corpus is kept, with what it costs.
const digests = "testdata/digests"

// sample is one snapshot of the corpus of digests.
type sample struct {
	name    string
	shapes  int
	pods    int // of each shape, at most
	nodes   int // half of them are in use
	rules   bool
	limit   int64 // of cpu, in thousandths
	disrupt bool
}

var samples = []sample{
	{name: "few", shapes: 4, pods: 3},
	{name: "diverse", shapes: 60, pods: 20},
	{name: "many-shapes", shapes: 400, pods: 4},
	{name: "rules", shapes: 25, pods: 12, rules: true},
	{name: "few-with-rules", shapes: 8, pods: 6, rules: true},
	{name: "onto-nodes", shapes: 60, pods: 25, nodes: 12},
	{name: "limited", shapes: 30, pods: 10, limit: 120_000},
	{name: "consolidation", shapes: 10, pods: 3, nodes: 60, rules: true, disrupt: true},
}

// TestPlansAreTheSameEverywhere compares the bytes of plans with those that the repository
// keeps, on every architecture it runs on: see .ci/run for arm64. -rewrite writes them anew.
func TestPlansAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	var out []string
	for _, sm := range samples {
		for seed := range uint64(2) {
			s := sm.snapshot(rand.New(rand.NewPCG(seed, 13)))
			p := decide.Decide(s, decide.Budget{Steps: 20_000_000, Disrupt: sm.disrupt}).Plan
			out = append(out, fmt.Sprintf("%s-%d: %d claims, %d disruptions, price %s, bound %s, %x",
				sm.name, seed, len(p.Claims), len(p.Disruptions), p.Cost.New, p.Cost.LowerBound, sha256.Sum256(bytesOf(t, &p))))
		}
	}
	text := strings.Join(out, "\n") + "\n"
	if *rewrite {
		if err := os.WriteFile(digests, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(digests)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(want), "\n") {
		if i < len(out) && line != out[i] {
			t.Errorf("the plan is\n%s, and was\n%s", out[i], line)
		}
	}
	if string(want) != text && !t.Failed() {
		t.Errorf("%s has another number of plans than %d", digests, len(out))
	}
}

// bytesOf writes all of a plan, effort included.
func bytesOf(t *testing.T, p *plan.Plan) []byte {
	t.Helper()
	var alternatives [][]plan.Offer
	claims := slices.Clone(p.Claims)
	for i := range p.Disruptions {
		claims = append(claims, p.Disruptions[i].Replacements...)
	}
	for i := range claims {
		alternatives = append(alternatives, slices.Collect(claims[i].Alternatives.All()))
	}
	data, err := json.Marshal([]any{p, alternatives})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (sm sample) snapshot(d *rand.Rand) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Now:      present,
		Settings: snapshot.Settings{WellKnown: requirement.Core().WellKnown()},
		Catalogs: []catalog.Catalog{{}},
		Pools:    []snapshot.Pool{{Name: "default"}},
	}
	after := time.Duration(0)
	s.Pools[0].Consolidation = snapshot.Consolidation{Policy: snapshot.WhenEmptyOrUnderutilized, After: &after, Allowed: snapshot.Allowance{Empty: 1000, Drifted: 1000, Underutilized: 1000}}
	if sm.limit > 0 {
		s.Pools[0].Limits = []model.Amount{{Name: "cpu", Value: sm.limit}}
	}
	for cores := int64(1); cores <= 48; cores = cores*3/2 + 1 {
		for gib := int64(2); gib <= 8; gib *= 2 {
			s.Catalogs[0].Types = append(s.Catalogs[0].Types, typeOf(d, cores, gib))
		}
	}
	for i := range sm.nodes {
		s.Nodes = append(s.Nodes, sm.node(d, s, i))
	}
	for i := range sm.shapes {
		sm.addPods(d, s, i)
	}
	return s
}

func typeOf(d *rand.Rand, cores, gib int64) catalog.Type {
	name := fmt.Sprintf("m%d-%d", cores, gib)
	t := catalog.Type{
		Name:         name,
		Capacity:     model.Resources{CPU: cores * 1000, Memory: cores * gib << 30, Pods: 8 + 4*cores},
		Requirements: requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, name), requirement.New(requirement.KeyZone, requirement.In, "a", "b", "c")),
	}
	for _, zone := range []string{"a", "b", "c"} {
		price := model.Money(cores * (30_000 + 4_000*gib) * (95 + d.Int64N(10)) / 100)
		t.Offerings = append(t.Offerings,
			catalog.Offering{Zone: zone, CapacityType: catalog.OnDemand, Price: price, Available: true},
			catalog.Offering{Zone: zone, CapacityType: catalog.Spot, Price: price * model.Money(30+d.Int64N(20)) / 100, Available: d.IntN(10) > 0})
	}
	return t
}

// node is of a random type, bought on demand.
func (sm sample) node(d *rand.Rand, s *snapshot.Snapshot, i int) snapshot.Node {
	t := &s.Catalogs[0].Types[d.IntN(len(s.Catalogs[0].Types))]
	zone := string(rune('a' + i%3))
	name := fmt.Sprintf("node-%03d", i)
	return snapshot.Node{
		Name: name, Claim: name, Pool: "default", InstanceType: t.Name, Zone: zone, CapacityType: catalog.OnDemand,
		Price: t.Offerings[2*(i%3)].Price, Capacity: t.Capacity, Allocatable: t.Capacity, Initialized: true,
		Labels: map[string]string{
			requirement.KeyHostname: name, requirement.KeyZone: zone, requirement.KeyInstanceType: t.Name,
			requirement.KeyCapacityType: catalog.OnDemand, requirement.KeyNodePool: "default",
		},
		Life: snapshot.Life{Quiet: present.Add(-100 * time.Hour)},
	}
}

// addPods adds pods of one shape. Where there are nodes, some run already on those with room.
func (sm sample) addPods(d *rand.Rand, s *snapshot.Snapshot, i int) {
	t := snapshot.Template{
		Namespace: "default", Owner: fmt.Sprintf("Deployment/app-%d", i), Labels: map[string]string{"app": fmt.Sprintf("app-%d", i)},
		Requests: model.Resources{CPU: 50 + 10*d.Int64N(300), Memory: (64 + 16*d.Int64N(500)) << 20, Pods: 1},
	}
	if sm.rules {
		sm.addRules(d, &t)
	}
	s.Templates = append(s.Templates, t)
	for n := range 1 + d.IntN(sm.pods) {
		p := snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("app-%d-%d", i, n), Template: snapshot.TemplateIndex(i), Pending: true}
		if sm.nodes > 0 && (sm.disrupt || d.IntN(2) == 0) {
			p.Node, p.Pending = fmt.Sprintf("node-%03d", d.IntN(sm.nodes)), false
			p.Movable = true
		}
		s.Pods = append(s.Pods, p)
	}
}

// addRules gives a third each of shapes a spread over zones and anti-affinity by hostname.
func (sm sample) addRules(d *rand.Rand, t *snapshot.Template) {
	switch d.IntN(3) {
	case 0:
		t.Spreads = []snapshot.Spread{{Key: requirement.KeyZone, MaxSkew: 1, Selector: app(t.Labels["app"])}}
	case 1:
		t.AntiAffinity = []snapshot.AffinityTerm{{Key: requirement.KeyHostname, Namespaces: []string{"default"}, Selector: app(t.Labels["app"])}}
	}
}
