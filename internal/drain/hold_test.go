package drain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/internal/drain"
	"tenon/internal/surge"
	"tenon/internal/telemetry"
)

// The text about what holds up a drain.
func TestExplain(t *testing.T) {
	t.Parallel()
	const since = "Draining since 2026-03-01T11:50:00Z. "
	const forever = " Without a terminationGracePeriod the node waits for as long as they hold it."
	tight := budget("web", "web", "1", numbers{1, 1, 2, 0})
	tight.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
		LastTransitionTime: metav1.NewTime(now.Add(-5 * time.Minute))}}
	lenient := budget("web", "web", "0", numbers{0, 1, 1, 0})
	lenient.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	list := func(b ...*policyv1.PodDisruptionBudget) []*policyv1.PodDisruptionBudget { return b }
	elsewhere := budget("web", "web", "0", numbers{1, 1, 1, 0})
	elsewhere.Namespace = "other"
	webs := func(n int, changes ...change) (out []*corev1.Pod) {
		for i := range n {
			out = append(out, pod(fmt.Sprintf("web-%d", i), append([]change{called("web")}, changes...)...))
		}
		return out
	}
	cases := map[string]struct {
		deadline time.Duration // from now; zero is none
		pods     []*corev1.Pod
		budgets  []*policyv1.PodDisruptionBudget
		want     string
	}{
		"nothing holds":                          {0, webs(2), nil, ""},
		"a budget that allows some holds no pod": {0, webs(1), list(budget("web", "web", "1", numbers{2, 1, 2, 1})), ""},
		"a budget that allows none": {0, webs(2), list(tight), since +
			"PodDisruptionBudget default/web (currentHealthy 1, desiredHealthy 1, disruptionsAllowed 0, since 2026-03-01T11:55:00Z) holds default/web-0, default/web-1." + forever},
		"a budget that can never allow any": {0, webs(5), list(budget("web", "web", "0", numbers{5, 5, 5, 0})), since +
			"PodDisruptionBudget default/web, which can never allow a disruption (maxUnavailable is 0), holds default/web-0, default/web-1, default/web-2 and 2 other(s)." + forever},
		"a budget elsewhere has no say": {0, webs(1), list(elsewhere), ""},
		"two budgets": {0, webs(1), list(budget("b", "web", "1", numbers{2, 1, 2, 1}), budget("a", "web", "1", numbers{2, 1, 2, 1})), since +
			"eviction does not support more than one PodDisruptionBudget a pod, and default/a, default/b together hold default/web-0." + forever},
		"unhealthy pods may go, if the budget says so":          {0, webs(1, unready), list(lenient), ""},
		"unhealthy pods may go while enough others are healthy": {0, webs(1, unready), list(budget("web", "web", "1", numbers{1, 1, 2, 0})), ""},
		"unhealthy pods may not go if too few are": {0, webs(1, unready), list(budget("web", "web", "1", numbers{0, 1, 2, 0})), since +
			"PodDisruptionBudget default/web (currentHealthy 0, desiredHealthy 1, disruptionsAllowed 0) holds default/web-0." + forever},
		"pods that never ran may always go": {0, webs(1, phase(corev1.PodPending)), list(tight), ""},
		"the annotation": {0, []*corev1.Pod{pod("job", protected("true"))}, nil, since +
			"karpenter.sh/do-not-disrupt holds default/job." + forever},
		"the annotation for a while": {0, []*corev1.Pod{pod("job", protected("15m"))}, nil, since +
			"karpenter.sh/do-not-disrupt until 2026-03-01T12:05:00Z holds default/job. The node waits for them; nothing has to be done."},
		"a pod that takes its time": {0, []*corev1.Pod{pod("slow", ending(5*time.Minute, 600)), pod("a", daemon)}, nil, since +
			"told to leave, and not waited for after 2026-03-01T12:06:00Z: default/slow. The node waits for them; nothing has to be done."},
		"a pod that ends as pods do":  {0, []*corev1.Pod{pod("a", ending(20*time.Second, 30))}, nil, ""},
		"only those whose turn it is": {0, []*corev1.Pod{pod("job", protected("true"), daemon), pod("a")}, nil, ""},
		"several causes": {0, append(webs(1), pod("job", protected("true")), pod("other", protected("true"))), list(tight), since +
			"karpenter.sh/do-not-disrupt holds default/job, default/other; PodDisruptionBudget default/web (currentHealthy 1, desiredHealthy 1, " +
			"disruptionsAllowed 0, since 2026-03-01T11:55:00Z) holds default/web-0." + forever},
		"force comes": {time.Hour, append(webs(1), pod("job", protected("true"), grace(600))), list(tight), since +
			"karpenter.sh/do-not-disrupt holds default/job; PodDisruptionBudget default/web (currentHealthy 1, desiredHealthy 1, disruptionsAllowed 0, " +
			"since 2026-03-01T11:55:00Z) holds default/web-0. From 2026-03-01T12:50:00Z on pods are deleted even if something holds them, each early enough to end by 2026-03-01T13:00:00Z."},
		"force has come for some, who are not held any more": {5 * time.Minute, append(webs(1), pod("job", protected("true"), grace(600))), list(tight), since +
			"PodDisruptionBudget default/web (currentHealthy 1, desiredHealthy 1, disruptionsAllowed 0, since 2026-03-01T11:55:00Z) holds default/web-0. " +
			"From 2026-03-01T12:04:30Z on pods are deleted even if something holds them, each early enough to end by 2026-03-01T12:05:00Z."},
		"force has come for all": {-time.Minute, []*corev1.Pod{pod("a", ending(-10*time.Second, 1))}, nil, since +
			"told to leave, and not waited for after 2026-03-01T12:00:50Z: default/a. All pods are being deleted: the time of the node was over at 2026-03-01T11:59:00Z."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := drain.State{Now: now, Since: now.Add(-10 * time.Minute), Pods: tc.pods}
			if tc.deadline != 0 {
				s.Deadline = now.Add(tc.deadline)
			}
			got := drain.Explain(s, drain.Holds(s, drain.Decide(s), tc.budgets, nil))
			if got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The text about pods that ask to be replaced first.
func TestExplainSurges(t *testing.T) {
	t.Parallel()
	const since = "Draining since 2026-03-01T11:50:00Z. "
	wait, stuck := surge.Step{Verb: surge.Wait}, surge.Step{Why: "the roll-out of Deployment default/web is stuck (ProgressDeadlineExceeded)"}
	never := budget("web", "web", "0", numbers{1, 1, 1, 0})
	cases := map[string]struct {
		deadline time.Duration
		budgets  []*policyv1.PodDisruptionBudget
		step     surge.Step
		want     string
	}{
		"the other pod is on its way": {0, nil, wait, since + "tenon.sh/surge holds, until the pod that is made in its place is Ready, default/web. The node waits for them; nothing has to be done."},
		"no budget has a say in that": {0, []*policyv1.PodDisruptionBudget{never, never}, wait, since + "tenon.sh/surge holds, until the pod that is made in its place is Ready, default/web. The node waits for them; nothing has to be done."},
		"it is about to be asked for": {0, nil, surge.Step{Verb: surge.Roll}, since + "tenon.sh/surge holds, until the pod that is made in its place is Ready, default/web. The node waits for them; nothing has to be done."},
		"the node has a deadline": {time.Hour, nil, wait, since + "tenon.sh/surge holds, until the pod that is made in its place is Ready, default/web. " +
			"From 2026-03-01T12:59:30Z on pods are deleted even if something holds them, each early enough to end by 2026-03-01T13:00:00Z."},
		"no pod comes, and nothing else holds": {0, nil, stuck, ""},
		"no pod comes, and a budget holds": {0, []*policyv1.PodDisruptionBudget{never}, stuck, since + "tenon.sh/surge does not help (the roll-out of Deployment default/web is stuck (ProgressDeadlineExceeded)), and " +
			"PodDisruptionBudget default/web, which can never allow a disruption (maxUnavailable is 0), holds default/web. Without a terminationGracePeriod the node waits for as long as they hold it."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := drain.State{Now: now, Since: now.Add(-10 * time.Minute), Pods: []*corev1.Pod{pod("web")}}
			if tc.deadline != 0 {
				s.Deadline = now.Add(tc.deadline)
			}
			rolls := map[types.UID]surge.Step{"uid-web": tc.step}
			if got := drain.Explain(s, drain.Holds(s, drain.Decide(s), tc.budgets, rolls)); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The text fits into an event for any number of holds.
func TestExplanationsAreShort(t *testing.T) {
	t.Parallel()
	var pods []*corev1.Pod
	var budgets []*policyv1.PodDisruptionBudget
	for i := range 100 {
		app := fmt.Sprintf("app-%d-%s", i%20, strings.Repeat("x", 20))
		pods = append(pods, pod(fmt.Sprintf("%s-%d", app, i), called(app)))
		if i < 20 {
			budgets = append(budgets, budget(app, app, "0", numbers{1, 1, 1, 0}))
		}
	}
	s := drain.State{Now: now, Since: now, Pods: pods}
	got := drain.Explain(s, drain.Holds(s, drain.Decide(s), budgets, nil))
	if len(got) > 1024 || !strings.Contains(got, "and 17 other reason(s)") || !strings.HasSuffix(got, "the node waits for as long as they hold it.") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// A budget that can never allow an eviction gets an event, once per budget.
func TestBudgetsAreTold(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{}
	node.Name = "n"
	s := drain.State{Now: now, Since: now.Add(-time.Minute), Pods: []*corev1.Pod{
		pod("web-0", called("web")), pod("web-1", called("web")), pod("db-0", called("db"))}}
	budgets := []*policyv1.PodDisruptionBudget{budget("web", "web", "0", numbers{2, 2, 2, 0}), budget("db", "db", "1", numbers{1, 1, 2, 0})}
	events := drain.NeverAllows(node, s, drain.Holds(s, drain.Decide(s), budgets, nil))
	if len(events) != 1 || events[0].Object.GetName() != "web" || events[0].Every != 15*time.Minute || events[0].Rate.PerSecond == 0 {
		t.Fatalf("events %+v", events)
	}
	want := "Can never allow a disruption: maxUnavailable is 0. Node n cannot be drained of default/web-0, default/web-1 since 2026-03-01T11:59:00Z. " +
		"Without a terminationGracePeriod the node waits for as long as they hold it."
	if events[0].Message != want {
		t.Errorf("\ngot  %s\nwant %s", events[0].Message, want)
	}
}

// Texts on which users' alerts depend.
func TestEventTexts(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{}
	node.Name = "n"
	at := now.Add(time.Minute)
	deployment := &appsv1.Deployment{}
	surges, unsurged := drain.Surges(node, pod("a"), "web"), drain.Unsurged(node, pod("a"), "Deployment default/web is paused")
	cases := map[string]struct{ got, want string }{
		"surges, to the pod":          {surges[0].Message, "Node n goes. The pod stays until the one that Deployment web makes in its place is Ready"},
		"surges, to its Deployment":   {drain.Rolled(deployment, node, pod("a")).Message, "Rolled out, so that another pod is Ready before a goes with node n"},
		"surges, to the node":         {surges[1].Message, "Pod default/a stays until the one that Deployment web makes in its place is Ready"},
		"does not surge, to the pod":  {unsurged[0].Message, "Evicting without another pod in its place: Deployment default/web is paused"},
		"does not surge, to the node": {unsurged[1].Message, "Evicting pod default/a without another one in its place: Deployment default/web is paused"},
		"expiring":                    {drain.Expiring(node, at).Message, "All pods will be deleted by 2026-03-01T12:01:00Z"},
		"waits":                       {drain.Waits(node, 3).Message, "Failed to drain node, 3 pods are waiting to be evicted"},
		"violates":                    {drain.Violates(node, pod("a")).Message, "Failed to drain node, evicting pod violates a PDB (Pod=default/a)"},
		"overlaps":                    {drain.Overlaps(node, pod("a")).Message, "Failed to drain node, eviction does not support multiple PDBs (Pod=default/a)"},
		"evicted":                     {drain.Evicted(pod("a"), "Underutilized").Message, "Evicted pod: Underutilized"},
		"deleted": {drain.Deleted(pod("a"), 7, at).Message, "Deleting the pod to accommodate the terminationTime 2026-03-01T12:01:00Z of the node. " +
			"The pod was granted 7 seconds of grace-period of its 30 terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation."},
		"volumes": {drain.Attached(node, []string{"a", "b", "c", "d", "e", "f", "g"}).Message,
			"Awaiting deletion of bound volumeattachments (a, b, c, d, e and 2 other(s))"},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, tc.got, tc.want)
		}
	}
}

// An event about a surge on one object does not suppress those on others.
func TestSurgesAreToldToAll(t *testing.T) {
	t.Parallel()
	node, told := &corev1.Node{}, telemetry.NewMemory(clocktesting.NewFakePassiveClock(now))
	node.Name = "n"
	told.Publish(drain.Rolled(&appsv1.Deployment{}, node, pod("a")))
	for range 2 {
		told.Publish(drain.Surges(node, pod("a"), "web")...)
		told.Publish(drain.Surges(node, pod("b"), "web")...)
		told.Publish(drain.Unsurged(node, pod("a"), "why")...)
	}
	if got := len(told.Events()); got != 1+2+2+2 {
		t.Errorf("%d events, want 7: %+v", got, told.Events())
	}
}

// The node does not wait for volumes of pods that stay.
func TestVolumes(t *testing.T) {
	t.Parallel()
	ephemeral := func(p *corev1.Pod) {
		v := corev1.Volume{Name: "scratch"}
		v.Ephemeral = &corev1.EphemeralVolumeSource{}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	pods := []*corev1.Pod{
		pod("a", mounts("data")), pod("agent", stays, mounts("cache", "shared"), ephemeral),
		pod("static", static, mounts("shared")), pod("stuck", ending(-time.Hour, 30), mounts("old")),
		pod("done", phase(corev1.PodSucceeded), mounts("result")),
	}
	if got, want := fmt.Sprint(drain.Retained(pods, now)), "[default/cache default/shared default/agent-scratch default/old]"; got != want {
		t.Errorf("retained %s, want %s", got, want)
	}
	attachment := func(name, volume string) *storagev1.VolumeAttachment {
		a := &storagev1.VolumeAttachment{}
		a.Name = name
		if volume != "" {
			a.Spec.Source.PersistentVolumeName = &volume
		}
		return a
	}
	attachments := []*storagev1.VolumeAttachment{attachment("c", "pv-data"), attachment("a", "pv-cache"), attachment("inline", ""), attachment("b", "pv-result")}
	if got, want := fmt.Sprint(drain.StillAttached(attachments, []string{"pv-cache"})), "[b c]"; got != want {
		t.Errorf("attached %s, want %s", got, want)
	}
}
