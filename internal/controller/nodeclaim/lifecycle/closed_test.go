package lifecycle

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// places are pods with places on every node, or on none.
type places struct {
	wanted bool
	wait   time.Duration
	opened int
}

func (p *places) Wanted(string) bool { return p.wanted }

func (p *places) Prepare(context.Context, string, string) time.Duration { return p.wait }

func (p *places) Opened(string) { p.opened++ }

// A node on which pods have places opens when it is ready and they have been told; after thirty
// seconds it opens as it is. A node that no pod waits for opens at once.
func TestNodesOpenWhenPodsHaveBeenTold(t *testing.T) {
	t.Parallel()
	unready := func(n *corev1.Node) { n.Status.Conditions = nil }
	for name, tc := range map[string]struct {
		places places
		change func(*corev1.Node)
		age    time.Duration
		opens  bool
	}{
		"no pod waits":                 {places{wait: time.Second}, unready, 0, true},
		"not ready":                    {places{wanted: true}, unready, 0, false},
		"not ready for half a minute":  {places{wanted: true}, unready, 30 * time.Second, true},
		"ready, but they are not told": {places{wanted: true, wait: time.Second}, harness.Ready, 0, false},
		"ready, and they are told":     {places{wanted: true}, harness.Ready, 0, true},
		"they could not be told":       {places{wanted: true, wait: time.Second}, harness.Ready, 30 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, memory.Options{})
			s.controller = At(s.Kit, s.tracker, nil, &tc.places)
			s.Put(s.Named("web-1", "web"))
			s.run()
			s.join(tc.change, func(n *corev1.Node) {
				n.CreationTimestamp.Time = s.Clock.Now().Add(-tc.age)
			})
			result := s.run()
			var node corev1.Node
			s.Get("node-web-1", &node)
			if open := !tainted(&node, karpenterv1.TaintUnregistered()); open != tc.opens || tc.opens != (tc.places.opened == 1) {
				t.Errorf("open: %t, told of it %d times", open, tc.places.opened)
			}
			if !tc.opens && (result.After <= 0 || result.After > longestClosed) {
				t.Errorf("the node is looked at again after %s", result.After)
			}
		})
	}
}
