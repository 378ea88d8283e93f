package table

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/screen"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// sample is a plan by the number of its nodes and of its unplaced workloads.
func sample(nodes, workloads int) document.Planned {
	s := &snapshot.Snapshot{
		Templates: []snapshot.Template{
			{Namespace: "shop", Owner: "Deployment/checkout"},
			{Namespace: "shop"},
		},
		Nodes: []snapshot.Node{{Name: "ip-10-0-1-5.us-west-2.compute.internal", Price: 192_000}},
	}
	pod := func(name string, template int) snapshot.PodIndex {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "shop", Name: name, Template: snapshot.TemplateIndex(template), Pending: true})
		return snapshot.PodIndex(len(s.Pods) - 1)
	}
	var p plan.Plan
	for i := range nodes {
		kind := []string{"m7i-flex.2xlarge", "c7g.large"}[i%2]
		c := plan.Claim{
			Name: fmt.Sprintf("general-purpose-%d", i+1), Pool: "general-purpose",
			Offer:        plan.Offer{InstanceType: kind, Zone: "us-west-2" + string(rune('a'+i%3)), CapacityType: "spot", Price: model.Money(268_100 / (1 + i%2))},
			Allocatable:  model.Resources{CPU: 7910, Memory: 29 << 30, Pods: 58},
			Requests:     model.Resources{CPU: 7500, Memory: 11 << 30, Pods: 9},
			Alternatives: plan.List(plan.Offer{InstanceType: "m7a.2xlarge", Zone: "us-west-2a", CapacityType: "spot", Price: 300_000}, plan.Offer{InstanceType: "m7i.2xlarge", Zone: "us-west-2a", CapacityType: "on-demand", Price: 403_200}),
			Pods:         []snapshot.PodIndex{pod(fmt.Sprint("checkout-", i), 0), pod(fmt.Sprint("checkout-x-", i), 0), pod(fmt.Sprint("lone-", i), 1)},
		}
		p.Claims = append(p.Claims, c)
		p.Cost.New += c.Offer.Price
	}
	p.Cost.LowerBound = p.Cost.New * 97 / 100
	p.Existing = []plan.Placement{{Node: s.Nodes[0].Name, Pods: []snapshot.PodIndex{pod("checkout-old", 0)}}}
	for i := range workloads {
		s.Templates = append(s.Templates, snapshot.Template{Namespace: "ml", Owner: fmt.Sprintf("Job/train-%d", i), Requests: model.Resources{CPU: 64_000, Memory: 512 << 30, Pods: 1, Extended: []model.Amount{{Name: "nvidia.com/gpu", Value: 8}}}})
		v := tooLarge()
		for n := range 5 - i%3 {
			at := pod(fmt.Sprintf("train-%d-%d", i, n), len(s.Templates)-1)
			s.Pods[at].Namespace = "ml"
			p.Unplaced = append(p.Unplaced, plan.Unplaced{Pod: at, Verdict: v})
		}
	}
	p.Solve = plan.Solve{Pods: len(s.Pods), Shapes: 2 + workloads, Offers: 10968}
	return document.Planned{Snapshot: s, Plan: p, Duration: 3_120_000}
}

func tooLarge() *reason.Verdict {
	v := &reason.Verdict{Sought: true, Pools: []reason.PoolVerdict{
		{Pool: "general-purpose", Listed: 9120, Nearest: "m7i.48xlarge", Met: reason.Met{Labels: true, Offer: true, LabelsOffer: true},
			Funnel: []reason.Step{{Code: reason.TaintNotTolerated, Left: 9120}, {Code: reason.TypeIncompatible, Left: 4000}, {Code: reason.InsufficientRoom}},
			Reason: reason.Reason{Code: reason.InsufficientRoom, Where: "nvidia.com/gpu", Want: 8}},
		{Pool: "gpu", Listed: 64, Funnel: []reason.Step{{Code: reason.TaintNotTolerated}},
			Reason: reason.Reason{Code: reason.TaintNotTolerated, Where: "nvidia.com/gpu=true:NoSchedule"}},
		{Pool: "old", Reason: reason.Reason{Code: reason.PoolNotReady}, Unready: reason.Unready{Code: reason.PoolDeleted}},
	}}
	v.Remedy = &reason.Remedy{Change: reason.Tolerate, Pool: "gpu", Where: "nvidia.com/gpu=true:NoSchedule", InstanceType: "p5.48xlarge", Price: 55_040_000}
	return v
}

