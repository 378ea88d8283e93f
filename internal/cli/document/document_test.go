package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// The form that programs rely on, written a second time. Pointers tell missing from empty.
type document struct {
	APIVersion    string         `json:"apiVersion"`
	Kind          string         `json:"kind"`
	Nodes         []node         `json:"nodes"`
	Existing      []existing     `json:"existing"`
	Unschedulable []unscheduled  `json:"unschedulable"`
	Disruptions   []any          `json:"disruptions"`
	Cost          map[string]any `json:"cost"`
	Solve         map[string]any `json:"solve"`
}

type node struct {
	Name          string              `json:"name"`
	NodePool      string              `json:"nodePool"`
	InstanceType  string              `json:"instanceType"`
	Zone          string              `json:"zone"`
	CapacityType  string              `json:"capacityType"`
	ReservationID *string             `json:"reservationID"`
	PricePerHour  *float64            `json:"pricePerHour"`
	Allocatable   map[string]string   `json:"allocatable"`
	Requests      map[string]string   `json:"requests"`
	Labels        map[string]string   `json:"labels"`
	Taints        []map[string]string `json:"taints"`
	Alternatives  []alternative       `json:"alternatives"`
	Pods          []string            `json:"pods"`
}

type alternative struct {
	InstanceType string   `json:"instanceType"`
	Zone         string   `json:"zone"`
	CapacityType string   `json:"capacityType"`
	PricePerHour *float64 `json:"pricePerHour"`
}

type existing struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

type unscheduled struct {
	Pod     string `json:"pod"`
	Reasons []struct {
		NodePool *string `json:"nodePool"`
		Message  string  `json:"message"`
	} `json:"reasons"`
}

// small is a plan with one of everything.
func small() Planned {
	s := &snapshot.Snapshot{
		Templates: []snapshot.Template{{Namespace: "default"}},
		Nodes:     []snapshot.Node{{Name: "old", Price: 200_000}, {Name: "leaving", Price: 50_000, Leaving: true}},
	}
	for _, name := range []string{"web-0", "web-1", "fits", `odd"name`, "broken"} {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: name, Pending: true})
	}
	v := &reason.Verdict{
		Sought: true,
		Pools: []reason.PoolVerdict{
			{Pool: "default", Listed: 3, Funnel: []reason.Step{{Code: reason.TaintNotTolerated}}, Reason: reason.Reason{Code: reason.TaintNotTolerated, Where: "a:NoSchedule"}},
			{Pool: "other", Reason: reason.Reason{Code: reason.PoolNotReady}, Unready: reason.Unready{Code: reason.PoolDeleted}},
		},
		Remedy: &reason.Remedy{Change: reason.Tolerate, Pool: "default", Where: "a:NoSchedule", InstanceType: "m5.large", Price: 96_000},
	}
	return Planned{
		Snapshot: s, Duration: 3123 * time.Microsecond,
		Plan: plan.Plan{
			Claims: []plan.Claim{{
				Name: "default-1", Pool: "default",
				Offer:        plan.Offer{InstanceType: "m5.large", Zone: "us-west-2a", CapacityType: "spot", Price: 34_500},
				Alternatives: plan.List(plan.Offer{InstanceType: "m5a.large", Zone: "us-west-2a", CapacityType: "spot", Price: 36_000}),
				Allocatable:  model.Resources{CPU: 1930, Memory: 7244 << 20, Pods: 29},
				Requests:     model.Resources{CPU: 1900, Memory: 3 << 30, Pods: 7, Extended: []model.Amount{{Name: "nvidia.com/gpu", Value: 1}}},
				Labels:       map[string]string{"zone": "z", "arch": "amd64"},
				Taints:       []model.Taint{{Key: "a", Value: "b", Effect: model.NoSchedule}, {Key: "c", Effect: model.NoExecute}},
				Pods:         []snapshot.PodIndex{0, 1},
			}},
			Existing: []plan.Placement{{Node: "old", Pods: []snapshot.PodIndex{2}}},
			Unplaced: []plan.Unplaced{
				{Pod: 3, Verdict: v},
				{Pod: 4, Verdict: &reason.Verdict{General: reason.Reason{Code: reason.PodRefused, Detail: "claim \"data\" is lost"}}},
			},
			Cost:  plan.Cost{New: 34_500, LowerBound: 34_000},
			Solve: plan.Solve{Pods: 5, Shapes: 3, Offers: 9120, Steps: 99},
		},
	}
}

