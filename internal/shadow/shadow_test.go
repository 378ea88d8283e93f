package shadow

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// What would change something does not reach the server; leader election reaches it for its own Lease alone.
func TestGuards(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	t.Cleanup(server.Close)
	clientOf := func(guard func(*rest.Config)) *http.Client {
		config := &rest.Config{Host: server.URL}
		guard(config)
		c, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := clientOf(ReadOnly)
	lease := clientOf(func(c *rest.Config) { LeaseOnly(c, "tenon-shadow") })
	const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	for _, tc := range []struct {
		method, path string
		all, lease   bool // sent
	}{
		{"GET", "/api/v1/pods?watch=true", true, true},
		{"POST", "/api/v1/namespaces/default/pods/a/eviction", false, false},
		{"PATCH", "/apis/karpenter.sh/v1/nodepools/a/status", false, false},
		{"DELETE", "/apis/karpenter.sh/v1/nodeclaims/a", false, false},
		{"POST", "/api/v1/namespaces/default/events", false, false},
		{"POST", leases, false, true},
		{"PUT", leases + "/tenon-shadow", false, true},
		{"PUT", leases + "/karpenter-leader-election", false, false},
		{"DELETE", leases + "/tenon-shadow", false, false},
	} {
		for c, want := range map[*http.Client]bool{all: tc.all, lease: tc.lease} {
			request, err := http.NewRequestWithContext(t.Context(), tc.method, server.URL+tc.path, io.NopCloser(strings.NewReader("{}")))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := c.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body) // what could not be read lacks the words below
			_ = answer.Body.Close()
			if sent := answer.StatusCode == http.StatusOK; sent != want || !sent && !strings.Contains(string(text), ErrReadOnly.Error()) {
				t.Errorf("%s %s: sent is %v (%s), want %v", tc.method, tc.path, sent, text, want)
			}
		}
	}
}

// A provider in shadow mode lists and describes, and neither buys nor ends.
func TestProvidersDoNotBuy(t *testing.T) {
	t.Parallel()
	p := Provider(memory.New(memory.Options{}).Connect())
	if _, err := p.Create(context.Background(), cloud.Claim{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("create: %v", err)
	}
	if err := p.Delete(context.Background(), "memory:///a"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("delete: %v", err)
	}
	if _, err := p.List(context.Background()); err != nil {
		t.Errorf("list: %v", err)
	}
}

var begin = time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

// A pod waits 30 seconds for the incumbent's node, and Tenon had decided after one: each side has its own time,
// node and money, and the same pod is not counted again.
func TestPurchases(t *testing.T) {
	t.Parallel()
	r := NewRecord()
	r.See(Look{At: at(0)})
	created := at(1)
	waiting := Look{Pending: map[string]time.Time{"a": created}, Planned: []string{"a"}, Purchases: []Purchase{{"would buy", 100_000, []string{"a"}}}, NodesAfter: 1, PriceAfter: 100_000}
	for second := 2; second < 31; second++ {
		waiting.At = at(second)
		r.See(waiting)
	}
	r.See(Look{At: at(31), Nodes: map[string]Node{"n": {Price: 200_000, Pods: 1}}, Bound: map[string]bool{"a": true}, NodesAfter: 1, PriceAfter: 200_000})
	got := r.Report()
	if got.Pods != 1 || got.Incumbent.WaitedMillis != 30_000 || got.Tenon.WaitedMillis != 1000 {
		t.Errorf("waiting: %+v", got)
	}
	if got.Incumbent.BoughtMilli != 1000 || got.Tenon.BoughtMilli != 1000 || got.Tenon.BoughtPriceMicros != 100_000 || len(got.Latest) != 1 {
		t.Errorf("purchases: %+v", got)
	}
	r.See(Look{At: at(31 + 3600), Nodes: map[string]Node{"n": {Price: 200_000, Pods: 1}}, Bound: map[string]bool{"a": true}})
	if got = r.Report(); got.Incumbent.CostMicros != 200_000 || got.Incumbent.PriceMicros != 200_000 {
		t.Errorf("an hour of one node costs %+v", got.Incumbent)
	}
}

// A node that appears before its price is known is counted with the price once that is known, and a node that was there before is not.
func TestPricesThatComeLater(t *testing.T) {
	t.Parallel()
	r := NewRecord()
	for i, nodes := range []map[string]Node{
		{"old": {}},
		{"old": {}, "new": {}},
		{"old": {Price: 5}, "new": {Price: 7}},
		{"old": {Price: 5}, "new": {}},
		{"old": {Price: 5}, "new": {Price: 7}},
	} {
		r.See(Look{At: at(i), Nodes: nodes})
	}
	if got := r.Report().Incumbent; got.BoughtMilli != 1000 || got.BoughtPriceMicros != 7 {
		t.Errorf("%+v, want one node of 7", got)
	}
}

// A node that is proposed for a while counts once, and again after a break; a node that goes counts once, with its pods.
func TestRemovals(t *testing.T) {
	t.Parallel()
	r := NewRecord()
	there := map[string]Node{"n": {Price: 1, Pods: 3}}
	proposed := []Removal{{"n", "would delete node n", 2}}
	for i, l := range []Look{
		{Nodes: there, GivenUp: proposed}, {Nodes: there, GivenUp: proposed}, {Nodes: there}, {Nodes: there, GivenUp: proposed},
		{Nodes: map[string]Node{"n": {Price: 1, Pods: 1, Leaving: true}}}, {Nodes: map[string]Node{"n": {Price: 1, Leaving: true}}}, {},
	} {
		l.At = at(i)
		r.See(l)
	}
	if got := r.Report(); got.Tenon.GivenUp != 2 || got.Tenon.Evictions != 4 || got.Incumbent.GivenUp != 1 || got.Incumbent.Evictions != 3 {
		t.Errorf("incumbent %+v, Tenon %+v", got.Incumbent, got.Tenon)
	}
}

// A look has the fleet as it is and as the plan would leave it, without pods of daemons, and with the places of pods.
func TestLookAt(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{
		Now:       begin,
		Nodes:     []snapshot.Node{{Name: "old", Price: 50_000}, {Name: "kept", Price: 70_000}},
		Templates: []snapshot.Template{{Owner: "web"}, {Daemon: true}},
		Pods: []snapshot.Pod{
			{Name: "a", UID: "a", Node: "old"}, {Name: "d", UID: "d", Node: "old", Template: 1},
			{Name: "b", UID: "b", Pending: true, Created: begin}, {Name: "promised", Pending: true},
		},
	}
	p := &plan.Plan{
		Claims:      []plan.Claim{{Pool: "general", Offer: plan.Offer{InstanceType: "m5.large", Zone: "a", CapacityType: "spot", Price: 30_000}, Pods: []snapshot.PodIndex{2}}},
		Disruptions: []plan.Disruption{{Reason: plan.Underutilized, Nodes: []plan.Removal{{Node: "old", Pool: "general"}}, Moves: []plan.Placement{{Node: "kept", Pods: []snapshot.PodIndex{0}}}}},
		Cost:        plan.Cost{New: 30_000},
	}
	l := LookAt(s, p)
	if l.Nodes["old"].Pods != 1 || len(l.Pending) != 1 || !l.Bound["a"] || len(l.Planned) != 1 {
		t.Errorf("%+v", l)
	}
	if l.NodesAfter != 2 || l.PriceAfter != model.Money(100_000) || len(l.GivenUp) != 1 || l.GivenUp[0].Evictions != 1 {
		t.Errorf("after: %d nodes at %d, %+v", l.NodesAfter, l.PriceAfter, l.GivenUp)
	}
}