func render(t *testing.T, p document.Planned, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTables(t *testing.T) {
	t.Parallel()
	empty := document.Planned{Snapshot: &snapshot.Snapshot{}, Duration: time.Millisecond}
	exact := sample(1, 0)
	exact.Plan.Cost.LowerBound = exact.Plan.Cost.New
	refused := sample(0, 0)
	refused.Plan.Unplaced = []plan.Unplaced{{Pod: 0, Verdict: &reason.Verdict{General: reason.Reason{Code: reason.PodRefused, Detail: "persistentvolumeclaim \"data\" not found"}}}}
	refused.Plan.Existing = nil
	cases := map[string]struct {
		p document.Planned
		o Options
	}{
		"few nodes":          {sample(3, 1), Options{Screen: screen.Screen{Width: 120}}},
		"few nodes, narrow":  {sample(3, 1), Options{Screen: screen.Screen{Width: 60}}},
		"few nodes, explain": {sample(3, 1), Options{Screen: screen.Screen{Width: 100}, Explain: true}},
		"many nodes":         {sample(2000, 12), Options{Screen: screen.Screen{Width: 100}}},
		"many nodes, narrow": {sample(2000, 1), Options{Screen: screen.Screen{Width: 72}}},
		"in colour":          {sample(1, 1), Options{Screen: screen.Screen{Width: 80, Color: true}}},
		"nothing to do":      {empty, Options{Screen: screen.Screen{Width: 80}}},
		"proven best":        {exact, Options{Screen: screen.Screen{Width: 80}}},
		"refused, no node":   {refused, Options{Screen: screen.Screen{Width: 80}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, tc.p, tc.o)
			path := filepath.Join("testdata", strings.NewReplacer(", ", "-", " ", "-").Replace(name)+".txt")
			if *rewrite {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

// No line is wider than the screen, as long as there is a place to break it.
func TestLinesFit(t *testing.T) {
	t.Parallel()
	for width := 50; width <= 200; width += 13 {
		for _, nodes := range []int{1, 20, 21, 300} {
			for line := range strings.Lines(render(t, sample(nodes, 3), Options{Screen: screen.Screen{Width: width}})) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("width %d, %d nodes: %d columns: %s", width, nodes, n, line)
				}
			}
		}
	}
}

func TestColoursAreOnlyForTerminals(t *testing.T) {
	t.Parallel()
	p := sample(30, 3)
	dark := render(t, p, Options{Screen: screen.Screen{Width: 100}})
	bright := render(t, p, Options{Screen: screen.Screen{Width: 100, Color: true}})
	if strings.Contains(dark, "\x1b") {
		t.Error("a file gets colours")
	}
	for _, code := range []string{bold, red, green, faint, plain} {
		if !strings.Contains(bright, code) {
			t.Errorf("colour %q is not used", code)
		}
		bright = strings.ReplaceAll(bright, code, "")
	}
	if diff := cmp.Diff(dark, bright); diff != "" {
		t.Errorf("colours change the text (-without +with):\n%s", diff)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestPercentIsNeverZero(t *testing.T) {
	t.Parallel()
	for part, want := range map[float64]string{0.00001: "0.01 %", 0.0002: "0.02 %", 0.0123: "1.2 %", 0.5: "50.0 %"} {
		if got := percent(part); got != want {
			t.Errorf("percent(%v) = %s, want %s", part, got, want)
		}
	}
}
