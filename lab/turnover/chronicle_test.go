package turnover

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// chronicle is what happened to a story's nodes, in the order in which the API server has it: a
// test that looked now and then would miss most of it.
type chronicle struct {
	mu      sync.Mutex
	nodes   map[string]*v1.Node
	moments []moment
}

// moment is how many nodes there were after something has happened.
type moment struct {
	inService int      // initialized, be they leaving or not
	leaving   int      // of those
	deleted   []string // for the first time, at this moment
	at        time.Time
}

// observe begins a chronicle, which ends with the test.
func (s *story) observe() *chronicle {
	s.Helper()
	c := &chronicle{nodes: map[string]*v1.Node{}}
	list, err := s.lab.Clients.CoreV1().Nodes().List(s.Context(), metav1.ListOptions{LabelSelector: storyLabel + "=" + s.name})
	if err != nil {
		s.Fatal(err)
	}
	for i := range list.Items {
		c.note(watch.Added, &list.Items[i])
	}
	w, err := s.lab.Clients.CoreV1().Nodes().Watch(context.WithoutCancel(s.Context()), metav1.ListOptions{
		LabelSelector: storyLabel + "=" + s.name, ResourceVersion: list.ResourceVersion,
	})
	if err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			if node, is := event.Object.(*v1.Node); is {
				c.note(event.Type, node)
			}
		}
	}()
	s.Cleanup(func() {
		w.Stop()
		<-done
	})
	return c
}

func (c *chronicle) note(what watch.EventType, node *v1.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.nodes[node.Name]
	if c.nodes[node.Name] = node; what == watch.Deleted {
		delete(c.nodes, node.Name)
	}
	now := moment{at: time.Now()}
	for _, n := range c.nodes {
		if n.Labels[karpenterv1.LabelInitialized] != "true" {
			continue
		}
		now.inService++
		if leaving(n) {
			now.leaving++
		}
	}
	if node.DeletionTimestamp != nil && (before == nil || before.DeletionTimestamp == nil) {
		now.deleted = []string{node.Name}
	}
	c.moments = append(c.moments, now)
}

// all that has happened so far.
func (c *chronicle) all() []moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moments[:len(c.moments):len(c.moments)]
}

// mostLeaving is how many nodes were leaving at once, at most.
func (c *chronicle) mostLeaving() int {
	most := 0
	for _, m := range c.all() {
		most = max(most, m.leaving)
	}
	return most
}

// firstLeft is when the first node was closed.
func (c *chronicle) firstLeft() time.Time {
	for _, m := range c.all() {
		if m.leaving > 0 {
			return m.at
		}
	}
	return time.Time{}
}

// readyFirst is how many nodes were in service and stayed when the first one was deleted.
func (c *chronicle) readyFirst() int {
	for _, m := range c.all() {
		if len(m.deleted) > 0 {
			return m.inService - m.leaving
		}
	}
	return -1
}

func key(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }
