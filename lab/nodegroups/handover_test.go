package nodegroups

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// pool makes a pool of machines like those of the groups, whose nodes have the label of a node group of this name, so that pods which
// name it may be there.
func (s *story) pool(name string) {
	s.Helper()
	discovery := map[string]string{"karpenter.sh/discovery": cluster}
	s.Create(&awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: s.named(name)}, Spec: awsv1.EC2NodeClassSpec{
		Role: "karpenterNodeRole-demo", AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms: []awsv1.SubnetSelectorTerm{{Tags: discovery}}, SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
	}})
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: s.named(name)}}
	pool.Spec.Template.Labels = map[string]string{groupLabel: s.named(name)}
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: s.named(name)}
	pool.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{{Key: v1.LabelInstanceTypeStable, Operator: v1.NodeSelectorOpIn, Values: []string{"m5.large"}}}
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "0"}}
	s.Create(pool)
	s.Cleanup(func() { // claims go with their pool, and the class after them
		ctx := context.Background()
		if err := s.Lab.Client.Delete(ctx, pool); err != nil {
			s.Error(err)
		}
	})
}

// watchPods notes, until the returned function is called, the longest time for which a pod of an app had no node.
func (s *story) watchPods(app string) (longest func() time.Duration) {
	s.Helper()
	ctx, stop := context.WithCancel(s.Context())
	var worst time.Duration
	var done sync.WaitGroup
	done.Go(func() {
		since := map[string]time.Time{}
		for ctx.Err() == nil {
			var pods v1.PodList
			if err := s.Lab.Client.List(ctx, &pods, client.InNamespace(s.Namespace), client.MatchingLabels{"app": app}); err != nil {
				continue
			}
			now := time.Now()
			for _, pod := range pods.Items {
				if pod.Spec.NodeName != "" {
					continue
				}
				if since[pod.Name].IsZero() {
					since[pod.Name] = now
				}
				worst = max(worst, now.Sub(since[pod.Name]))
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() time.Duration {
		stop()
		done.Wait()
		return worst
	}
}

// change patches the NodeGroup of a node group.
func (s *story) change(name, merge string) {
	s.Helper()
	s.Patch(&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: tenonv1alpha1.ObjectName(s.groups[name])}}, merge)
}

// steady waits until no node of a group is about to leave, and returns the group's size, which AWS and the object agree on.
func (s *story) steady(name string) int64 {
	s.Helper()
	var size int64
	s.Eventually("no node of the group is leaving", func(ctx context.Context) (bool, string) {
		var nodes v1.NodeList
		if err := s.Lab.Client.List(ctx, &nodes, client.MatchingLabels{groupLabel: s.named(name)}); err != nil {
			return false, err.Error()
		}
		for _, node := range nodes.Items {
			if node.DeletionTimestamp != nil || node.Annotations[karpenterv1.AnnotationDisruption] != "" {
				return false, node.Name + " is leaving"
			}
		}
		o, found := s.object(name)
		if !found || o.Status.Size == nil {
			return false, "the group is not shown"
		}
		size = int64(len(nodes.Items))
		return o.Status.Size.Desired == size && int64(*s.described(name).DesiredCapacity) == size, fmt.Sprintf("%d nodes, size %+v", size, *o.Status.Size)
	})
	return size
}

// TestAGroupIsHandedOver: nodes of a pool replace those of a group whose pods have a PodDisruptionBudget, and no pod waits for a node
// meanwhile. In the middle it is paused, taken back so that the group grows again, and begun again.
func TestAGroupIsHandedOver(t *testing.T) {
	s := tell(t)
	const nodes = 12
	s.native("web", "m5.large", "a", size{0, 0, nodes + 1})
	s.shown()
	s.deploy("web", nodes, "web", "own")
	s.Create(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: &intstr.IntOrString{IntVal: 2}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}})
	s.Running("web", nodes)
	s.awaitSizes(map[string]int32{"web": nodes})
	s.pool("own")
	longest := s.watchPods("web")

	s.change("web", `{"spec":{"mode":"handover","disruption":{"consolidateAfter":"Never","budgets":[{"nodes":"25%"}]}}}`)
	s.Eventually("some nodes have been replaced", func(context.Context) (bool, string) {
		n := *s.described("web").DesiredCapacity
		return n <= nodes-3, fmt.Sprint(n)
	})
	s.change("web", `{"metadata":{"annotations":{"tenon.sh/handover-paused":"true"}}}`)
	half := s.steady("web")
	if o, _ := s.object("web"); half == 0 || !meta.IsStatusConditionPresentAndEqual(o.Status.Conditions, tenonv1alpha1.ConditionHandedOver, metav1.ConditionFalse) {
		t.Fatalf("%d nodes are left; conditions %+v", half, o.Status.Conditions)
	}

	// Back from the middle: the group is as it was before, and grows.
	s.change("web", `{"spec":{"mode":"native"},"metadata":{"annotations":{"tenon.sh/handover-paused":null}}}`)
	s.deploy("more", 1, "web")
	s.Running("more", 1)
	if grown := s.steady("web"); grown != half+1 {
		t.Errorf("the group has %d nodes after it was taken back, want %d", grown, half+1)
	}
	s.Delete(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "more"}})

	s.change("web", `{"spec":{"mode":"handover"}}`)
	s.awaitSizes(map[string]int32{"web": 0})
	s.Eventually("the group says that it is handed over", func(context.Context) (bool, string) {
		o, _ := s.object("web")
		return meta.IsStatusConditionTrue(o.Status.Conditions, tenonv1alpha1.ConditionHandedOver), fmt.Sprintf("%+v", o.Status.Conditions)
	})
	var own v1.NodeList
	if err := s.Lab.Client.List(t.Context(), &own, client.MatchingLabels{karpenterv1.LabelNodePool: s.named("own")}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range s.Running("web", nodes) {
		if !slices.ContainsFunc(own.Items, func(n v1.Node) bool { return n.Name == pod.Spec.NodeName }) {
			t.Errorf("pod %s is on %s, which is no node of the pool", pod.Name, pod.Spec.NodeName)
		}
	}
	// A pod that waited for a node would wait for the boot of a machine.
	if waited := longest(); waited >= boot {
		t.Errorf("a pod waited %s for a node", waited)
	}
}
