package nodegroup_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/internal/testing/harness"
)

// TestTaintsThatPass: a further node is expected without startup and status taints; a node with a startup taint does not count as Ready, one with a
// status taint does.
func TestTaintsThatPass(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"example.com/boot":      "the group's settings, taints [], 0 ready, 1 not, joined ",
		"boot.example.com/x":    "the group's settings, taints [], 0 ready, 1 not, joined ",
		"example.com/old":       "the group's settings, taints [], 0 ready, 1 not, joined ",
		"example.com/busy":      "1 nodes, such as node-0, taints [], 1 ready, 0 not, joined true",
		"example.com/dedicated": "1 nodes, such as node-0, taints [example.com/dedicated], 1 ready, 0 not, joined true",
		"startup-taint.cluster-autoscaler.kubernetes.io/net": "the group's settings, taints [], 0 ready, 1 not, joined ",
		"status-taint.cluster-autoscaler.kubernetes.io/net":  "1 nodes, such as node-0, taints [], 1 ready, 0 not, joined true",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{})
			flags := &r.Kit.Settings.GroupTaints
			flags.Startup, flags.StartupPrefixes, flags.Ignored, flags.Status = []string{"example.com/boot"}, []string{"boot.example.com/"}, []string{"example.com/old"}, []string{"example.com/busy"}
			g := web(1)
			g.Next.Taints = []model.Taint{{Key: key, Effect: model.NoSchedule}}
			r.Must(r.API.Create(t.Context(), node(r, 0, func(n *corev1.Node) {
				n.CreationTimestamp.Time = r.Clock.Now()
				n.Spec.Taints = []corev1.Taint{{Key: key, Effect: "NoSchedule"}}
			})))
			watched := &groups{list: []cloud.Group{g}}
			o := look(t, r, watched, "web")
			o.Spec.Mode = tenonv1alpha1.ModeNative
			r.Must(r.API.Update(t.Context(), o))
			o = look(t, r, watched, "web")
			var n corev1.Node
			r.Get("node-0", &n)
			keys := []string{}
			for _, taint := range o.Status.Template.Taints {
				keys = append(keys, taint.Key)
			}
			i := o.Status.Instances
			if got := fmt.Sprintf("%s, taints %v, %d ready, %d not, joined %s", o.Status.Template.Source, keys, i.Ready, i.Unready, n.Annotations[tenonv1alpha1.AnnotationJoined]); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
