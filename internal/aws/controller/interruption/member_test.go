package interruption_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/aws/instance"
	"tenon/internal/departure"
)

// The node of a group that Tenon may change is drained ahead of the end of its instance. An interrupted spot instance is left to
// AWS, whose group replaces it: the node says when it ends. An instance that ends already was chosen by others.
func TestMembersOfGroups(t *testing.T) {
	t.Parallel()
	const spot, rebalance = "EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"
	cases := map[string]struct {
		kind    string
		mode    tenonv1alpha1.Mode
		foreign metav1.ConditionStatus
		strange bool          // the node is annotated with no group
		age     time.Duration // of the node
		again   bool          // the message stays in the queue
		event   string
		told    string
		goes    bool
		dated   bool
	}{
		"a spot interruption":                      {kind: spot, mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionFalse, event: "SpotInterrupted", told: "spot m5.large z", goes: true, dated: true},
		"in mode native":                           {kind: spot, mode: tenonv1alpha1.ModeNative, foreign: metav1.ConditionFalse, event: "SpotInterrupted", told: "spot m5.large z", goes: true, dated: true},
		"in mode observe":                          {kind: spot, mode: tenonv1alpha1.ModeObserve, foreign: metav1.ConditionFalse},
		"beside a Cluster Autoscaler":              {kind: spot, mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionTrue},
		"before another autoscaler was looked for": {kind: spot, mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionUnknown, again: true},
		"before the node's group is known":         {kind: spot, mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionFalse, strange: true, again: true},
		"a node that is in no group":               {kind: spot, mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionFalse, strange: true, age: time.Hour},
		"a recommendation":                         {kind: rebalance, mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionFalse, event: "SpotRebalanceRecommendation"},
		"an end that others or Tenon asked for":    {kind: "EC2 Instance State-change Notification", mode: tenonv1alpha1.ModeCAS, foreign: metav1.ConditionFalse},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFixture(t)
			p.Kit.Settings.FeatureGates.NodeGroups = true
			p.restart()
			group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "web", Mode: tc.mode}}
			group.Status.Conditions = []metav1.Condition{{Type: tenonv1alpha1.ConditionForeignAutoscaler, Status: tc.foreign, Reason: "Test", LastTransitionTime: metav1.Now()}}
			p.Must(p.API.Create(t.Context(), group))
			annotations := map[string]string{tenonv1alpha1.AnnotationGroup: "web"}
			if tc.strange {
				annotations = nil
			}
			p.Must(p.API.Create(t.Context(), &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{
					Name: "member", Annotations: annotations, CreationTimestamp: metav1.NewTime(p.Clock.Now().Add(-tc.age)),
					Labels: map[string]string{corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "z"},
				},
				Spec: corev1.NodeSpec{ProviderID: instance.ProviderID("z", "i-7")},
			}))
			p.send(tc.kind, "aws.ec2", `{"instance-id":"i-7","state":"terminated"}`)
			p.Run(p.c, "")
			var node corev1.Node
			p.Get("member", &node)
			ends := p.Clock.Now().Add(2 * time.Minute).UTC().Format(time.RFC3339)
			if goes := node.DeletionTimestamp != nil && fmt.Sprint(node.Finalizers) == "["+karpenterv1.FinalizerTermination+"]"; goes != tc.goes {
				t.Errorf("the node goes: %t; %+v", goes, node.ObjectMeta)
			}
			if dated := node.Annotations[departure.AnnotationEnds] == ends; dated != tc.dated {
				t.Errorf("it says when it ends: %t", dated)
			}
			if told := strings.Join(p.market.told, ";"); told != tc.told || p.queue.deleted == 1 == tc.again {
				t.Errorf("the market was told %q, want %q; messages deleted: %d", told, tc.told, p.queue.deleted)
			}
			if events := strings.Join(p.Events(), "\n"); !strings.Contains(events, tc.event) || tc.event == "" && events != "" || strings.Contains(events, "TerminatingOnInterruption") != tc.goes {
				t.Errorf("events are\n%s\nwant %s", events, tc.event)
			}
		})
	}
}

// A node that wrote the provider ID of a group's node does not keep that node from being drained.
func TestANodeWithAnothersProviderIDHidesNoMember(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.Kit.Settings.FeatureGates.NodeGroups = true
	p.restart()
	group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "web", Mode: tenonv1alpha1.ModeNative}}
	group.Status.Conditions = []metav1.Condition{{Type: tenonv1alpha1.ConditionForeignAutoscaler, Status: metav1.ConditionFalse, Reason: "Test", LastTransitionTime: metav1.Now()}}
	p.Must(p.API.Create(t.Context(), group))
	for name, age := range map[string]time.Duration{"a-forged": time.Minute, "member": time.Hour, "z-forged": time.Minute} {
		p.Must(p.API.Create(t.Context(), &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{tenonv1alpha1.AnnotationGroup: "web"}, CreationTimestamp: metav1.NewTime(p.Clock.Now().Add(-age))},
			Spec:       corev1.NodeSpec{ProviderID: instance.ProviderID("z", "i-7")},
		}))
	}
	p.send("EC2 Spot Instance Interruption Warning", "aws.ec2", `{"instance-id":"i-7"}`)
	p.Run(p.c, "")
	for name, want := range map[string]bool{"a-forged": false, "member": true, "z-forged": false} {
		var node corev1.Node
		if p.Get(name, &node); (node.DeletionTimestamp != nil) != want {
			t.Errorf("%s goes: %t, want %t", name, !want, want)
		}
	}
}
