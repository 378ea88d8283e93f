package labtest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// A Story is a test with its own namespace, and the methods that such tests use.
type Story struct {
	*testing.T
	Lab       *Lab
	Namespace string
	// Within is how long a wait may take.
	Within time.Duration
}

// Story begins a test with a namespace of its own.
func (l *Lab) Story(t *testing.T, within time.Duration) Story {
	t.Helper()
	s := Story{T: t, Lab: l, Namespace: l.Namespace(t), Within: within}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("what the lab's programs said of the story:\n" + s.said())
		}
	})
	return s
}

// said returns the log lines of the lab that name the story: its namespace is in the names of its objects.
func (s *Story) said() string {
	record, _, err := s.Lab.Directory.Load()
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, component := range record.Components {
		log, err := os.ReadFile(component.Log)
		if err != nil {
			out = append(out, component.Name+": "+err.Error()+"\n")
		}
		for _, line := range naming(strings.TrimPrefix(s.Namespace, "test-"), string(log)) {
			out = append(out, component.Name+": "+line)
		}
	}
	return strings.Join(out[max(0, len(out)-mostSaid):], "")
}

// mostSaid is how many of these lines are shown.
const mostSaid = 200

// naming returns the lines of a log that contain a name. Of lines that differ in numbers only, such as those of a
// controller that tries something again and again, it returns the first.
func naming(name, log string) []string {
	var out []string
	seen := sets.New[string]()
	for line := range strings.Lines(log) {
		if !strings.Contains(line, name) {
			continue
		}
		shape := numbers.ReplaceAllString(line, "")
		if !seen.Has(shape) {
			out = append(out, line)
		}
		seen.Insert(shape)
	}
	return out
}

var numbers = regexp.MustCompile(`\d+`)

// Create makes an object.
func (s *Story) Create(object client.Object) {
	s.Helper()
	if err := s.Lab.Client.Create(s.Context(), object); err != nil {
		s.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

// Patch merges something into an object.
func (s *Story) Patch(object client.Object, merge string) {
	s.Helper()
	if err := s.Lab.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		s.Fatalf("patch %T %s: %v", object, object.GetName(), err)
	}
}

// Delete deletes an object, which may be gone already.
func (s *Story) Delete(object client.Object) {
	s.Helper()
	if err := client.IgnoreNotFound(s.Lab.Client.Delete(s.Context(), object)); err != nil {
		s.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// Scale sets the number of a Deployment's pods.
func (s *Story) Scale(deployment string, replicas int) {
	s.Helper()
	s.Patch(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: deployment}},
		fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// Eventually waits until a condition holds; the condition also describes the present state.
func (s *Story) Eventually(what string, condition func(context.Context) (done bool, stands string)) {
	s.Helper()
	s.Lab.EventuallyWithin(s, s.Within, what, condition)
}

// Running waits until an app has exactly the wanted number of pods, all ready, and returns them.
func (s *Story) Running(app string, wanted int) []v1.Pod {
	s.Helper()
	return s.Lab.awaitPods(s, s.Within, s.Namespace, "app="+app, wanted, PodReady)
}

// Claims returns the claims with some labels, in the order of their names.
func (s *Story) Claims(with client.MatchingLabels) []karpenterv1.NodeClaim {
	s.Helper()
	list := &karpenterv1.NodeClaimList{}
	if err := s.Lab.Client.List(s.Context(), list, with); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// AwaitCondition waits until an object has a condition. It reads the object into object.
func (s *Story) AwaitCondition(object client.Object, name string, status metav1.ConditionStatus, says ...string) {
	s.Helper()
	what := fmt.Sprintf("%T %s has %s=%s that says %q", object, object.GetName(), name, status, says)
	s.Eventually(what, func(ctx context.Context) (bool, string) {
		if err := s.Lab.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		for _, c := range conditionsOf(object) {
			if c.Type == name {
				return c.Status == status && Says(c.Reason+": "+c.Message, says...), fmt.Sprintf("it is %s, %s: %s", c.Status, c.Reason, c.Message)
			}
		}
		return false, "it has no such condition"
	})
}

// AwaitConditionGone waits until an object no longer has a condition.
func (s *Story) AwaitConditionGone(object client.Object, name string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%T %s has no condition %s", object, object.GetName(), name), func(ctx context.Context) (bool, string) {
		if err := s.Lab.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		for _, c := range conditionsOf(object) {
			if c.Type == name {
				return false, fmt.Sprintf("it is still %s: %s", c.Status, c.Message)
			}
		}
		return true, ""
	})
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *karpenterv1.NodePool:
		return o.Status.Conditions
	case *karpenterv1.NodeClaim:
		return o.Status.Conditions
	case *awsv1.EC2NodeClass:
		return o.Status.Conditions
	case *autoscalingv1beta1.CapacityBuffer:
		return o.Status.Conditions
	case *autoscalingv1.ProvisioningRequest:
		return o.Status.Conditions
	default:
		panic(fmt.Sprintf("the conditions of %T cannot be read", object))
	}
}

// AwaitEvent waits for an event about an object.
func (s *Story) AwaitEvent(object client.Object, reason string, says ...string) {
	s.Helper()
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault // where events about objects without a namespace are
	}
	about := fields.Set{"involvedObject.name": object.GetName(), "reason": reason}.AsSelector().String()
	s.Eventually(fmt.Sprintf("an event %s about %s that says %q", reason, object.GetName(), says), func(ctx context.Context) (bool, string) {
		events, err := s.Lab.Clients.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: about})
		if err != nil {
			return false, err.Error()
		}
		var said []string
		for _, event := range events.Items {
			if Says(event.Message, says...) {
				return true, ""
			}
			said = append(said, event.Message)
		}
		return false, fmt.Sprintf("it was said: %q", said)
	})
}

// Says reports whether a text contains all these parts.
func Says(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}
