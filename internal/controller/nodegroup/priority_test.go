package nodegroup_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// The ConfigMap of the expander priority counts for groups in mode cas, and says by events what is wrong with it. If it cannot be read, the groups
// say so too, with a remedy.
func TestPriorities(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		data     map[string]string // nil: there is no map
		expander string
		mode     v1alpha1.Mode
		want     int64 // 0: none
		event    string
	}{
		"the highest that matches":   {data: map[string]string{"priorities": "10:\n- .*\n50:\n- ^we\n"}, want: 50},
		"zero is a priority":         {data: map[string]string{"priorities": "0:\n- web\n"}, want: -1},
		"a negative one never is":    {data: map[string]string{"priorities": "-5:\n- web\n"}, event: "PriorityConfigMapNoGroupMatched"},
		"no pattern matches a group": {data: map[string]string{"priorities": "10:\n- other\n"}, event: "PriorityConfigMapNoGroupMatched"},
		"a pattern with a mistake":   {data: map[string]string{"priorities": "10:\n- '('\n"}, event: "PriorityConfigMapInvalid"},
		"no key":                     {data: map[string]string{"x": "y"}, event: "PriorityConfigMapInvalid"},
		"no map":                     {},
		"in a chain":                 {data: map[string]string{"priorities": "10:\n- web\n"}, expander: "priority,least-waste", want: 10},
		"another expander":           {data: map[string]string{"priorities": "10:\n- web\n"}, expander: "price"},
		"in mode native":             {data: map[string]string{"priorities": "10:\n- web\n"}, mode: v1alpha1.ModeNative},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.expander == "" {
				tc.expander = "priority"
			}
			if tc.mode == "" {
				tc.mode = v1alpha1.ModeCAS
			}
			objects := []client.Object{&v1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.NodeGroupSpec{GroupName: "web", Mode: tc.mode}}}
			if tc.data != nil {
				objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-priority-expander"}, Data: tc.data})
			}
			h := harness.New(t, memory.Options{}, objects...)
			h.Kit.Settings.Expander = tc.expander
			o := look(t, h, &groups{list: []cloud.Group{web(1)}}, "web")
			switch got := o.Status.Priority; {
			case got == nil && tc.want != 0, got != nil && *got != max(tc.want, 0), got != nil && tc.want == 0:
				t.Errorf("priority %v, want %d", got, tc.want)
			}
			invalid, c := tc.event == "PriorityConfigMapInvalid", meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionUnhindered)
			if c == nil || (c.Status == metav1.ConditionFalse) != invalid || invalid && (c.Reason != tc.event || !strings.Contains(c.Message, "correct the ConfigMap kube-system/cluster-autoscaler-priority-expander")) {
				t.Errorf("Unhindered: %+v", c)
			}
			told := slices.DeleteFunc(h.Events(), func(e string) bool { return !strings.Contains(e, "PriorityConfigMap") })
			if len(told) != min(len(tc.event), 1) || len(told) == 1 && !strings.Contains(told[0], tc.event) {
				t.Errorf("events %q, want %q", told, tc.event)
			}
		})
	}
}
