package cloudstories

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
)

// When none of the ten cheapest types is available, Tenon buys the next one, and only once.
func TestCheapestTypesAreSoldOut(t *testing.T) {
	s := tell(t)
	short := cheapest(10)
	s.aws.Cause(s, fmt.Sprintf(`{"kind":"no-capacity","instanceTypes":%s}`, quoted(short)))
	s.class("web", "al2023@latest")
	s.pool("web", and(small, karpenterv1.LabelCapacityType, "on-demand"))
	s.deploy("web", 3)
	s.Running("web", 3)
	machines := s.alive()
	if len(machines) != 3 {
		t.Errorf("%d machines for three pods", len(machines))
	}
	for _, i := range machines {
		if slices.Contains(short, i.Type) {
			t.Errorf("%s is sold out, and was bought", i.Type)
		}
	}
	for _, claim := range s.claims(t.Context()) {
		if !slices.ContainsFunc(machines, func(i machine) bool { return i.ProviderID == claim.Status.ProviderID }) {
			t.Errorf("claim %s has no machine", claim.Name)
		}
	}
}

// cheapest returns the types of the pool of small machines with the lowest prices.
func cheapest(count int) []string {
	prices := facts.PricesFor("us-west-2").Hourly
	var names []string
	for _, t := range facts.Types() {
		fits := t.VCPUs.Or(0) == 2 && t.Architecture == "amd64" && slices.Contains([]string{"c", "m", "r"}, t.Family[:1])
		if prices[t.Name] > 0 && fits {
			names = append(names, t.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(prices[a], prices[b]), cmp.Compare(a, b)) })
	return names[:count]
}

// Tenon launches three hundred nodes although AWS allows five purchases a second: no claim fails, no
// claim is made again, and nothing is bought twice.
func TestBurstAgainstThrottling(t *testing.T) {
	s := tell(t)
	const nodes = 300
	s.class("web", "al2023@latest")
	s.pool("web", small)
	s.deploy("web", 1)
	s.Running("web", 1)
	s.aws.Cause(s, `{"kind":"throttle","service":"ec2","operations":["CreateFleet"],"rate":5,"burst":5}`)
	s.Scale("web", nodes)
	var made sets.Set[string]
	s.Lab.EventuallyWithin(s, long, "there is a claim for every pod", func(ctx context.Context) (bool, string) {
		made = sets.New[string]()
		for _, claim := range s.claims(ctx) {
			made.Insert(claim.Name)
		}
		return made.Len() >= nodes, fmt.Sprint(made.Len(), " claims")
	})
	s.Running("web", nodes)
	now := sets.New[string]()
	for _, claim := range s.claims(t.Context()) {
		now.Insert(claim.Name)
	}
	if !now.Equal(made) || len(s.alive()) != nodes || len(s.aws.Instances(t)) > nodes+s.before {
		t.Errorf("%d claims were made, %d are there; %d machines run of %d that were bought", made.Len(), now.Len(), len(s.alive()), len(s.aws.Instances(t))-s.before)
	}
	well, throttled := s.calls("ec2", "CreateFleet")
	t.Logf("%d purchases, and %d that AWS refused to listen to", well, throttled)
}

// nodesOf returns the nodes on which pods run.
func nodesOf(pods []v1.Pod) sets.Set[string] {
	nodes := sets.New[string]()
	for _, pod := range pods {
		nodes.Insert(pod.Spec.NodeName)
	}
	return nodes
}
