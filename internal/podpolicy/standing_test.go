package podpolicy_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tenon/internal/podpolicy"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(d)) }

// change is what a pod has beside the usual.
type change func(*corev1.Pod)

func pod(changes ...change) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.UID = "default", "p", "uid-p"
	p.Labels = map[string]string{"app": "web"}
	p.Status.Phase = corev1.PodRunning
	started := at(-10 * time.Minute)
	p.Status.StartTime = &started
	for _, c := range changes {
		c(p)
	}
	return p
}

func owned(apiVersion, kind string) change {
	return func(p *corev1.Pod) {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "o"})
	}
}

func deletedAt(d time.Duration) change {
	return func(p *corev1.Pod) { t := at(d); p.DeletionTimestamp = &t }
}

func phase(is corev1.PodPhase) change { return func(p *corev1.Pod) { p.Status.Phase = is } }

func protected(value string) change {
	return func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, "karpenter.sh/do-not-disrupt", value) }
}

func safe(value string) change {
	return func(p *corev1.Pod) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, "cluster-autoscaler.kubernetes.io/safe-to-evict", value)
	}
}

func tolerates(t corev1.Toleration) change {
	return func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, t) }
}

func unstarted(p *corev1.Pod) { p.Status.StartTime = nil }

func ready(is corev1.ConditionStatus) change {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: is})
	}
}

// The columns are the terms of which everything else is made.
func TestWhatAPodIsToItsNode(t *testing.T) {
	t.Parallel()
	disrupted := corev1.Toleration{Key: "karpenter.sh/disrupted", Operator: corev1.TolerationOpExists}
	evicting := corev1.Toleration{Key: "karpenter.sh/disrupted", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	cases := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"usual":                                     {pod(), "active reschedulable drainable awaited evictable disruptable"},
		"pending on its node":                       {pod(phase(corev1.PodPending)), "active reschedulable drainable awaited evictable disruptable"},
		"has ended well":                            {pod(phase(corev1.PodSucceeded)), "drainable disruptable"},
		"has failed":                                {pod(phase(corev1.PodFailed)), "drainable disruptable"},
		"terminating, has time":                     {pod(deletedAt(time.Minute)), "drainable awaited disruptable"},
		"terminating, just over":                    {pod(deletedAt(-time.Minute)), "drainable awaited disruptable"},
		"terminating, long over":                    {pod(deletedAt(-time.Minute - time.Second)), "stuck disruptable"},
		"terminating, of a StatefulSet":             {pod(deletedAt(time.Minute), owned("apps/v1", "StatefulSet")), "reschedulable drainable awaited disruptable"},
		"ended and terminating, of a StatefulSet":   {pod(deletedAt(time.Minute), phase(corev1.PodFailed), owned("apps/v1", "StatefulSet")), "drainable disruptable"},
		"of a DaemonSet":                            {pod(owned("apps/v1", "DaemonSet")), "active drainable awaited evictable disruptable"},
		"of another project's DaemonSet":            {pod(owned("apps.kruise.io/v1", "DaemonSet")), "active reschedulable drainable awaited evictable disruptable"},
		"of its node":                               {pod(owned("v1", "Node")), "active disruptable"},
		"tolerates the disruption":                  {pod(tolerates(disrupted)), "active reschedulable stays disruptable"},
		"tolerates everything":                      {pod(tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})), "active reschedulable stays disruptable"},
		"tolerates another effect":                  {pod(tolerates(evicting)), "active reschedulable drainable awaited evictable disruptable"},
		"protected":                                 {pod(protected("true")), "active reschedulable drainable awaited"},
		"protected, and terminating":                {pod(protected("true"), deletedAt(time.Minute)), "drainable awaited disruptable"},
		"protected for an hour, ten minutes old":    {pod(protected("1h")), "active reschedulable drainable awaited"},
		"protected for exactly as long as it is":    {pod(protected("10m")), "active reschedulable drainable awaited evictable disruptable"},
		"protected for a minute, but never started": {pod(protected("1m"), unstarted), "active reschedulable drainable awaited"},
		"protected by a value that says nothing":    {pod(protected("yes")), "active reschedulable drainable awaited evictable disruptable"},
		"protected by a negative duration":          {pod(protected("-5m")), "active reschedulable drainable awaited evictable disruptable"},
		"not safe to evict":                         {pod(safe("false")), "active reschedulable drainable awaited"},
		"not safe to evict, for a minute":           {pod(safe("false"), protected("1m")), "active reschedulable drainable awaited"},
		"safe to evict":                             {pod(safe("true")), "active reschedulable drainable awaited evictable disruptable"},
		"safe to evict, but protected":              {pod(safe("true"), protected("true")), "active reschedulable drainable awaited"},
		"explicitly not protected":                  {pod(protected("false")), "active reschedulable drainable awaited evictable disruptable"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := describe(tc.pod); got != tc.want {
				t.Errorf("is %q, want %q", got, tc.want)
			}
		})
	}
}

