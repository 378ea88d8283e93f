package aws_test

import (
	"fmt"
	"testing"
	"time"

	"tenon/cloud"
)

// A controller asks for each node, one after the other, whether it has drifted and which names it has.
// The provider answers with a look at all instances now and then, not with one look for each.
func TestLooksAtManyNodes(t *testing.T) {
	t.Parallel()
	const nodes = 50
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	var bought []cloud.Instance
	for i := range nodes {
		bought = append(bought, got(p.Create(ctx, request(fmt.Sprint(i))))(t))
	}
	n.pass(time.Minute)
	n.Calls().Reset()
	for i, b := range bought {
		if reason := got(p.Drifted(ctx, request(fmt.Sprint(i)), b))(t); reason != "" {
			t.Errorf("%s has drifted: %s", b.ProviderID, reason)
		}
		if err := p.Label(ctx, b.ProviderID, map[string]string{"Name": fmt.Sprint("node-", i), "karpenter.sh/nodeclaim": fmt.Sprint("claim-", i)}); err != nil {
			t.Fatal(err)
		}
		got(p.Drifted(ctx, request(fmt.Sprint(i)), b))(t)
	}
	if looks := n.Calls().Count("ec2:DescribeInstances"); looks > 2 {
		t.Errorf("%d looks at %d nodes", looks, nodes)
	}
	for _, i := range bought[:3] {
		if err := p.Delete(ctx, i.ProviderID); err != nil {
			t.Fatal(err)
		}
	}
	n.pass(2 * time.Minute)
	if _, err := p.Drifted(ctx, request("0"), bought[0]); !cloud.IsNotFound(err) {
		t.Errorf("what is gone: error %v, want NotFound", err)
	}
}

// In a quiet cluster the search for drift uses what garbage collection has seen.
func TestQuietClustersAreLookedAtSeldom(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	bought := got(p.Create(ctx, request("0")))(t)
	n.pass(10 * time.Minute)
	got(p.List(ctx))(t) // the first also looks for machines without the cluster's name
	n.pass(3 * time.Minute)
	n.Calls().Reset()
	for round := range 5 {
		got(p.List(ctx))(t)
		for range 4 {
			n.pass(30 * time.Second)
			got(p.Drifted(ctx, request("0"), bought))(t)
		}
		if looks := n.Calls().Count("ec2:DescribeInstances"); looks != round+1 {
			t.Fatalf("%d looks in %d rounds", looks, round+1)
		}
	}
	n.pass(3 * time.Minute)
	got(p.Drifted(ctx, request("0"), bought))(t)
	if looks := n.Calls().Count("ec2:DescribeInstances"); looks != 6 {
		t.Errorf("%d looks, although the last is long ago", looks)
	}
}

// A node and its claim ask one after the other whether their instance is gone. One look answers both.
func TestOneLookTellsThatAnInstanceIsGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	bought := got(p.Create(ctx, request("0")))(t)
	n.pass(10 * time.Minute)
	if err := p.Delete(ctx, bought.ProviderID); err != nil {
		t.Fatal(err)
	}
	n.pass(2 * time.Minute)
	n.Calls().Reset()
	for _, asks := range []string{"node", "claim"} {
		if err := p.Delete(ctx, bought.ProviderID); !cloud.IsNotFound(err) {
			t.Errorf("the %s asks: error %v, want NotFound", asks, err)
		}
	}
	if looks := n.Calls().Count("ec2:DescribeInstances"); looks != 1 {
		t.Errorf("%d looks, want 1", looks)
	}
}
