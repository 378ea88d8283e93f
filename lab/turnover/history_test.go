package turnover

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// history is what happened to a story's claims, in the API server's order. A test that checked only now and
// then would miss most of it.
type history struct {
	mu      sync.Mutex
	claims  map[string]*karpenterv1.NodeClaim
	moments []moment
}

// moment is how many nodes there were after an event. As for budgets, nodes whose machines are being ended
// do not count.
type moment struct {
	inService int      // initialized, leaving or not
	leaving   int      // leaving among those in service
	deleted   []string // claims first seen as deleted at this moment
	at        time.Time
}

// observe begins a history, which ends with the test.
func (s *story) observe() *history {
	s.Helper()
	c := &history{claims: map[string]*karpenterv1.NodeClaim{}}
	watcher, err := client.NewWithWatch(s.Lab.Config, client.Options{Scheme: s.Lab.Client.Scheme()})
	if err != nil {
		s.Fatal(err)
	}
	list := &karpenterv1.NodeClaimList{}
	if err := watcher.List(s.Context(), list, s.mine()); err != nil {
		s.Fatal(err)
	}
	for i := range list.Items {
		c.note(watch.Added, &list.Items[i])
	}
	w, err := watcher.Watch(context.WithoutCancel(s.Context()), &karpenterv1.NodeClaimList{}, s.mine(),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			if claim, is := event.Object.(*karpenterv1.NodeClaim); is {
				c.note(event.Type, claim)
			}
		}
	}()
	s.Cleanup(func() {
		w.Stop()
		<-done
	})
	return c
}

func (c *history) note(what watch.EventType, claim *karpenterv1.NodeClaim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.claims[claim.Name]
	if c.claims[claim.Name] = claim; what == watch.Deleted {
		delete(c.claims, claim.Name)
	}
	now := moment{at: time.Now()}
	for _, each := range c.claims {
		is := func(condition string) bool { return meta.IsStatusConditionTrue(each.Status.Conditions, condition) }
		if !is(karpenterv1.ConditionInitialized) || is(karpenterv1.ConditionInstanceTerminating) {
			continue
		}
		now.inService++
		if each.DeletionTimestamp != nil || is(karpenterv1.ConditionDisruptionReason) {
			now.leaving++
		}
	}
	if claim.DeletionTimestamp != nil && (before == nil || before.DeletionTimestamp == nil) {
		now.deleted = []string{claim.Name}
	}
	c.moments = append(c.moments, now)
}

// all returns all moments so far.
func (c *history) all() []moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moments[:len(c.moments):len(c.moments)]
}

// mostLeaving returns the largest number of nodes that were leaving at once.
func (c *history) mostLeaving() int {
	most := 0
	for _, m := range c.all() {
		most = max(most, m.leaving)
	}
	return most
}

// firstLeft returns when the first node was closed.
func (c *history) firstLeft() time.Time {
	for _, m := range c.all() {
		if m.leaving > 0 {
			return m.at
		}
	}
	return time.Time{}
}

// readyFirst returns how many nodes were in service and stayed when the first one was deleted.
func (c *history) readyFirst() int {
	for _, m := range c.all() {
		if len(m.deleted) > 0 {
			return m.inService - m.leaving
		}
	}
	return -1
}

func key(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }
