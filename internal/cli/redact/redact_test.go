package redact_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/cli/redact"
	"tenon/internal/testing/randomcluster"
)

func redacted(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	out, err := redact.Snapshot(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func written(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var text bytes.Buffer
	if err := snapshot.Write(&text, s); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestThePlanIsTheSame checks new nodes, places, prices and evictions of many clusters.
func TestThePlanIsTheSame(t *testing.T) {
	t.Parallel()
	claims, disruptions := 0, 0
	seeds := uint64(68)
	if testing.Short() {
		seeds = 24
	}
	for seed := range seeds {
		for name, c := range map[string]*randomcluster.Cluster{"world": randomcluster.World(seed, 20), "fleet": randomcluster.Fleet(seed, 14)} {
			s := c.Snapshot()
			before := written(t, s)
			other := redacted(t, s)
			if written(t, s) != before {
				t.Fatalf("%s %d: the snapshot was changed", name, seed)
			}
			a, b := decided(s), decided(other)
			claims, disruptions = claims+len(a.Claims), disruptions+len(a.Disruptions)
			if diff := cmp.Diff(shown(s, a), shown(other, b)); diff != "" {
				t.Errorf("%s %d (-with names +redacted):\n%s", name, seed, diff)
			}
		}
	}
	if claims < 50 || disruptions < 20 {
		t.Errorf("only %d claims and %d disruptions were compared", claims, disruptions)
	}
}

func decided(s *snapshot.Snapshot) *plan.Plan {
	p := decide.Decide(s, decide.Budget{Steps: 20_000_000, Unadvised: true, Disrupt: true, Sweep: disrupt.Budget{Steps: 50_000_000}}).Plan
	return &p
}

// shown is a plan with numbers in place of names: those of pools and nodes in the snapshot.
func shown(s *snapshot.Snapshot, p *plan.Plan) []string {
	pool := func(name string) int {
		return slices.IndexFunc(s.Pools, func(p snapshot.Pool) bool { return p.Name == name })
	}
	node := func(name string) int {
		return slices.IndexFunc(s.Nodes, func(n snapshot.Node) bool { return n.Name == name })
	}
	claim := func(c *plan.Claim) string {
		o := c.Offer
		return fmt.Sprintf("pool %d %s %s %s %s pods %v delay %s", pool(c.Pool), o.InstanceType, o.Zone, o.CapacityType, o.Price, c.Pods, c.Delay.Code)
	}
	out := []string{fmt.Sprintf("price %s bound %s", p.Cost.New, p.Cost.LowerBound)}
	for i := range p.Claims {
		out = append(out, claim(&p.Claims[i]))
	}
	for _, e := range p.Existing {
		out = append(out, fmt.Sprintf("node %d pods %v", node(e.Node), e.Pods))
	}
	for _, u := range p.Unplaced {
		out = append(out, fmt.Sprintf("unplaced %d", u.Pod))
	}
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		out = append(out, fmt.Sprintf("%s saves %s evict %v delay %s", d.Reason, d.Savings, d.Evict, d.Delay.Code))
		for _, n := range d.Nodes {
			out = append(out, fmt.Sprintf("remove %d of pool %d pods %v", node(n.Node), pool(n.Pool), n.Pods))
		}
		for j := range d.Replacements {
			out = append(out, claim(&d.Replacements[j]))
		}
		for _, m := range d.Moves {
			out = append(out, fmt.Sprintf("move to %d pods %v", node(m.Node), m.Pods))
		}
	}
	return out
}

// secret is a snapshot in which every text that is of the cluster alone has the word secret in it.
func secret() *snapshot.Snapshot {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	size := requirement.NewSet(requirement.New("secret.example/size", requirement.Gte, "777004"), requirement.New("secret.example/team", requirement.NotIn, "secret-blue"))
	machine := catalog.Type{
		Name: "m5.large", Capacity: model.NewResources(model.Amount{Name: "cpu", Value: 2000}, model.Amount{Name: "memory", Value: 8 << 30}, model.Amount{Name: "pods", Value: 20}, model.Amount{Name: "secret.example/device", Value: 1}),
		Requirements: requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "m5.large"), requirement.New(requirement.KeyZone, requirement.In, "a"), requirement.New(requirement.KeyCapacityType, requirement.In, "reserved"),
			requirement.New("karpenter.k8s.aws/capacity-reservation-id", requirement.In, "cr-secret")),
		Offerings: []catalog.Offering{{Zone: "a", CapacityType: "reserved", ReservationID: "cr-secret", ReservationCapacity: 3, Price: 100, Available: true}},
	}
	s := &snapshot.Snapshot{
		Now:      now,
		Settings: snapshot.Settings{Preferences: snapshot.Respect, ReservedCapacity: true, WellKnown: requirement.Core().WellKnown().With("karpenter.k8s.aws/capacity-reservation-id", "secret.example/size")},
		Catalogs: []catalog.Catalog{{Types: []catalog.Type{machine}}},
		Pools: []snapshot.Pool{{
			Name: "secret-pool", Labels: map[string]string{"secret.example/size": "777010", "secret.example/team": "secret-red", requirement.KeyNodePool: "secret-pool", "karpenter.k8s.aws/ec2nodeclass": "secret-class"},
			Annotations:  map[string]string{"secret.example/note": "secret words"},
			Requirements: requirement.NewSet(requirement.New("secret.example/size", requirement.In, "777010"), requirement.New("secret.example/team", requirement.In, "secret-red"), requirement.New(requirement.KeyNodePool, requirement.In, "secret-pool")),
			Taints:       []model.Taint{{Key: "secret.example/only", Value: "secret-red", Effect: model.NoSchedule}},
			Limits:       []model.Amount{{Name: "cpu", Value: 100_000}, {Name: "secret.example/device", Value: 10}},
		}, {
			Name: snapshot.GroupPool("secret-group"), Group: &snapshot.Group{Name: "secret-asg", Chosen: map[string][]string{"secret.example/rack": {"secret-1"}}},
			Unready: reason.Unready{Code: reason.NotReady, Message: "the secret is not there"},
		}},
		Nodes: []snapshot.Node{{
			Name: "secret-node", Claim: "secret-claim", Pool: "secret-pool", InstanceType: "m5.large", Zone: "a", CapacityType: "reserved", Reservation: "cr-secret",
			Labels:       map[string]string{requirement.KeyHostname: "secret-node", requirement.KeyZone: "a", "secret": "secret-value", "secret.example/size": "secret-7"},
			VolumeLimits: []model.Amount{{Name: "secret.csi.example", Value: 20}},
			Life:         snapshot.Life{Drifted: "secret drift"},
		}},
		Templates: []snapshot.Template{{
			Namespace: "secret-shop", Owner: "Deployment/secret-web", Labels: map[string]string{"app.kubernetes.io/name": "secret-web"}, Requests: model.Resources{CPU: 500, Pods: 1},
			Terms: []requirement.Set{size}, Tolerations: []model.Toleration{{Key: "secret.example/only", Operator: "Equal", Value: "secret-red"}},
			Spreads:      []snapshot.Spread{{Key: "secret.example/rack", MaxSkew: 1, Soft: true, Selector: model.Selector{Expressions: []model.Expression{{Key: "app.kubernetes.io/name", Operator: "In", Values: []string{"secret-web"}}}}}},
			AntiAffinity: []snapshot.AffinityTerm{{Key: requirement.KeyHostname, Namespaces: []string{"secret-shop"}, Selector: model.Selector{All: true}}},
			HostPorts:    []model.HostPort{{IP: "10.9.8.7", Port: 80, Protocol: "TCP"}},
			Volumes:      []snapshot.Volume{{ID: "secret-shop/secret-volume", Driver: "secret.csi.example"}},
		}},
		Pods: []snapshot.Pod{
			{Namespace: "secret-shop", Name: "secret-web-0", UID: "secret-uid-0", Pending: true},
			{Namespace: "secret-shop", Name: "secret-web-1", UID: "secret-uid-1", Node: "secret-node", Tie: snapshot.Tie{Budgets: []string{"secret-budget"}}, Refused: reason.Obstacles{{Code: reason.PodRefused, Detail: "a secret field"}}},
		},
		Gated:   []snapshot.Gated{{Namespace: "secret-shop", Name: "secret-gated", Gates: []string{"secret.example/gate"}}},
		Budgets: []snapshot.Budget{{Namespace: "secret-shop", Name: "secret-budget", Allowed: 1}},
		Buffers: []snapshot.Buffer{{Namespace: "secret-shop", Name: "secret-buffer", Pods: 1}},
	}
	s.Waiting.Refused = []snapshot.Refused{{UID: "secret-uid-0", Times: 2, Until: now.Add(-time.Minute), Stock: wait.Stock(s, &s.Pools[0])}}
	return s
}

