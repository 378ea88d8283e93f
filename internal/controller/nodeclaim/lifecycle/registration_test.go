package lifecycle

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// TestMissingTaint: an event reports the race, and the node is registered all the same.
func TestMissingTaint(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.join(func(n *corev1.Node) { n.Spec.Taints = nil })
	s.run()
	s.run()
	want := []string{"Warning UnregisteredTaintMissing web-1: Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes"}
	if diff := cmp.Diff(want, s.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.expect("Ready", "True", "Ready", "")
}

// guarded is a provider whose nodes have to wait.
type guarded struct {
	cloud.Provider
	answer func() (cloud.Admission, error)
}

func (g guarded) Admit(context.Context, cloud.Claim, cloud.Instance) (cloud.Admission, error) {
	return g.answer()
}

// TestGate: a node has its labels and taints but stays closed until the gate admits it.
func TestGate(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	answer, trouble := cloud.Admission{Awaiting: []string{"disks", "partition"}, Again: 3 * time.Second}, error(nil)
	s.Cloud(func(p cloud.Provider) cloud.Provider {
		return guarded{p, func() (cloud.Admission, error) { return answer, trouble }}
	})
	s.controller = New(s.Kit, s.tracker)
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Labels["team"] = "red" })
	s.run()
	s.join()
	if again := s.run().After; again != 3*time.Second {
		t.Errorf("asks again in %s", again)
	}
	s.expect(karpenterv1.ConditionRegistered, "Unknown", "RegistrationHookPending", "disks, partition")
	var node corev1.Node
	s.Get("node-web-1", &node)
	if node.Labels["team"] != "red" || !tainted(&node, karpenterv1.TaintUnregistered()) || node.Labels[karpenterv1.LabelRegistered] != "" {
		t.Errorf("waiting node: %v %v", node.Labels, node.Spec.Taints)
	}
	trouble = errors.New("broken gate")
	if err := s.try(); !errors.Is(err, trouble) {
		t.Errorf("got %v", err)
	}
	answer, trouble = cloud.Admission{Labels: map[string]string{"partition": "7"}}, nil
	s.run()
	s.Get("node-web-1", &node)
	if node.Labels["partition"] != "7" || s.Claim("web-1").Labels["partition"] != "7" {
		t.Errorf("the label that became known is missing: %v", node.Labels)
	}
	s.expect("Ready", "True", "Ready", "")
}

// TestAdopted: what a running Karpenter has brought up stays as it is; what it has bought
// and not yet registered goes on without a second purchase.
func TestAdopted(t *testing.T) {
	t.Parallel()
	adopt := func(c *karpenterv1.NodeClaim, trues ...string) {
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
		c.Status.ProviderID, c.Status.NodeName = "aws:///a/i-1", "node-web-1"
		conditions := c.Conditions(c.CreationTimestamp.Time)
		for _, name := range trues {
			conditions.SetTrue(name)
		}
		c.Status.Conditions = conditions.List()
	}
	t.Run("initialized", func(t *testing.T) {
		t.Parallel()
		s := newStory(t, memory.Options{})
		s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { adopt(c, "Launched", "Registered", "Initialized") })
		claim := s.Claim("web-1")
		adopt(claim, "Launched", "Registered", "Initialized")
		s.Put(claim)
		s.Clock.Step(100 * time.Hour)
		s.Calls()
		if again := s.run(); again != reconcile.Never {
			t.Errorf("looks again in %s", again.After)
		}
		if writes := slices.DeleteFunc(s.Calls(), func(c harness.Call) bool { return !c.IsWrite() }); len(writes) > 0 || s.Far.Bought() > 0 {
			t.Errorf("written: %v; bought: %d", writes, s.Far.Bought())
		}
	})
	t.Run("launched", func(t *testing.T) {
		t.Parallel()
		s := newStory(t, memory.Options{})
		s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{karpenterv1.FinalizerTermination} })
		claim := s.Claim("web-1")
		adopt(claim)
		s.Put(claim)
		s.Join(cloud.Instance{ProviderID: "aws:///a/i-1", ClaimName: "web-1"}, harness.Ready)
		s.run()
		s.expect("Ready", "True", "Ready", "")
		if s.Far.Bought() != 0 {
			t.Error("bought")
		}
	})
}

// TestNotOurs: claims of classes that this provider does not know are left alone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Spec.NodeClassRef.Kind = "OtherClass" })
	if s.run() != reconcile.Never || len(s.Claim("web-1").Finalizers) > 0 || s.Far.Bought() > 0 {
		t.Error("touched")
	}
}

// TestNodeUnseen: the cache shows no node; the one that the claim names is found all the
// same, and drained before its instance goes.
func TestNodeUnseen(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.join()
	s.run()
	s.Lag("NodeList")
	s.delete()
	s.run()
	var node corev1.Node
	if s.Get("node-web-1", &node); node.DeletionTimestamp == nil || s.Far.Instances()[0].State == cloud.Terminating {
		t.Errorf("node deleted %v, instance %s", node.DeletionTimestamp, s.Far.Instances()[0].State)
	}
	s.drained()
	s.end()
}

// TestNodeOpenedUnseen: the cache shows a node that has not registered, and pods may have come
// to it since; it is drained before its instance goes.
func TestNodeOpenedUnseen(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.join()
	var node corev1.Node
	s.Get("node-web-1", &node)
	s.Hold(node.DeepCopy())
	node.Labels, node.Spec.Taints = map[string]string{karpenterv1.LabelRegistered: "true"}, nil
	node.Finalizers = []string{karpenterv1.FinalizerTermination}
	s.Must(s.API.Update(context.Background(), &node))
	s.delete()
	s.run()
	left := s.Far.Instances()
	if s.Get("node-web-1", &node); node.DeletionTimestamp == nil || len(left) != 1 || left[0].State == cloud.Terminating {
		t.Errorf("node deleted %v, instances %v", node.DeletionTimestamp, left)
	}
}

// TestNodeOpenedByHand: a user removed the taint of a node before it was registered, so pods may have come to it. It is
// drained before its instance goes, whether or not its claim knows the instance.
func TestNodeOpenedByHand(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"the claim knows its instance": true, "the answer to its purchase was lost": false} {
		s := newStory(t, memory.Options{})
		s.Named("web-1", "web")
		s.run()
		s.join()
		var node corev1.Node
		s.Get("node-web-1", &node)
		node.Spec.Taints = nil
		s.Must(s.API.Update(context.Background(), &node))
		if claim := s.Claim("web-1"); !known {
			claim.Status.ProviderID = ""
			s.Must(s.API.Status().Update(context.Background(), claim))
		}
		s.delete()
		s.run()
		left := s.Far.Instances()
		if s.Get("node-web-1", &node); node.DeletionTimestamp == nil || len(left) != 1 || left[0].State == cloud.Terminating {
			t.Errorf("%s: node deleted %v with finalizers %v, instances %v", name, node.DeletionTimestamp, node.Finalizers, left)
		}
		s.drained()
		s.end()
	}
}
