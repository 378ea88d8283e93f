package turnover

import (
	"context"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// When a pod that must not be disrupted is bound to a node just after Tenon closed it, the pod is not lost:
// Tenon opens the node again, or the node waits for the pod. (The disruption controllers have tests in
// which such a pod comes before and after every single write.)
func TestPodThatIsBoundAfterTheDecision(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m6a.large"))
	web := s.deploy("web", 1, "1500m")
	node := s.Running("web", 1)[0].Spec.NodeName
	claim := s.claims()[0]
	late := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "late", Labels: map[string]string{"app": "late"}, Annotations: map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}},
		Spec: v1.PodSpec{
			SchedulerName: "nobody", NodeSelector: s.mine(), Tolerations: []v1.Toleration{{Key: storyLabel, Value: s.Namespace}},
			Containers: []v1.Container{{Name: "main", Image: "example.com/late:1"}},
		},
	}
	s.Create(late)
	s.Scale(web.Name, 0)
	s.open(pool)
	s.Eventually("the node is closed", func(ctx context.Context) (bool, string) {
		n, err := s.Lab.Clients.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		return err == nil && leaving(n), fmt.Sprint(err)
	})
	err := s.Lab.Clients.CoreV1().Pods(s.Namespace).Bind(t.Context(), &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "late"}, Target: v1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Running("late", 1)
	s.Eventually("the node is opened again, or drains and waits", func(context.Context) (bool, string) {
		claims, nodes := s.claims(), s.nodes()
		stays := settled(claims) && !slices.ContainsFunc(nodes, func(n v1.Node) bool { return leaving(&n) })
		waits := slices.ContainsFunc(claims, func(c karpenterv1.NodeClaim) bool {
			return slices.ContainsFunc(c.Status.Conditions, func(is metav1.Condition) bool {
				return is.Type == karpenterv1.ConditionDrained && labtest.Says(is.Message, "late")
			})
		})
		return stays || waits, fmt.Sprint(words(claims))
	})
	if pod := s.Running("late", 1)[0]; pod.Spec.NodeName != node || len(s.claims()) != 1 {
		t.Errorf("the pod is on %s, claims are %v", pod.Spec.NodeName, words(s.claims()))
	}
	s.Delete(late)
	s.awaitClaims("the node goes when the pod has gone", func(c []karpenterv1.NodeClaim) bool {
		return !slices.Contains(names(c), claim.Name)
	})
}