// TestNothingOfTheClusterIsLeft checks that names, values of labels, reservations and messages are gone, that what
// describes machines is still there, and that the pod still gets the node that it can get.
func TestNothingOfTheClusterIsLeft(t *testing.T) {
	t.Parallel()
	s := secret()
	other := redacted(t, s)
	text := written(t, other)
	for _, word := range []string{"secret", "10.9.8.7"} {
		if at := strings.Index(text, word); at >= 0 {
			t.Errorf("%s is left: %s", word, text[max(0, at-200):min(len(text), at+60)])
		}
	}
	for _, word := range []string{"m5.large", `"kubernetes.io/hostname"`, `"zone":"a"`, "app.kubernetes.io/name", "nodegroup/x", `"777010"`, "Deployment/x", "NoSchedule", `"NotReady"`} {
		if !strings.Contains(text, word) {
			t.Errorf("%s is gone: %s", word, text)
		}
	}
	if other.Waiting.Refused[0].Stock != wait.Stock(other, &other.Pools[0]) {
		t.Error("the stock of a refused pod is that of another pool")
	}
	a, b := decided(s), decided(other)
	if diff := cmp.Diff(shown(s, a), shown(other, b)); diff != "" || len(a.Claims) != 1 {
		t.Errorf("%d claims (-with names +redacted):\n%s", len(a.Claims), diff)
	}
}

