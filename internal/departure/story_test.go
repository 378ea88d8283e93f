package departure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

func daemon(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
}

func static(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n"}}
}

func critical(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" }

func protected(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: value} }
}

// Pods leave in the documented order, static ones with the node, and no step waits for a timer if a
// watch shows the change.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.Bound("cni", s.node.Name, daemon, critical)
	s.Bound("dns", s.node.Name, critical)
	s.Bound("logs", s.node.Name, daemon)
	s.Bound("web", s.node.Name)
	s.Bound("proxy", s.node.Name, static, critical)
	s.run(3 * time.Second)
	s.expect(false)
	s.Delete(s.node)
	s.run(500 * time.Millisecond)
	s.expect(false, "3s: web evicted", "3s: logs evicted", "3s: dns evicted", "3s: cni evicted")
	s.run(15 * time.Second)
	s.expect(true, s.story...)
	if s.Claim("c").DeletionTimestamp == nil {
		t.Error("the claim stays")
	}
}

// A budget holds one pod and no other; when it allows an eviction, the pod leaves at once.
func TestBudgetHoldsAndLetsGo(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.budget("db", 0)
	for i := range 30 {
		s.Bound(fmt.Sprintf("web-%02d", i), s.node.Name)
	}
	s.Bound("db", s.node.Name)
	s.Bound("logs", s.node.Name, daemon)
	s.Delete(s.node)
	s.run(10 * time.Minute)
	if len(s.story) != 30 || s.story[29] != "0s: web-29 evicted" || s.nodeGone() {
		t.Fatalf("story %q", s.story)
	}
	message := drainedMessage(s)
	if !strings.Contains(message, "PodDisruptionBudget default/db") || !strings.Contains(message, "disruptionsAllowed 0") || !strings.Contains(message, "default/db.") {
		t.Errorf("the claim says %q", message)
	}
	refused := s.Count(s.Kit.Metrics.PodsEvictionRequestsTotal.WithLabelValues("429"))
	if refused < 60 || refused > 90 {
		t.Errorf("asked %v times in ten minutes, want about one in ten seconds and a few more at first", refused)
	}
	s.story, b.Status.DisruptionsAllowed = nil, 1
	s.Put(b)
	s.run(0)
	s.expect(false, "10m0s: db evicted", "10m0s: logs evicted")
	s.run(10 * time.Second)
	s.expect(true, s.story...)
}

func drainedMessage(s *fixture) string {
	conditions := s.Claim("c").Conditions(s.Clock.Now())
	c, _ := conditions.Get(karpenterv1.ConditionDrained)
	return c.Message
}

// A pod that is protected for a time leaves when the time is over, and not before.
func TestProtectedForAWhile(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.Bound("job", s.node.Name, protected("12m"))
	s.Bound("logs", s.node.Name, daemon)
	s.Delete(s.node)
	s.run(119 * time.Second)
	s.expect(false)
	s.run(10 * time.Second)
	s.expect(true, "2m0s: job evicted", "2m0s: logs evicted")
}

// The removal of the annotation takes effect at once.
func TestProtectionTakenOff(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	pod := s.Bound("job", s.node.Name, protected("true"))
	s.Delete(s.node)
	s.run(5 * time.Minute)
	s.expect(false)
	pod.Annotations = nil
	s.Put(pod)
	s.run(0)
	s.expect(false, "5m0s: job evicted")
}

// A deadline deletes each pod by force just early enough, and then the instance.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.budget("db", 0)
	slow := int64(120)
	s.Bound("db", s.node.Name)
	s.Bound("slow", s.node.Name, protected("true"), func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &slow })
	s.Bound("cni", s.node.Name, daemon, critical)
	s.Delete(s.node)
	s.run(time.Minute)
	s.expect(false)
	claim := s.Claim("c") // as the lifecycle does when a claim with a grace period is deleted
	claim.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: s.begun.Add(5 * time.Minute).UTC().Format(time.RFC3339)}
	s.Put(claim)
	s.run(2*time.Minute - time.Second)
	s.expect(false)
	if message := drainedMessage(s); !strings.Contains(message, "pods are deleted even if something holds them") {
		t.Errorf("the claim says %q", message)
	}
	s.run(8 * time.Minute)
	s.expect(true, "3m0s: slow deleted in 119s", "4m30s: cni deleted in 29s", "4m30s: db deleted in 29s")
}

