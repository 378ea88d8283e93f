package nodegroups

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// soon lets the nodes of a group go as soon as nothing needs them, so many at a time.
func (s *story) soon(name, nodes string) {
	s.Helper()
	s.Patch(&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: tenonv1alpha1.ObjectName(s.groups[name])}},
		fmt.Sprintf(`{"spec":{"disruption":{"consolidateAfter":"5s","budgets":[{"nodes":%q}]}}}`, nodes))
}

// Nodes that nothing needs go, down to the minimum of the group, each ended once and the size with it.
func TestGroupsShrink(t *testing.T) {
	s := tell(t)
	s.native("web", "m5.large", "a", size{1, 1, 8})
	s.shown()
	s.soon("web", "100%")
	s.deploy("web", 4, "web")
	s.Running("web", 4)
	s.awaitSizes(map[string]int32{"web": 4})
	written := s.changes()
	var instances []string
	for _, i := range s.described("web").Instances {
		instances = append(instances, *i.InstanceId)
	}
	s.Scale("web", 2)
	s.Running("web", 2)
	s.awaitSizes(map[string]int32{"web": 2})
	s.Scale("web", 0)
	s.awaitSizes(map[string]int32{"web": 1})
	if ended, written := s.calls("TerminateInstanceInAutoScalingGroup", instances), s.changes()-written; ended != 3 || written != 0 {
		t.Errorf("%d instances were ended and the size written %d times, want 3 and 0", ended, written)
	}
	s.Eventually("the nodes of ended instances are gone", func(ctx context.Context) (bool, string) {
		var nodes v1.NodeList
		err := s.Lab.Client.List(ctx, &nodes, client.MatchingLabels{groupLabel: s.named("web")})
		return err == nil && len(nodes.Items) == 1, fmt.Sprintf("%d nodes, want 1: %v", len(nodes.Items), err)
	})
}

// A node is drained as those of pools are: its pods go as their budget lets them, and the controller may be killed meanwhile.
func TestAGroupIsDrained(t *testing.T) {
	s := tell(t)
	s.native("web", "m5.large", "a", size{0, 0, 8})
	s.shown()
	s.deploy("web", 3, "web", "big")
	s.Running("web", 3)
	s.Create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &intstr.IntOrString{IntVal: 2}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}})
	s.group("big", "m5.2xlarge", "a", size{1, 1, 1}) // Tenon does not change it, but its node takes pods
	s.shown()
	s.awaitSizes(map[string]int32{"web": 3, "big": 1})
	s.soon("web", "100%")
	s.Eventually("a node of the group is to go", func(context.Context) (bool, string) {
		n := *s.described("web").DesiredCapacity
		return n < 3, fmt.Sprint(n)
	})
	s.kill()
	s.awaitSizes(map[string]int32{"web": 0, "big": 1})
	for _, pod := range s.Running("web", 3) {
		if pod.DeletionTimestamp != nil {
			t.Errorf("pod %s is being deleted", pod.Name)
		}
	}
}