func describe(p *corev1.Pod) string {
	var words []string
	for _, term := range []struct {
		word string
		is   bool
	}{
		{"active", podpolicy.Active(p)}, {"reschedulable", podpolicy.Reschedulable(p)}, {"stays", podpolicy.Stays(p)},
		{"stuck", podpolicy.Stuck(p, now)}, {"drainable", podpolicy.Drainable(p, now)}, {"awaited", podpolicy.Awaited(p, now)},
		{"evictable", podpolicy.Evictable(p, now)}, {"disruptable", podpolicy.Disruptable(p, now)},
	} {
		if term.is {
			words = append(words, term.word)
		}
	}
	return strings.Join(words, " ")
}

func TestProtectionTellsPeople(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pod  *corev1.Pod
		want string // type, reason, message, key
	}{
		"none":          {pod(), ""},
		"for ever":      {pod(protected("true")), ""},
		"never started": {pod(protected("1h"), unstarted), ""},
		"contradicted": {pod(protected("true"), safe("true")),
			"Warning ContradictingAnnotations: cluster-autoscaler.kubernetes.io/safe-to-evict says that the pod may be evicted, and karpenter.sh/do-not-disrupt that it may not: it is not evicted"},
		"safe to evict": {pod(safe("true")), ""},
		"runs out": {pod(protected("1h")),
			"Normal DoNotDisruptUntil: The karpenter.sh/do-not-disrupt grace period will elapse at 2026-03-01T12:50:00Z [uid-p 2026-03-01T12:50:00Z]"},
		"has run out": {pod(protected("5m")),
			"Normal DoNotDisruptGracePeriodElapsed: The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable [uid-p]"},
		"no duration": {pod(protected("soon")),
			`Warning InvalidDoNotDisruptAnnotation: Invalid karpenter.sh/do-not-disrupt annotation: failed to parse "soon" as a duration: time: invalid duration "soon", ignoring annotation`},
		"not positive": {pod(protected("0s")),
			`Warning InvalidDoNotDisruptAnnotation: Invalid karpenter.sh/do-not-disrupt annotation: duration "0s" must be positive, ignoring annotation`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			for _, e := range podpolicy.ProtectionOf(tc.pod).Events(tc.pod, now) {
				got += e.Type + " " + e.Reason + ": " + e.Message
				if e.Type == corev1.EventTypeNormal {
					got += " [" + strings.Join(e.Key, " ") + "]"
				}
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// budget is one that selects the usual pod.
func budget(most, least string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{}
	b.Namespace, b.Name, b.Generation = "default", "b", 1
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	if most != "" {
		v := intstr.Parse(most)
		b.Spec.MaxUnavailable = &v
	}
	if least != "" {
		v := intstr.Parse(least)
		b.Spec.MinAvailable = &v
	}
	return b
}

func counted(b *policyv1.PodDisruptionBudget, desired, expected int32) *policyv1.PodDisruptionBudget {
	b.Status.ObservedGeneration, b.Status.DesiredHealthy, b.Status.ExpectedPods = 1, desired, expected
	return b
}

func TestBudgetsThatNeverAllow(t *testing.T) {
	t.Parallel()
	unseen := counted(budget("", "2"), 2, 2)
	unseen.Generation = 2
	cases := map[string]struct {
		budget *policyv1.PodDisruptionBudget
		want   string
	}{
		"none may go":                      {budget("0", ""), "maxUnavailable is 0"},
		"none may go, in percent":          {budget("0%", ""), "maxUnavailable is 0%"},
		"all must stay":                    {budget("", "100%"), "minAvailable is 100%"},
		"as many as there are":             {counted(budget("", "2"), 2, 2), "minAvailable is 2 of 2 pod(s)"},
		"more than there are":              {counted(budget("", "3"), 3, 2), "minAvailable is 3 of 2 pod(s)"},
		"percent that rounds up to all":    {counted(budget("", "90%"), 5, 5), "minAvailable is 90% of 5 pod(s)"},
		"fewer than there are":             {counted(budget("", "1"), 1, 2), ""},
		"one may go":                       {counted(budget("1", ""), 1, 2), ""},
		"not counted yet":                  {budget("", "2"), ""},
		"counted before it changed":        {unseen, ""},
		"no pods, so nothing to disrupt":   {counted(budget("", "1"), 1, 0), ""},
		"neither is said, and all are one": {counted(budget("", ""), 1, 1), "it wants 1 of 1 pod(s) healthy"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := podpolicy.Never(tc.budget); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSelectorsOfBudgets(t *testing.T) {
	t.Parallel()
	in := func(op metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: op, Values: values}}}
	}
	cases := map[string]struct {
		selector *metav1.LabelSelector
		want     bool
	}{
		"none picks nothing":        {nil, false},
		"empty picks all":           {&metav1.LabelSelector{}, true},
		"by label":                  {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, true},
		"by another label":          {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, false},
		"by expression":             {in(metav1.LabelSelectorOpIn, "db", "web"), true},
		"by negative expression":    {in(metav1.LabelSelectorOpNotIn, "web"), false},
		"by an unreadable one none": {in("Near", "web"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := budget("0", "")
			b.Spec.Selector = tc.selector
			if got := podpolicy.Selects(b, pod()); got != tc.want {
				t.Errorf("selects %t, want %t", got, tc.want)
			}
		})
	}
}

func TestMovable(t *testing.T) {
	t.Parallel()
	lenient := budget("0", "")
	lenient.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	one := counted(budget("1", ""), 1, 2)
	list := func(b ...*policyv1.PodDisruptionBudget) []*policyv1.PodDisruptionBudget { return b }
	cases := map[string]struct {
		pod     *corev1.Pod
		budgets []*policyv1.PodDisruptionBudget
		want    bool
	}{
		"free":                                 {pod(), nil, true},
		"under a budget":                       {pod(), list(one), true},
		"under two":                            {pod(), list(one, one), false},
		"under two, and protected":             {pod(protected("true")), list(one, one), false},
		"under one that forbids":               {pod(), list(budget("0", "")), false},
		"unhealthy under one that looks away":  {pod(ready(corev1.ConditionFalse)), list(lenient), true},
		"healthy under one that looks away":    {pod(ready(corev1.ConditionTrue)), list(lenient), false},
		"unknown health under one that looks":  {pod(), list(lenient), false},
		"of a DaemonSet":                       {pod(owned("apps/v1", "DaemonSet")), nil, false},
		"of a budget in force only by numbers": {pod(), list(counted(budget("", "2"), 2, 2)), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := podpolicy.Movable(tc.pod, podpolicy.Covering(tc.budgets, tc.pod), now); got != tc.want {
				t.Errorf("movable %t, want %t", got, tc.want)
			}
		})
	}
}