// TestKeysKeepTheirPlaces checks that new names of labels are in the order of the old ones, also beside those that stay.
func TestKeysKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"before all":          {"app", "kubernetes.io/arch"},
		"after all":           {"kubernetes.io/arch", "zone"},
		"between domains":     {"karpenter.sh/nodepool", "kind", "kube", "kubernetes.io/arch"},
		"between two of one":  {"kubernetes.io/arch", "kubernetes.io.example/x", "kubernetes.io/os"},
		"after its beginning": {"tenon.sh/a", "tenon.sh/a-b", "tenon.sh/a.b", "vpc"},
		"without any":         {"a", "b", "c"},
	} {
		slices.Sort(keys)
		s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Name: "n"}}}
		for _, key := range keys {
			s.Nodes[0].Taints = append(s.Nodes[0].Taints, model.Taint{Key: key})
		}
		var got []string
		for _, taint := range redacted(t, s).Nodes[0].Taints {
			got = append(got, taint.Key)
		}
		if !slices.IsSorted(got) || len(slices.Compact(got)) != len(keys) {
			t.Errorf("%s: %v became %v", name, keys, got)
		}
	}
}

// TestRandomClustersLeaveNoNames checks that no name of a pod, node or pool is in the text.
func TestRandomClustersLeaveNoNames(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		s := randomcluster.World(seed, 20).Snapshot()
		text := written(t, redacted(t, s))
		var names []string
		for i := range s.Pods {
			names = append(names, s.Pods[i].Name, s.Pods[i].Namespace)
		}
		for i := range s.Nodes {
			names = append(names, s.Nodes[i].Name, s.Nodes[i].Claim)
		}
		for i := range s.Pools {
			names = append(names, s.Pools[i].Name)
		}
		for _, name := range names {
			if name != "" && (strings.Contains(text, `"`+name+`"`) || strings.Contains(text, `/`+name+`"`) || strings.Contains(text, `"`+name+`/`)) {
				t.Errorf("seed %d: %s is left", seed, name)
			}
		}
	}
}