// The text of the contract, to the letter.
const smallJSON = `{
  "apiVersion": "tenon/v1alpha1",
  "kind": "Plan",
  "nodes": [
    {
      "name": "default-1",
      "nodePool": "default",
      "instanceType": "m5.large",
      "zone": "us-west-2a",
      "capacityType": "spot",
      "reservationID": "",
      "pricePerHour": 0.0345,
      "allocatable": {"cpu": "1930m", "memory": "7244Mi", "pods": "29"},
      "requests": {"cpu": "1900m", "memory": "3Gi", "nvidia.com/gpu": "1", "pods": "7"},
      "labels": {"arch": "amd64", "zone": "z"},
      "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoExecute"}],
      "alternatives": [
        {"instanceType": "m5a.large", "zone": "us-west-2a", "capacityType": "spot", "pricePerHour": 0.036}
      ],
      "pods": ["default/web-0", "default/web-1"]
    }
  ],
  "existing": [
    {
      "node": "old",
      "pods": ["default/fits"]
    }
  ],
  "unschedulable": [
    {
      "pod": "default/odd\"name",
      "reasons": [{"nodePool": "default", "message": "did not tolerate taint (taint=a:NoSchedule); of 3 offerings, none with taints that the pod tolerates; smallest change: let the pod tolerate a:NoSchedule: then m5.large of pool default would do, 0.096 an hour"}, {"nodePool": "other", "message": "is being deleted"}]
    },
    {
      "pod": "default/broken",
      "reasons": [{"nodePool": "", "message": "claim \"data\" is lost"}]
    }
  ],
  "disruptions": [],
  "cost": {"newPerHour": 0.0345, "lowerBoundPerHour": 0.034, "gap": 0.014706, "fleetPerHourBefore": 0.25, "fleetPerHourAfter": 0.2345},
  "solve": {"pods": 5, "podClasses": 3, "offers": 9120, "duration": "3.12ms"}
}
`

const smallYAML = `apiVersion: tenon/v1alpha1
kind: Plan
nodes:
  - name: default-1
    nodePool: default
    instanceType: m5.large
    zone: us-west-2a
    capacityType: spot
    reservationID: ""
    pricePerHour: 0.0345
    allocatable: {"cpu": "1930m", "memory": "7244Mi", "pods": "29"}
`

func TestDocument(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(smallJSON, inJSON(t, small())); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	if got := inYAML(t, small()); !strings.HasPrefix(got, smallYAML) {
		t.Errorf("YAML begins\n%s", got[:min(len(got), len(smallYAML))])
	}
}

