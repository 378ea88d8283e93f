package launches_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/assembly"
	"tenon/internal/controller/nodepool/launches"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// said is the condition of the pool as "Reason: message", empty if there is none. Ready must not care.
func said(t *testing.T, r *harness.Harness) string {
	t.Helper()
	var pool karpenterv1.NodePool
	r.Get("web", &pool)
	c := meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionLaunchesRefused)
	if c == nil {
		return ""
	}
	if root, _ := pool.Conditions(r.Clock.Now()).Get(condition.Ready); root.Status == metav1.ConditionFalse {
		t.Errorf("the pool is not ready because of it: %+v", root)
	}
	return c.Reason + ": " + c.Message
}

// Refused launches are reported at once on the pool, on its class and on the pending pods; when the
// claim is launched, the pool says so.
func TestRefusedLaunchesAreTold(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	w := assembly.World(r.Kit)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "uid-p"}}
	w.Put(pod)
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "web-1", UID: "uid-1", CreationTimestamp: metav1.NewTime(r.Clock.Now()), Labels: map[string]string{karpenterv1.LabelNodePool: "web"}}}
	if cause := w.Assume(claim, model.Resources{}, []world.PodRef{{UID: "uid-p", Namespace: "default", Name: "p"}}); cause.Code != reason.None {
		t.Fatal(cause.Text())
	}
	r.Must(r.API.Create(context.Background(), claim))
	c := launches.New(r.Kit, w)
	put := func(status metav1.ConditionStatus, reason, message string) {
		t.Helper()
		claim.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionLaunched, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(r.Clock.Now())}}
		r.Put(claim)
	}
	put(metav1.ConditionUnknown, condition.AwaitingReconciliation, "object is awaiting reconciliation")
	if r.Run(c, "web"); said(t, r) != "" {
		t.Errorf("nothing was tried yet: %s", said(t, r))
	}
	put(metav1.ConditionUnknown, "Unauthorized", "User is not authorized to perform this operation.")
	r.Run(c, "web")
	if got := said(t, r); !strings.HasPrefix(got, "Unauthorized: NodeClaims cannot be launched, web-1 since ") || !strings.HasSuffix(got, "not authorized to perform this operation. The first is tried again every five seconds, the others once it is launched") {
		t.Errorf("the pool says %q", got)
	}
	events := r.Events()
	for _, want := range []string{"Warning LaunchesRefused web: NodeClaims cannot", "Warning FailedScheduling p: Failed to schedule pod, nodeclaim/web-1 cannot be launched: User is not"} {
		n := 0
		for _, e := range events {
			if strings.HasPrefix(e, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d events %q:\n%s", n, want, strings.Join(events, "\n"))
		}
	}
	put(metav1.ConditionTrue, "Launched", "")
	if r.Run(c, "web"); said(t, r) != "" || !strings.Contains(strings.Join(r.Events(), "\n"), "Normal LaunchesResumed web") {
		t.Errorf("after it was launched: %q, %v", said(t, r), r.Events())
	}

	// A failing call is reported only if the failure lasts.
	put(metav1.ConditionUnknown, "LaunchFailed", "connection reset")
	if again := r.Run(c, "web"); said(t, r) != "" || again.After != time.Minute {
		t.Errorf("at once: %q, %+v", said(t, r), again)
	}
	r.Clock.Step(time.Minute)
	if r.Run(c, "web"); !strings.HasPrefix(said(t, r), "LaunchFailed: ") {
		t.Errorf("after a minute: %q", said(t, r))
	}
	r.Must(r.API.Delete(context.Background(), r.Claim("web-1")))
	if r.Run(c, "web"); said(t, r) != "" {
		t.Errorf("after the claim has gone: %q", said(t, r))
	}
}
