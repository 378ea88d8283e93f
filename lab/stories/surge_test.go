package stories

import (
	"fmt"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"tenon/lab/labtest"
)

// When kubectl deletes the node of a service with a single pod and a budget of one, another pod is Ready on
// one new node before the first goes, and the service always has a Ready pod.
func TestSinglePodSurges(t *testing.T) {
	s := tell(t)
	s.apply("basic.yaml", "single.yaml")
	pod := s.Running("single", 1)[0]
	claim, node := s.claimOf(pod), s.nodeOf(pod)
	ready := s.followReady("single")
	s.Delete(node)
	s.AwaitEvent(&pod, "Surging", "Deployment single", node.Name)
	s.AwaitEvent(node, "Surging", s.Namespace+"/"+pod.Name)
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
	after := s.Running("single", 1)[0]
	if after.Spec.NodeName == node.Name || after.UID == pod.UID {
		t.Errorf("%s is still on %s", after.Name, after.Spec.NodeName)
	}
	if got := after.Annotations["tenon.sh/surged-for"]; got != string(pod.UID) {
		t.Errorf("the new pod was made for %q, the old one was %s", got, pod.UID)
	}
	if claims := s.claims(); len(claims) != 1 {
		t.Errorf("there are %d claims for one pod", len(claims))
	}
	s.machineGone(claim.Status.ProviderID)
	if pods := ready(); len(pods) != 2 {
		t.Errorf("%d pods were Ready one after the other, want the old and the new one: %v", len(pods), pods)
	}
}

// A pod of a Deployment with the strategy Recreate is evicted without a surge, and an event says so.
func TestRecreateDoesNotSurge(t *testing.T) {
	s := tell(t)
	s.apply("basic.yaml", "single.yaml")
	s.Patch(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "single"}},
		`{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`)
	pod := s.Running("single", 1)[0]
	claim, node := s.claimOf(pod), s.nodeOf(pod)
	s.Delete(node)
	s.AwaitEvent(&pod, "SurgeNotPossible", "strategy Recreate")
	s.AwaitCondition(claim, "Drained", metav1.ConditionUnknown, "tenon.sh/surge does not help", "strategy Recreate", "PodDisruptionBudget "+s.Namespace+"/single")
	s.Patch(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "single"}}, `{"spec":{"strategy":{"type":"RollingUpdate"}}}`)
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
	s.Running("single", 1)
}

// followReady watches an app with a Ready pod, and fails the story as soon as no pod is Ready. The returned
// function ends the watch and returns which pods have been Ready.
func (s *story) followReady(app string) func() []string {
	s.Helper()
	list, err := s.Lab.Clients.CoreV1().Pods(s.Namespace).List(s.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		s.Fatal(err)
	}
	events, err := s.Lab.Clients.CoreV1().Pods(s.Namespace).Watch(s.Context(),
		metav1.ListOptions{LabelSelector: "app=" + app, ResourceVersion: list.ResourceVersion})
	if err != nil {
		s.Fatal(err)
	}
	serving := map[types.UID]bool{}
	var been []string
	see := func(kind watch.EventType, pod *v1.Pod) {
		is := kind != watch.Deleted && pod.DeletionTimestamp == nil && labtest.PodReady.Holds(pod)
		if was := serving[pod.UID]; is && !was {
			been = append(been, fmt.Sprintf("%s on %s", pod.Name, pod.Spec.NodeName))
		}
		if serving[pod.UID] = is; !is {
			delete(serving, pod.UID)
		}
		if len(serving) == 0 {
			s.Errorf("no pod of %s is Ready, after %s was %s", app, pod.Name, kind)
		}
	}
	for i := range list.Items {
		see(watch.Added, &list.Items[i])
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range events.ResultChan() {
			if pod, is := event.Object.(*v1.Pod); is {
				see(event.Type, pod)
			}
		}
	}()
	stop := sync.OnceFunc(func() { events.Stop(); <-done })
	s.Cleanup(stop) // before the story's end, which deletes all pods
	return func() []string { stop(); return been }
}