// A deadline in the past deletes everything at once.
func TestNoTimeAtAll(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(c *karpenterv1.NodeClaim) {
		c.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: "2026-01-01T00:00:00Z"}
	})
	s.Bound("job", s.node.Name, protected("true"))
	s.Bound("cni", s.node.Name, daemon, critical)
	s.Delete(s.node)
	s.run(10 * time.Second)
	s.expect(true, "0s: cni deleted in 1s", "0s: job deleted in 1s")
}

// A pod whose kubelet never ends it delays the drain until it counts as stuck, and not longer.
func TestStuckPod(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	pod := s.Bound("stuck", s.node.Name, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/never"} })
	s.Bound("logs", s.node.Name, daemon)
	s.Must(s.API.Delete(context.Background(), pod))
	s.Delete(s.node)
	s.run(59 * time.Second)
	s.expect(false)
	s.run(20 * time.Second)
	if !s.nodeGone() || len(s.story) != 1 || !strings.HasSuffix(s.story[0], "logs evicted") {
		t.Errorf("gone %t, story %q", s.nodeGone(), s.story)
	}
}

// A process that is killed repeatedly in the middle reaches the same end.
func TestRestarts(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.budget("db", 0)
	s.Bound("db", s.node.Name)
	s.Bound("web", s.node.Name)
	s.Bound("job", s.node.Name, protected("11m"))
	s.Bound("dns", s.node.Name, critical)
	s.Delete(s.node)
	for i := range 300 {
		if i == 200 {
			b.Status.DisruptionsAllowed = 1
			s.Put(b)
		}
		s.run(700 * time.Millisecond)
		s.start()
	}
	s.expect(true, "0s: web evicted", "1m0s: job evicted", "2m20s: db evicted", "2m20s: dns evicted")
	if s.Count(s.Kit.Metrics.NodesTerminatedTotal) != 1 || s.Count(s.Kit.Metrics.PodsDrainedTotal) != 4 || s.Count(s.Kit.Metrics.NodesDrainedTotal) != 1 {
		t.Error("counted more or less than once")
	}
}

// When an instance dies during a drain, its node is removed.
func TestMachineDies(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.Bound("job", s.node.Name, protected("true"))
	s.Delete(s.node)
	s.run(time.Minute)
	s.expect(false)
	s.Far.Kill(s.node.Spec.ProviderID)
	var node corev1.Node
	s.Get(s.node.Name, &node)
	node.Status.Conditions[0].Status = corev1.ConditionUnknown
	s.Put(&node)
	s.run(0)
	s.expect(true)
}

// For every write that fails, before or after it takes effect, the end is the same.
func TestEveryWriteFailsOnce(t *testing.T) {
	t.Parallel()
	boom := errors.New("connection reset")
	run := func(trouble func(int) (error, error)) *fixture {
		s := newFixture(t)
		s.trouble = trouble
		s.Bound("web", s.node.Name)
		s.Bound("job", s.node.Name, protected("true"))
		s.Bound("dns", s.node.Name, critical)
		s.Settled("other", "general")
		s.Delete(s.node)
		s.run(12 * time.Second)
		claim := s.Claim("c")
		claim.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: s.begun.Add(36 * time.Second).UTC().Format(time.RFC3339)}
		s.Put(claim)
		s.run(15 * time.Second)
		return s
	}
	whole := run(nil)
	whole.expect(true, "0s: web evicted", "12s: dns deleted in 24s", "12s: job deleted in 24s")
	for failing := range whole.writes {
		for name, trouble := range map[string]func(int) (error, error){
			"never arrived":   func(n int) (error, error) { return when(n == failing+1, boom), nil },
			"lost its answer": func(n int) (error, error) { return nil, when(n == failing+1, boom) },
		} {
			s := run(trouble)
			if !s.nodeGone() || len(s.Far.Instances()) != 1 || s.Claim("c").DeletionTimestamp == nil || s.Claim("other").DeletionTimestamp != nil {
				t.Errorf("write %d of %d %s: node gone %t, %d instance(s), story %q", failing+1, whole.writes, name, s.nodeGone(), len(s.Far.Instances()), s.story)
			}
			if s.Count(s.Kit.Metrics.NodesTerminatedTotal) > 1 || s.Count(s.Kit.Metrics.PodsDrainedTotal) > 3 {
				t.Errorf("write %d of %d %s: counted twice", failing+1, whole.writes, name)
			}
		}
	}
}

func when(is bool, err error) error {
	if is {
		return err
	}
	return nil
}
