// Package cluster simulates everything of a Kubernetes cluster except the product: the scheduler, the
// kubelets, and the controllers of workloads, budgets, taints and pods of deleted nodes. Each is a
// reconcile.Controller like the product's, so one mechanism steps them all. sim/README.md says what they
// model, and what they leave out.
//
// The package must not know the product's controllers.
package cluster

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// Cluster is the shared state of the parts.
type Cluster struct {
	// Client reads without lag.
	Client Client
	Clock  clock.PassiveClock
	Dice   *rand.Rand
	// Later calls a function at a time.
	Later func(at time.Time, what string, do func())
	// Dud reports that a machine never joins; Sick reports that it stops being ready, and after how long.
	// Nil means never.
	Dud  func(providerID string) bool
	Sick func(providerID string) (time.Duration, bool)
	// Calm reports that faults have ended: no machine falls ill from then on. Nil means never.
	Calm func() bool

	nodes     *nodeIndex
	machines  map[string]*machine // by the name of the node
	lost      map[types.UID]time.Time
	queue     queue
	nominated *nominations
	detaching map[string]time.Time    // attachments
	rules     map[reconcile.Key]*rule // budgets
	turn      int                     // the node at which the scheduler's search begins
}

// Client can also return stored objects without copying them. Of deleted or bound objects it reads only the
// key.
type Client interface {
	client.Client
	// Find returns all objects of a kind in the order of their keys, or those with a value in an index.
	// They must not be changed.
	Find(kind client.Object, index, value string) []client.Object
}

// Controllers returns all parts.
func (c *Cluster) Controllers() []reconcile.Controller {
	c.nodes, c.rules = newNodeIndex(), map[reconcile.Key]*rule{}
	c.machines, c.lost, c.detaching = map[string]*machine{}, map[types.UID]time.Time{}, map[string]time.Time{}
	c.queue, c.nominated = queue{}, newNominations()
	return []reconcile.Controller{
		c.scheduler(), c.kubelets(), c.taints(), c.evictions(), c.leftovers(), c.budgets(),
		c.quotas(), c.deployments(), c.replicaSets(), c.statefulSets(), c.daemonSets(), c.jobs(), c.attachments(), c.volumes(),
	}
}

const (
	owner   = "cluster.owner"
	claimed = "cluster.claimed"
	labeled = "cluster.labeled"
)

// Indexes are the indexes that the parts need besides lookup's.
func Indexes() []lookup.Index {
	return []lookup.Index{
		{Kind: &corev1.Pod{}, Field: owner, Values: func(o client.Object) []string {
			if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
				return []string{string(ref.UID)}
			}
			return nil
		}},
		{Kind: &corev1.Pod{}, Field: claimed, Values: func(o client.Object) []string {
			var values []string
			for _, key := range claimKeys(context.Background(), o) {
				values = append(values, key.String())
			}
			return values
		}},
		{Kind: &corev1.Pod{}, Field: labeled, Values: func(o client.Object) []string {
			values := make([]string, 0, len(o.GetLabels()))
			for key, value := range o.GetLabels() {
				values = append(values, labelOf(o.GetNamespace(), key, value))
			}
			slices.Sort(values)
			return values
		}},
	}
}

func labelOf(namespace, key, value string) string { return namespace + "/" + key + "=" + value }

// unscheduled reports whether a pod waits for the scheduler.
func unscheduled(p *corev1.Pod) bool {
	return p.Spec.NodeName == "" && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodPending &&
		len(p.Spec.SchedulingGates) == 0 && p.Spec.SchedulerName == corev1.DefaultSchedulerName
}

// podsOf returns the pods that a controller made, including those being deleted.
func (c *Cluster) podsOf(uid types.UID) []*corev1.Pod {
	return podsIn(c.Client.Find(&corev1.Pod{}, owner, string(uid)))
}

func podsIn(objects []client.Object) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(objects))
	for i, object := range objects {
		pods[i] = object.(*corev1.Pod)
	}
	return pods
}

func (c *Cluster) now() metav1.Time { return metav1.NewTime(c.Clock.Now()) }

// between returns a random duration.
func (c *Cluster) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.Dice.Int64N(int64(most-least)))
}

// Ready reports whether a pod has the condition Ready.
func Ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Finished reports whether a pod will not run again.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// controllerOf wakes the controller of a pod, if it is of a kind.
func controllerOf(kind string) func(context.Context, client.Object) []reconcile.Key {
	return func(_ context.Context, object client.Object) []reconcile.Key {
		ref := metav1.GetControllerOfNoCopy(object)
		if ref == nil || ref.Kind != kind {
			return nil
		}
		return []reconcile.Key{{Namespace: object.GetNamespace(), Name: ref.Name}}
	}
}
