package nodegroup_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/memory"
	"tenon/internal/nodegroup"
	"tenon/internal/telemetry"
	"tenon/internal/testing/harness"
)

// Events about a group are on the group, and in mode cas also on the ConfigMap of its status, if that exists.
func TestTell(t *testing.T) {
	t.Parallel()
	onGroup, onMap := "Normal ScaledUpGroup web: grown", "Normal ScaledUpGroup cluster-autoscaler-status: Node group Web: grown"
	for name, tc := range map[string]struct {
		mode    tenonv1alpha1.Mode
		off     bool
		objects []client.Object
		want    []string
	}{
		"in mode cas":         {mode: tenonv1alpha1.ModeCAS, objects: []client.Object{statusMap()}, want: []string{onGroup, onMap}},
		"in mode native":      {mode: tenonv1alpha1.ModeNative, objects: []client.Object{statusMap()}, want: []string{onGroup}},
		"without a ConfigMap": {mode: tenonv1alpha1.ModeCAS, want: []string{onGroup}},
		"turned off":          {mode: tenonv1alpha1.ModeCAS, off: true, objects: []client.Object{statusMap()}, want: []string{onGroup}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := harness.New(t, memory.Options{}, tc.objects...)
			h.Kit.Settings.WriteStatusConfigMap = !tc.off
			g := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "Web", Mode: tc.mode}}
			nodegroup.Tell(context.Background(), h.Kit, g, telemetry.Normal(nil, "ScaledUpGroup", "grown"))
			if got := h.Events(); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func statusMap() client.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-status"}}
}
