package nodegroup_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/testing/harness"
)

// The status and the metrics of Cluster Autoscaler are about groups in mode cas; without one, or beside a Cluster Autoscaler, nothing
// is written.
func TestStatusConfigMap(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		mode    tenonv1alpha1.Mode
		write   bool
		objects []client.Object
		want    bool
		groups  int
	}{
		"in mode cas":                 {mode: tenonv1alpha1.ModeCAS, write: true, want: true, groups: 1},
		"over what another has left":  {mode: tenonv1alpha1.ModeCAS, write: true, objects: []client.Object{statusMap("old prose")}, want: true, groups: 1},
		"turned off":                  {mode: tenonv1alpha1.ModeCAS, groups: 1},
		"in mode native":              {mode: tenonv1alpha1.ModeNative, write: true},
		"beside a Cluster Autoscaler": {mode: tenonv1alpha1.ModeCAS, write: true, objects: []client.Object{autoscaler(1, "cluster-autoscaler:v1")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, append(tc.objects,
				&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "web", Mode: tc.mode}})...)
			r.Kit.Settings.WriteStatusConfigMap = tc.write
			g := &groups{list: []cloud.Group{web(1)}}
			look(t, r, g, "web")
			look(t, r, g, "web")
			var stored corev1.ConfigMap
			err := r.API.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cluster-autoscaler-status"}, &stored)
			status, unread := clusterautoscaler.ReadStatus(stored.Data["status"])
			if written := err == nil && unread == nil && len(status.NodeGroups) == 1 && status.NodeGroups[0].Name == "web"; written != tc.want {
				t.Errorf("written: %t, want %t; %v, %v: %s", written, tc.want, err, unread, stored.Data["status"])
			}
			if at := stored.Annotations["cluster-autoscaler.kubernetes.io/last-updated"]; tc.want && !strings.HasSuffix(at, " UTC") {
				t.Errorf("updated %q", at)
			}
			if got := len(r.Series("cluster_autoscaler", r.Kit.Metrics.ClusterAutoscalerNodeGroupsCount)); got != tc.groups {
				t.Errorf("%d series of groups, want %d", got, tc.groups)
			}
		})
	}
}

func statusMap(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-status"}, Data: map[string]string{"status": text}}
}

// Tools for Cluster Autoscaler see that a group does not grow because of its nodes, and that the cloud did not answer.
func TestTroubleIsTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode      tenonv1alpha1.Mode
		instances int
		err       error
		unhealthy bool
		errors    string
	}{
		"many nodes are not Ready":   {mode: tenonv1alpha1.ModeCAS, instances: 8, unhealthy: true},
		"few are":                    {mode: tenonv1alpha1.ModeCAS, instances: 3},
		"not Ready in mode native":   {mode: tenonv1alpha1.ModeNative, instances: 8},
		"no answer":                  {mode: tenonv1alpha1.ModeCAS, err: harness.ErrBroken, errors: "errors_total{type=cloudProviderError} 2"},
		"no answer, in mode observe": {mode: tenonv1alpha1.ModeObserve, err: harness.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "web", Mode: tc.mode}})
			r.Kit.Settings.WriteStatusConfigMap = true
			g := &groups{list: []cloud.Group{web(tc.instances)}, err: tc.err}
			for i := range tc.instances {
				r.Must(r.API.Create(t.Context(), node(r, i, unready)))
			}
			look(t, r, g, "web")
			look(t, r, g, "web")
			if told := slices.ContainsFunc(r.Events(), func(e string) bool {
				return strings.Contains(e, "ClusterUnhealthy") && strings.Contains(e, "8 have one that is not Ready")
			}); told != tc.unhealthy {
				t.Errorf("told that it is unhealthy: %t", told)
			}
			if got := strings.Join(r.Series("cluster_autoscaler_", r.Kit.Metrics.ClusterAutoscalerErrorsTotal), ""); got != tc.errors {
				t.Errorf("errors %q, want %q", got, tc.errors)
			}
		})
	}
}
