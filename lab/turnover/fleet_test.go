package turnover

import (
	"context"
	"fmt"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/core/model"
	"tenon/lab/labtest"
)

// A fleet of two hundred nodes, two fifths of it in use, becomes cheaper step by step, and never more than
// a fifth of its nodes leave at once. The test logs how often pods were moved without judging it, because
// the scheduler decides where an evicted pod goes.
func TestHalfEmptyFleet(t *testing.T) {
	const nodes = 200
	s := begin(t, labtest.Start(t))
	s.class()
	pool := s.pool(onDemand("m6a.xlarge"))
	// A machine of four processors has 3.92 for pods: room for one large filler and one pod that stays.
	before := s.scatter(nodes, "1500m", "2200m")
	was := fee(before)
	history, moves := s.observe(), s.countMoves("web", nodes)
	s.require(pool, onDemand("m6a.xlarge", "m6a.2xlarge"))
	s.open(pool, `{"nodes":"20%"}`)
	// A machine of four processors has room for two of the pods, one of eight for five. Other measurements,
	// which take longer, show how near Tenon comes to that.
	enough := was * 0.6
	var after []karpenterv1.NodeClaim
	s.Lab.EventuallyWithin(s, 3*long, "the fleet costs what it should", func(context.Context) (bool, string) {
		after = s.claims()
		return fee(after) <= enough && settled(after), fmt.Sprintf("%d claims for %.3f an hour, which should be %.3f", len(after), fee(after), enough)
	})
	s.Running("web", nodes)
	t.Logf("%d nodes for %.3f an hour became %d for %.3f; %d pods were moved, %d of them again", len(before), was, len(after), fee(after), moves().first, moves().again)
	for _, m := range history.all() {
		if m.leaving*5 > m.inService+4 { // percentages of a budget are rounded up
			t.Fatalf("%d of %d nodes were leaving", m.leaving, m.inService)
		}
	}
	if most := history.mostLeaving(); most < nodes/10 {
		t.Errorf("the budget allows %d at a time, and at most %d were leaving", nodes/5, most)
	}
}

// moves counts pods that were deleted: those that existed at the beginning, and others.
type moves struct{ first, again int }

// countMoves counts an app's pods that are deleted from now on.
func (s *story) countMoves(app string, pods int) func() moves {
	s.Helper()
	old := map[types.UID]bool{}
	for _, p := range s.Running(app, pods) {
		old[p.UID] = true
	}
	w, err := s.Lab.Clients.CoreV1().Pods(s.Namespace).Watch(context.WithoutCancel(s.Context()), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		s.Fatal(err)
	}
	var mu sync.Mutex
	var seen moves
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			pod, is := event.Object.(*v1.Pod)
			if !is || event.Type != watch.Deleted {
				continue
			}
			mu.Lock()
			if old[pod.UID] {
				seen.first++
			} else {
				seen.again++
			}
			mu.Unlock()
		}
	}()
	s.Cleanup(func() {
		w.Stop()
		<-done
	})
	return func() moves {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// fee returns what claims cost an hour.
func fee(claims []karpenterv1.NodeClaim) float64 {
	prices, sum := facts.PricesFor("us-west-2").Hourly, model.Money(0)
	for _, c := range claims {
		sum += prices[c.Labels[v1.LabelInstanceTypeStable]]
	}
	return sum.Float()
}