func TestAnEmptyPlanHasEveryList(t *testing.T) {
	t.Parallel()
	p := Planned{Snapshot: &snapshot.Snapshot{}}
	want := `{
  "apiVersion": "tenon/v1alpha1",
  "kind": "Plan",
  "nodes": [],
  "existing": [],
  "unschedulable": [],
  "disruptions": [],
  "cost": {"newPerHour": 0, "lowerBoundPerHour": 0, "gap": 0, "fleetPerHourBefore": 0, "fleetPerHourAfter": 0},
  "solve": {"pods": 0, "podClasses": 0, "offers": 0, "duration": "0s"}
}
`
	if diff := cmp.Diff(want, inJSON(t, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func inJSON(t testing.TB, p Planned) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func inYAML(t testing.TB, p Planned) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// parsed reads a document strictly: an unknown field, or one of another type, fails.
func parsed(text []byte) (document, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var d document
	if err := decoder.Decode(&d); err != nil {
		return d, err
	}
	return d, d.complete()
}

// complete finds lists that are null and fields that are missing.
func (d *document) complete() error {
	var problems []error
	want := func(ok bool, what string) {
		if !ok {
			problems = append(problems, errors.New(what))
		}
	}
	want(d.APIVersion == "tenon/v1alpha1" && d.Kind == "Plan", "version")
	want(d.Nodes != nil && d.Existing != nil && d.Unschedulable != nil && d.Disruptions != nil, "a list is null")
	want(len(d.Cost) == 5 && len(d.Solve) == 4, "cost or solve")
	for _, n := range d.Nodes {
		want(n.ReservationID != nil && n.PricePerHour != nil, "a field of a node is missing")
		want(n.Labels != nil && n.Taints != nil && n.Alternatives != nil && n.Pods != nil, "a list of a node is null")
		for _, r := range []map[string]string{n.Allocatable, n.Requests} {
			want(r["cpu"] != "" && r["memory"] != "" && r["pods"] != "", "a resource is missing")
		}
		for i, a := range n.Alternatives {
			want(a.PricePerHour != nil && (i == 0 || *a.PricePerHour >= *n.Alternatives[i-1].PricePerHour), "alternatives by price")
		}
	}
	for _, u := range d.Unschedulable {
		want(len(u.Reasons) > 0, "no reason")
		for _, r := range u.Reasons {
			want(r.NodePool != nil && r.Message != "", "an empty reason")
		}
	}
	return errors.Join(problems...)
}

// arbitrary plans have unusual names.
func arbitrary(t *rapid.T) Planned {
	text := rapid.OneOf(rapid.SampledFrom([]string{"yes", "null", "1e3", "0x1", "- a", "a: b", "# c", "", "~", "us-west-2a", "é", "\u2028", "a\nb", "{", "'"}), rapid.String())
	amount := rapid.Int64Range(-1<<40, 1<<60)
	resources := func() model.Resources {
		r := model.Resources{CPU: amount.Draw(t, "cpu"), Memory: amount.Draw(t, "memory"), Pods: rapid.Int64Range(0, 200).Draw(t, "pods")}
		if rapid.Bool().Draw(t, "more") {
			r.Extended = []model.Amount{{Name: "example.com/" + text.Draw(t, "resource"), Value: 1}}
		}
		return r
	}
	price := func() model.Money { return model.Money(rapid.Int64Range(0, 1e12).Draw(t, "price")) }
	p := Planned{Snapshot: &snapshot.Snapshot{Templates: []snapshot.Template{{}}}, Duration: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "duration"))}
	for range rapid.IntRange(1, 5).Draw(t, "pods") {
		p.Snapshot.Pods = append(p.Snapshot.Pods, snapshot.Pod{Namespace: text.Draw(t, "namespace"), Name: text.Draw(t, "pod")})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "claims") {
		c := plan.Claim{Name: fmt.Sprint("claim", i), Pool: text.Draw(t, "pool"), Allocatable: resources(), Requests: resources()}
		c.Offer = plan.Offer{InstanceType: text.Draw(t, "type"), Zone: text.Draw(t, "zone"), CapacityType: "spot", Reservation: text.Draw(t, "reservation"), Price: price()}
		c.Labels = rapid.MapOf(text, text).Draw(t, "labels")
		var offers []plan.Offer
		for n := range rapid.IntRange(0, 3).Draw(t, "alternatives") {
			offers = append(offers, plan.Offer{InstanceType: text.Draw(t, "type"), Price: model.Money(n)})
		}
		c.Alternatives = plan.List(offers...)
		for range rapid.IntRange(0, 2).Draw(t, "taints") {
			c.Taints = append(c.Taints, model.Taint{Key: text.Draw(t, "taint"), Value: text.Draw(t, "value"), Effect: model.NoSchedule})
		}
		for n := range rapid.IntRange(0, len(p.Snapshot.Pods)).Draw(t, "on it") {
			c.Pods = append(c.Pods, snapshot.PodIndex(n))
		}
		p.Plan.Claims = append(p.Plan.Claims, c)
	}
	for range rapid.IntRange(0, 2).Draw(t, "existing") {
		p.Plan.Existing = append(p.Plan.Existing, plan.Placement{Node: text.Draw(t, "node"), Pods: []snapshot.PodIndex{0}})
	}
	for range rapid.IntRange(0, 3).Draw(t, "unplaced") {
		v := &reason.Verdict{Pools: []reason.PoolVerdict{{Pool: text.Draw(t, "pool"), Reason: reason.Reason{Code: reason.TaintNotTolerated, Where: text.Draw(t, "where")}}}}
		p.Plan.Unplaced = append(p.Plan.Unplaced, plan.Unplaced{Verdict: v})
	}
	p.Plan.Cost = plan.Cost{New: price(), LowerBound: price()}
	return p
}

func TestEveryDocumentKeepsTheContract(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := arbitrary(rt)
		text := inJSON(t, p)
		d, err := parsed([]byte(text))
		if err != nil {
			rt.Fatalf("%v in\n%s", err, text)
		}
		if len(d.Nodes) != len(p.Plan.Claims) || len(d.Existing) != len(p.Plan.Existing) || len(d.Unschedulable) != len(p.Plan.Unplaced) {
			rt.Fatalf("entries are missing in\n%s", text)
		}
		for i, n := range d.Nodes {
			if c := &p.Plan.Claims[i]; len(n.Alternatives) != c.Alternatives.Len() || len(n.Pods) != len(c.Pods) || n.Requests["cpu"] != reason.Quantity(model.CPU, c.Requests.CPU) {
				rt.Fatalf("node %d differs in\n%s", i, text)
			}
		}
		if again := inJSON(t, p); again != text {
			rt.Fatal("the same plan gave other bytes")
		}
	})
}

