package cluster

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// After every change of pods and nodes, groups have the same counts as a list of all pods, and the
// queue has exactly the waiting pods.
func TestPodGroupsAndQueueMatchTheObjects(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	c := &Cluster{nodes: newNodeIndex(), queue: queue{}, nominated: newNominations()}
	pods, nodes := map[types.UID]*corev1.Pod{}, map[string]*corev1.Node{}
	for range 5000 {
		node := fmt.Sprint("node-", dice.IntN(4))
		uid := types.UID(fmt.Sprint(dice.IntN(30)))
		was := pods[uid]
		switch dice.IntN(8) {
		case 0:
			old := nodes[node]
			nodes[node] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
			c.Told(event(old), nodes[node])
		case 1:
			if old := nodes[node]; old != nil {
				delete(nodes, node)
				c.Told(old, nil)
			}
		case 2:
			if was != nil {
				delete(pods, uid)
				c.Told(was, nil)
			}
		default:
			pods[uid] = another(was, uid, node, dice)
			c.Told(event(was), pods[uid])
		}
		if got, want := counted(c.nodes), recount(c.nodes); !reflect.DeepEqual(got, want) {
			t.Fatalf("groups are %v, and should be %v", got, want)
		}
		for uid, pod := range pods {
			if w := c.queue[uid]; unscheduled(pod) != (w != nil) || w != nil && w.pod != pod {
				t.Fatalf("pod %s waits: %v, and the queue has %v", uid, unscheduled(pod), w)
			}
		}
		if len(c.queue) > len(pods) {
			t.Fatal("a process waits that is gone")
		}
	}
}

// event returns an object as an event has it: nil without a type instead of a typed nil.
func event[T any, P interface {
	*T
	client.Object
}](object P) client.Object {
	if object == nil {
		return nil
	}
	return object
}

// another is the next version of a pod: with other labels, a node, an end, or unchanged.
func another(was *corev1.Pod, uid types.UID, node string, dice *rand.Rand) *corev1.Pod {
	if was == nil {
		was = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Name: string(uid), Namespace: fmt.Sprint("space-", dice.IntN(2))}}
	}
	pod := was.DeepCopy()
	pod.Status.Phase, pod.Spec.SchedulerName = cmp.Or(pod.Status.Phase, corev1.PodPending), corev1.DefaultSchedulerName
	switch dice.IntN(5) {
	case 0:
		pod.Labels = map[string]string{"app": fmt.Sprint(dice.IntN(3))}
	case 1:
		pod.DeletionTimestamp = &metav1.Time{}
	case 2:
		pod.Status.Phase = corev1.PodSucceeded
	case 3:
		pod.Spec.NodeName = node
	}
	return pod
}

func counted(f *nodeIndex) map[string]int {
	counts := map[string]int{}
	for name, k := range f.groups {
		for r, n := range k.staying {
			counts[name+" on "+r.node.Name] = n
		}
	}
	return counts
}

func recount(f *nodeIndex) map[string]int {
	counts := map[string]int{}
	for _, r := range f.rooms {
		for _, g := range r.pods {
			if g.DeletionTimestamp == nil {
				counts[groupOf(g.Pod)+" on "+r.node.Name]++
			}
		}
	}
	return counts
}
