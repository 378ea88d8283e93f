package turnover

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// Tenon is killed in every phase of a disruption, each time in that of another pool, while the earlier ones
// are under way. In the end all pods run, on as few machines as without a crash, and no taint, no record and
// no machine remains.
func TestKilledInEveryPhase(t *testing.T) {
	lab := labtest.Start(t)
	var fleets []*story
	var pools []*karpenterv1.NodePool
	before := map[string]bool{}
	for range phases {
		s := begin(t, lab)
		s.class()
		fleets, pools = append(fleets, s), append(pools, s.pool(onDemand("m5.2xlarge", "m5.xlarge")))
	}
	scatterAll(fleets, 3, "1", "6500m")
	for _, s := range fleets {
		for _, c := range s.claims() {
			before[c.Name] = true
		}
	}
	for _, s := range fleets {
		s.awaitCandidates()
	}
	for i, p := range phases {
		s := fleets[i]
		s.await(p, before, func() { s.open(pools[i]) })
		s.kill()
		t.Logf("killed when %s", p.name)
	}
	for _, s := range fleets {
		s.awaitClaims("one new claim is left", func(c []karpenterv1.NodeClaim) bool { return len(c) == 1 && settled(c) && !before[c[0].Name] })
		s.clean()
		s.Running("web", 3)
	}
	fleets[0].Eventually("no other instance is paid for", func(context.Context) (bool, string) {
		alive := slices.DeleteFunc(fleets[0].aws.Instances(t), func(i labtest.AWSInstance) bool { return !i.Alive() })
		return len(alive) == len(fleets), fmt.Sprintf("these run: %+v", alive)
	})
}

// phase is a stage of a disruption.
type phase struct {
	name string
	is   func(*observation) bool
}

// observation is the present claims and nodes of a story, and the names of the claims before its disruption.
type observation struct {
	before map[string]bool
	claims map[string]*karpenterv1.NodeClaim
	nodes  map[string]*v1.Node
}

// phases are those that a client sees which watches the objects. Each lasts until the disruption ends, so
// that none is missed when events of claims and nodes arrive in another order. Tenon continues until the kill
// arrives, so the phase of the kill is approximate. (The disruption controllers have tests with a crash after
// every single write.)
var phases = []phase{
	{"a record is written", func(s *observation) bool { return s.any(recorded) }},
	{"a node is closed", (*observation).closed},
	{"a replacement is created", func(s *observation) bool { return s.any(s.fresh) }},
	{"a replacement is ready", func(s *observation) bool {
		return s.any(func(c *karpenterv1.NodeClaim) bool { return s.fresh(c) && ready(c) })
	}},
	{"a node of three is deleted", func(s *observation) bool { return s.any(leaves) }},
}

func (s *observation) fresh(c *karpenterv1.NodeClaim) bool { return !s.before[c.Name] }
func recorded(c *karpenterv1.NodeClaim) bool               { return c.Annotations[record] != "" }
func leaves(c *karpenterv1.NodeClaim) bool                 { return c.DeletionTimestamp != nil }
func ready(c *karpenterv1.NodeClaim) bool {
	return meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionInitialized)
}

func (s *observation) any(is func(*karpenterv1.NodeClaim) bool) bool {
	for _, c := range s.claims {
		if is(c) {
			return true
		}
	}
	return false
}

func (s *observation) closed() bool {
	for _, n := range s.nodes {
		if leaving(n) {
			return true
		}
	}
	return false
}

// note records an event of a watch.
func (s *observation) note(event watch.Event) {
	gone := event.Type == watch.Deleted
	switch o := event.Object.(type) {
	case *karpenterv1.NodeClaim:
		if s.claims[o.Name] = o; gone {
			delete(s.claims, o.Name)
		}
	case *v1.Node:
		if s.nodes[o.Name] = o; gone {
			delete(s.nodes, o.Name)
		}
	}
}

// await calls start once it watches, and returns as soon as the story's disruption is in the phase.
func (s *story) await(p phase, before map[string]bool, start func()) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), long)
	defer cancel()
	watcher, err := client.NewWithWatch(s.Lab.Config, client.Options{Scheme: s.Lab.Client.Scheme()})
	if err != nil {
		s.Fatal(err)
	}
	// Without a version a watch begins with all existing objects.
	claims, err := watcher.Watch(ctx, &karpenterv1.NodeClaimList{}, s.mine())
	if err != nil {
		s.Fatal(err)
	}
	defer claims.Stop()
	nodes, err := watcher.Watch(ctx, &v1.NodeList{}, s.mine())
	if err != nil {
		s.Fatal(err)
	}
	defer nodes.Stop()
	start()
	now := &observation{before: before, claims: map[string]*karpenterv1.NodeClaim{}, nodes: map[string]*v1.Node{}}
	for !p.is(now) {
		select {
		case event := <-claims.ResultChan():
			now.note(event)
		case event := <-nodes.ResultChan():
			now.note(event)
		case <-ctx.Done():
			s.Fatalf("it was never seen that %s", p.name)
		}
	}
}

// kill ends Tenon at once, and waits until the lab has started it again.
func (s *story) kill() {
	s.Helper()
	book, _, err := s.Lab.Directory.Load()
	tenon, found := book.Find("tenon")
	if err != nil || !found {
		s.Fatalf("no tenon: %v", err)
	}
	if err := syscall.Kill(tenon.Pid, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	s.Eventually("tenon runs again", func(context.Context) (bool, string) {
		book, _, err := s.Lab.Directory.Load()
		now, _ := book.Find("tenon")
		return err == nil && now.Pid != tenon.Pid && now.State == "ready", fmt.Sprintf("%+v", now)
	})
}
