package labtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/lab/machine"
	"tenon/lab/measure"
)

// Within is how long a wait may take, unless a test sets another time. It is generous: an event that takes
// a moment on a quiet machine takes much longer on a busy one, and neither is a failure.
const Within = 90 * time.Second

// pollEvery is how often a condition is checked. The longer a wait has lasted, the rarer are its checks:
// checks cost work too, and most late events are late because the machine is busy.
const (
	pollEvery   = 100 * time.Millisecond
	pollSeldom  = time.Second
	pollPatient = 20 // how many times longer than a pause the wait has lasted
)

func pause(waited time.Duration) time.Duration {
	return min(max(waited/pollPatient, pollEvery), pollSeldom)
}

// A machine that runs tests may stand still for minutes, which says nothing about the product. So a wait's limit counts
// the expected time of its own checks and pauses: a check counts at most checkTakes, and a pause its nominal length. A
// process that is stuck answers checks at once, and the wait fails in time. Even on a machine that stands still, a wait
// takes at most patient times the limit.
const (
	checkTakes = 2 * time.Second
	patient    = 4
)

// Eventually waits until a condition holds. The condition also describes the present state, and a failing
// test prints its last description.
func (l *Lab) Eventually(t testing.TB, what string, condition func(context.Context) (done bool, stands string)) {
	t.Helper()
	l.EventuallyWithin(t, Within, what, condition)
}

// EventuallyWithin is Eventually with another limit. It may also be called when a test cleans up.
func (l *Lab) EventuallyWithin(t testing.TB, within time.Duration, what string, condition func(context.Context) (done bool, stands string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patient*within)
	defer cancel()
	stands, waited := "it was never looked at", time.Duration(0)
	for {
		begun := time.Now()
		done, now := condition(ctx)
		if done {
			return
		}
		if ctx.Err() == nil {
			stands = now // a check that was cut short describes nothing
		}
		next := pause(waited)
		waited += min(time.Since(begun), checkTakes) + next
		if waited > within || measure.Pause(ctx, next) != nil {
			t.Fatalf("%s: not within %s; %s", what, within, stands)
		}
	}
}

// Never checks that a condition does not become true during a time.
func (l *Lab) Never(t testing.TB, what string, during time.Duration, condition func(context.Context) (holds bool, stands string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	for {
		if holds, now := condition(ctx); holds {
			t.Fatalf("%s: it happened; %s", what, now)
		}
		if measure.Pause(ctx, pollEvery) != nil {
			return
		}
	}
}

// Nodes makes machines of a form and waits until they are Ready. They are deleted when the test ends.
func (l *Lab) Nodes(t testing.TB, form machine.Form, names ...string) {
	t.Helper()
	t.Cleanup(func() {
		if err := machine.Delete(context.Background(), l.Clients, names); err != nil {
			t.Error(err)
		}
	})
	if err := machine.Add(t.Context(), l.Clients, names, form); err != nil {
		t.Fatal(err)
	}
	if err := machine.AwaitReady(t.Context(), l.Clients, names, Within); err != nil {
		t.Fatal(err)
	}
}

// AwaitPods waits until exactly the wanted number of pods with a label exist and satisfy a condition, and
// returns them.
func (l *Lab) AwaitPods(t testing.TB, namespace, selector string, wanted int, condition PodCondition) []v1.Pod {
	t.Helper()
	return l.awaitPods(t, Within, namespace, selector, wanted, condition)
}

func (l *Lab) awaitPods(t testing.TB, within time.Duration, namespace, selector string, wanted int, condition PodCondition) []v1.Pod {
	t.Helper()
	var found []v1.Pod
	what := fmt.Sprintf("%d pods %s with %s in %s", wanted, condition.Name, selector, namespace)
	l.EventuallyWithin(t, within, what, func(ctx context.Context) (bool, string) {
		list, err := l.Clients.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false, err.Error()
		}
		found = list.Items
		satisfied := 0
		for i := range found {
			if condition.Holds(&found[i]) {
				satisfied++
			}
		}
		return satisfied == wanted && len(found) == wanted, l.describePods(ctx, namespace, found)
	})
	return found
}

// PodCondition is a property of a pod.
type PodCondition struct {
	Name  string
	Holds func(*v1.Pod) bool
}

// Conditions that tests wait for.
var (
	PodReady = PodCondition{"ready", func(pod *v1.Pod) bool {
		if pod.DeletionTimestamp != nil {
			return false // it is still, and will not be
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == v1.PodReady {
				return condition.Status == v1.ConditionTrue
			}
		}
		return false
	}}
	PodSucceeded = PodCondition{"succeeded", func(pod *v1.Pod) bool { return pod.Status.Phase == v1.PodSucceeded }}
	PodPending   = PodCondition{"pending", func(pod *v1.Pod) bool { return pod.Status.Phase == v1.PodPending && pod.Spec.NodeName == "" }}
)

// describePods prints the state of pods, and the namespace's last events.
func (l *Lab) describePods(ctx context.Context, namespace string, pods []v1.Pod) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d pods:", len(pods))
	for i, pod := range pods {
		if i == 10 {
			fmt.Fprintf(&text, "\n  and %d more", len(pods)-i)
			break
		}
		fmt.Fprintf(&text, "\n  %s on %q is %s", pod.Name, pod.Spec.NodeName, pod.Status.Phase)
		for _, condition := range pod.Status.Conditions {
			if condition.Status != v1.ConditionTrue {
				fmt.Fprintf(&text, ", not %s: %s", condition.Type, condition.Message)
			}
		}
	}
	events, err := l.Clients.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return text.String() // the pods say most of it
	}
	for _, event := range events.Items[max(0, len(events.Items)-10):] {
		fmt.Fprintf(&text, "\n  event on %s: %s: %s", event.InvolvedObject.Name, event.Reason, event.Message)
	}
	return text.String()
}

// AwaitGone waits until an object no longer exists.
func (l *Lab) AwaitGone(t testing.TB, object client.Object) {
	t.Helper()
	l.Eventually(t, fmt.Sprintf("%T %s is gone", object, object.GetName()), func(ctx context.Context) (bool, string) {
		err := l.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return apierrors.IsNotFound(err), fmt.Sprintf("deletion asked for at %v, finalizers %v, %v",
			object.GetDeletionTimestamp(), object.GetFinalizers(), err)
	})
}

func objectsOf(list client.ObjectList) ([]client.Object, error) {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("read %T: %w", list, err)
	}
	objects := make([]client.Object, 0, len(items))
	for _, item := range items {
		object, ok := item.(client.Object)
		if !ok {
			return nil, fmt.Errorf("%T in %T is no object", item, list)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