// YAML and JSON are two ways to write one thing.
func TestYAMLSaysTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := arbitrary(rt)
		text := inYAML(t, p)
		converted, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			rt.Fatalf("%v in\n%s", err, text)
		}
		var fromYAML, fromJSON any
		if err := errors.Join(json.Unmarshal(converted, &fromYAML), json.Unmarshal([]byte(inJSON(t, p)), &fromJSON)); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
			rt.Fatalf("(-JSON +YAML):\n%s\n%s", diff, text)
		}
	})
}

// full is a disk without room.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

func TestAWriteErrorIsReported(t *testing.T) {
	t.Parallel()
	if err := small().WriteJSON(&full{left: 100}); err == nil || err.Error() != "no space left" {
		t.Errorf("got %v", err)
	}
}

// Pods share verdicts, whose texts are kept while other values are written.
func TestSharedReasonsStayWhole(t *testing.T) {
	t.Parallel()
	p := small()
	v := p.Plan.Unplaced[0].Verdict
	for i := range 300 {
		v.Pools = append(v.Pools, reason.PoolVerdict{Pool: fmt.Sprint("pool-", i), Reason: v.Pools[0].Reason})
	}
	p.Plan.Unplaced = nil
	for i := range 60 {
		p.Snapshot.Pods = append(p.Snapshot.Pods, snapshot.Pod{Namespace: "long-" + strings.Repeat("n", i*7), Name: "p"})
		p.Plan.Unplaced = append(p.Plan.Unplaced, plan.Unplaced{Pod: snapshot.PodIndex(5 + i), Verdict: v}, plan.Unplaced{Pod: 1, Verdict: &reason.Verdict{General: reason.Reason{Code: reason.NoPools}}})
	}
	d, err := parsed([]byte(inJSON(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range d.Unschedulable {
		want := 1
		if i%2 == 0 {
			want = len(v.Pools)
		}
		if len(u.Reasons) != want {
			t.Errorf("%d: %d reasons, want %d", i, len(u.Reasons), want)
		}
	}
}

func TestRounded(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]string{
		3_123_456: "3.12ms", 1_234_567_890: "1.23s", 12_345: "12.35µs", 999: "999ns", 0: "0s", 75_123_000_000: "1m15.12s",
	} {
		if got := Rounded(given).String(); got != want {
			t.Errorf("Rounded(%d) = %s, want %s", given, got, want)
		}
	}
}
