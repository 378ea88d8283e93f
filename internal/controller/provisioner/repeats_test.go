package provisioner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/reconcile"
)

// TestAnotherReasonIsSaidAtOnce: after the event that its pool is not ready, a pod gets the event
// about a taint as soon as that keeps it waiting, not five minutes later.
func TestAnotherReasonIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	pool := ready("default", func(p *karpenterv1.NodePool) {
		p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "team", Value: "network", Effect: corev1.TaintEffectNoSchedule}}
		conditions := p.Conditions(time.Unix(0, 0))
		conditions.SetFalse(karpenterv1.ConditionNodeClassReady, "SubnetsNotFound", "the class finds no subnets")
		p.Status.Conditions = conditions.List()
	})
	h := newFixture(t, pool)
	h.pods("web", 1, judged)
	h.decide()
	found := &karpenterv1.NodePool{}
	h.Get("default", found)
	found.Status.Conditions = ready("default").Status.Conditions
	h.Must(h.API.Status().Update(context.Background(), found))
	h.watch()
	h.decide()
	events := strings.Join(h.Events(), "\n")
	if !strings.Contains(events, "not ready") || !strings.Contains(events, "team=network") {
		t.Errorf("events lack one of two reasons:\n%s", events)
	}
}

// TestTheSameReasonIsLoggedOnce: looking again every few seconds does not fill the log.
func TestTheSameReasonIsLoggedOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default", limit("4")))
	h.pods("web", 10, judged)
	var lines []string
	sink := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	turn := func() {
		h.Clock.Step(11 * time.Second)
		_, err := h.loop.Reconcile(log.IntoContext(context.Background(), sink), reconcile.Key{})
		h.Must(err)
		h.watch()
	}
	count := func(message string) int {
		n := 0
		for _, line := range lines {
			if strings.Contains(line, message) {
				n++
			}
		}
		return n
	}
	turn() // buys what the limit allows
	turn() // says what is left
	lines = nil
	for range 10 {
		turn()
	}
	if n := count("could not schedule pod") + count("found provisionable pod(s)"); n != 0 {
		t.Errorf("%d lines say what was said:\n%s", n, strings.Join(lines, "\n"))
	}
	h.Clock.Step(5 * time.Minute)
	turn()
	if n := count("could not schedule pod"); n != 1 {
		t.Errorf("%d lines after five minutes, want one", n)
	}
}
