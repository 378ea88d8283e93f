package nodegroups

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// Pods get nodes of groups: of one without any node, of one of several types in several zones, and of several in one
// decision, each with one write. Groups in mode observe stay as they are, and no claim is made.
func TestGroupsGrow(t *testing.T) {
	s := tell(t)
	s.native("one", "m5.large", "a", size{0, 0, 5})
	s.native("mixed", "m5.large,m5a.large,m6i.large", "abc", size{0, 1, 10})
	s.native("two", "c5.large", "b", size{1, 1, 4})
	s.group("watched", "t3.large", "a", size{0, 0, 5})
	s.shown()
	s.awaitSizes(map[string]int32{"mixed": 1, "two": 1})

	s.deploy("one", 3, "one")
	s.Running("one", 3)
	s.awaitSizes(map[string]int32{"one": 3})
	if n := s.changes(); n != 1 {
		t.Errorf("%d writes for three pods that came together, want 1", n)
	}

	s.deploy("mixed", 4, "mixed")
	s.deploy("two", 3, "two")
	s.Running("mixed", 4)
	s.Running("two", 3)
	s.awaitSizes(map[string]int32{"one": 3, "mixed": 4, "two": 3, "watched": 0})
	for _, claim := range s.Claims(nil) { // other stories have pools
		pool := claim.Labels[karpenterv1.LabelNodePool]
		if err := s.Lab.Client.Get(t.Context(), client.ObjectKey{Name: pool}, &karpenterv1.NodePool{}); err != nil {
			t.Errorf("NodeClaim %s of pool %q for pods of groups: %v", claim.Name, pool, err)
		}
	}
	s.belong(map[string]string{"one": "one", "mixed": "mixed", "two": "two"})

	// A group does not grow above its maximum: the rest of the pods wait, and the event says why.
	s.Scale("two", 9)
	s.awaitSizes(map[string]int32{"two": 4})
	var pods v1.PodList
	if err := s.Lab.Client.List(t.Context(), &pods, client.InNamespace(s.Namespace), client.MatchingLabels{"app": "two"}); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == "" {
			s.AwaitEvent(&pods.Items[i], "FailedScheduling", "nodegroup/")
			break
		}
	}
}

// belong checks that the pods of apps are on nodes of their groups, and that the nodes come to say so.
func (s *story) belong(apps map[string]string) {
	s.Helper()
	for app, group := range apps {
		var pods v1.PodList
		if err := s.Lab.Client.List(s.Context(), &pods, client.InNamespace(s.Namespace), client.MatchingLabels{"app": app}); err != nil {
			s.Fatal(err)
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			s.Eventually(fmt.Sprintf("the node of pod %s says that it is of group %s", pod.Name, group), func(ctx context.Context) (bool, string) {
				node := &v1.Node{}
				if err := s.Lab.Client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); err != nil {
					return false, err.Error()
				}
				if node.Labels[groupLabel] != s.named(group) {
					s.Fatalf("pod %s is on %s of %q", pod.Name, node.Name, node.Labels[groupLabel])
				}
				return node.Annotations[tenonv1alpha1.AnnotationGroup] == tenonv1alpha1.ObjectName(s.groups[group]), fmt.Sprint(node.Annotations)
			})
		}
	}
}

// The size that others set is kept: it is shown with an event, pods use the nodes that come, and what is missing after
// that is added to it.
func TestAForeignSizeIsKept(t *testing.T) {
	s := tell(t)
	s.native("web", "m5.large", "a", size{0, 1, 8})
	s.shown()
	s.awaitSizes(map[string]int32{"web": 1})
	s.desire("web", 3)
	o, _ := s.object("web")
	s.AwaitEvent(o, "SizeChanged", "was changed elsewhere") // before pods come: another story kills the controller while groups grow
	s.deploy("web", 5, "web")
	s.Running("web", 5)
	s.awaitSizes(map[string]int32{"web": 5})
}

// The controller is killed once it has asked for instances, before their nodes are there. It asks for none twice.
func TestARestartDoublesNothing(t *testing.T) {
	s := tell(t)
	s.native("web", "m5.large", "a", size{0, 0, 10})
	s.shown()
	s.deploy("web", 4, "web")
	s.Eventually("instances are asked for", func(context.Context) (bool, string) {
		n := *s.described("web").DesiredCapacity
		return n > 0, fmt.Sprint(n)
	})
	s.kill()
	s.Running("web", 4)
	s.awaitSizes(map[string]int32{"web": 4})
}
