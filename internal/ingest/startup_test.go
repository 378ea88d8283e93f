package ingest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/ingest"
)

// TestStartupTaintsOfGroups: a node of a group with a startup taint is not ready. Until it has joined, the taint keeps no pods away; a status taint always does,
// and so does a startup taint on a node of no group.
func TestStartupTaintsOfGroups(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key           string
		group, joined bool
		taints        int
		unready       bool
	}{
		"a node that starts":              {key: "example.com/boot", group: true, unready: true},
		"a prefix":                        {key: "startup-taint.cluster-autoscaler.kubernetes.io/net", group: true, unready: true},
		"a node that has been in service": {key: "example.com/boot", group: true, joined: true, taints: 1, unready: true},
		"a status taint":                  {key: "example.com/busy", group: true, taints: 1},
		"another taint":                   {key: "example.com/dedicated", group: true, taints: 1},
		"a node of no group":              {key: "example.com/boot", taints: 1},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{}}}
		if tc.group {
			node.Annotations[tenonv1alpha1.AnnotationGroup] = "web"
		}
		if tc.joined {
			node.Annotations[tenonv1alpha1.AnnotationJoined] = "true"
		}
		node.Spec.Taints = []corev1.Taint{{Key: tc.key, Effect: "NoSchedule"}}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		objects := &ingest.Objects{}
		objects.Add(node)
		options := fromFiles(t)
		options.Now = noon
		options.GroupTaints = clusterautoscaler.Taints{Startup: []string{"example.com/boot"}, Status: []string{"example.com/busy"}}
		if got := ingest.Build(objects, options).Nodes[0]; len(got.Taints) != tc.taints || got.Life.Unready != tc.unready {
			t.Errorf("%s: taints %v, unready %v", name, got.Taints, got.Life.Unready)
		}
	}
}
