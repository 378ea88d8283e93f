package ingest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/internal/ingest"
)

// "--allowed-scheduler-names: only pods of these schedulers count." The others are pending and get no node; running pods have a
// place elsewhere in any case.
func TestAllowedSchedulers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		allowed   []string
		scheduler string
		node      string
		refused   string // the scheduler that is not allowed
	}{
		"all are":                      {scheduler: "batch"},
		"this one is":                  {allowed: []string{"default-scheduler", "batch"}, scheduler: "batch"},
		"the default one is":           {allowed: []string{"default-scheduler"}},
		"another one is":               {allowed: []string{"default-scheduler"}, scheduler: "batch", refused: "batch"},
		"the default one is not":       {allowed: []string{"batch"}, refused: "default-scheduler"},
		"another one is; the pod runs": {allowed: []string{"batch"}, node: "n"},
	}
	for name, tc := range cases {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
			Spec:       corev1.PodSpec{SchedulerName: tc.scheduler, NodeName: tc.node},
			Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Reason: corev1.PodReasonUnschedulable}}},
		}
		got, ok := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{Vocabulary: requirement.Core(), Schedulers: tc.allowed}).PodOn(pod, tc.node != "")
		refused := ""
		for _, r := range got.Refused {
			if r.Code == reason.SchedulerNotAllowed {
				refused = r.Where
			}
		}
		if !ok || refused != tc.refused || got.Pending == (tc.node != "") {
			t.Errorf("%s: refused for %q, want %q; %+v", name, refused, tc.refused, got)
		}
	}
}
