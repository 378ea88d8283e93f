// Package podevents keeps, on every claim, when a pod last came to its node or left it: the
// time from which the pool's consolidateAfter counts. Nodes of groups have no claim, and carry the time themselves.
//
// The time is read from the pods themselves: when one was bound, ended, or began to be deleted. So a
// restart, which shows every pod as if it were new, changes no time, and events without a watching process
// are noticed later with their own time. Only for a pod that is gone is there nothing to read: if no
// process watched, its end is missed, unless it was asked to leave and so was noticed before.
package podevents

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/translate"
)

const (
	// apart is how far two times must lie apart for the later one to be written: pods come in
	// bursts, and a window of minutes does not mind seconds.
	apart = 10 * time.Second
	// unhurried is for how long a time is held back where no window counts from it, and few others have been written: it is for people, and for a
	// window that the pool may get. Most nodes of a fleet that shrinks are gone by then.
	unhurried = time.Minute
	// few is how many such times are written at once, and how many more in each time of unhurried.
	few = 10
)

type watcher struct {
	kit   reconcile.Kit
	about cloud.Description
	held  map[string]held // by node; the only worker uses it
	few   *rate.Limiter
}

// held is the time of the last event on a node, since the time of the first one that is not written.
type held struct{ since, last time.Time }

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	w := watcher{kit, kit.Cloud.Describe(), map[string]held{}, rate.NewLimiter(rate.Every(unhurried/few), few)}
	return reconcile.Controller{
		Name: "nodeclaim.podevents",
		Watches: []reconcile.Watch{
			{Kind: &corev1.Pod{}, Keys: nodeOf, Matters: changes},
			{Kind: &corev1.Pod{}, Keys: leftNodeOf, Matters: ends},
		},
		Workers:   reconcile.One,
		Reconcile: w.reconcile,
	}
}

// left is the namespace of keys that say: a pod of this node has just ended. Nodes have no
// namespace, and the objects do not tell when that was.
const left = "left"

func nodeOf(_ context.Context, pod client.Object) []reconcile.Key {
	return []reconcile.Key{{Name: pod.(*corev1.Pod).Spec.NodeName}}
}

func leftNodeOf(_ context.Context, pod client.Object) []reconcile.Key {
	return []reconcile.Key{{Namespace: left, Name: pod.(*corev1.Pod).Spec.NodeName}}
}

// changes: a pod of a node that is new to us, or has another time than before.
func changes(old, changed client.Object) bool {
	if changed == nil || !counts(changed.(*corev1.Pod)) {
		return false
	}
	if old == nil {
		return true
	}
	a, b := old.(*corev1.Pod), changed.(*corev1.Pod)
	return a.Spec.NodeName != b.Spec.NodeName || podpolicy.Terminating(a) != podpolicy.Terminating(b)
}

// ends: a pod is gone from its node, or has done its work there.
func ends(old, changed client.Object) bool {
	if old == nil || !counts(old.(*corev1.Pod)) {
		return false
	}
	return changed == nil || !podpolicy.Terminal(old.(*corev1.Pod)) && podpolicy.Terminal(changed.(*corev1.Pod))
}

// counts reports whether the pod's coming and going is an event. Pods of DaemonSets come with every node
// and leave with it.
func counts(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && !podpolicy.Daemon(pod) }

func (w watcher) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	claim, node, err := w.keeper(ctx, key.Name)
	if err != nil {
		return reconcile.Never, err
	}
	if claim == nil && node == nil {
		delete(w.held, key.Name)
		return reconcile.Never, nil
	}
	now := w.kit.Clock.Now()
	last := now
	if key.Namespace != left {
		pods, err := lookup.PodsOn(ctx, w.kit.Client, key.Name)
		if err != nil {
			return reconcile.Never, err
		}
		last = latest(pods, now)
	}
	if claim == nil {
		return w.noteOn(ctx, node, last)
	}
	_, waits := w.held[key.Name]
	if known := last.IsZero() || last.Sub(claim.Status.LastPodEventTime.Time) < apart; known && !waits {
		return reconcile.Never, nil
	}
	last, wait := w.hold(key.Name, last, now, w.hurries(ctx, claim))
	if wait > 0 {
		return reconcile.In(wait), nil
	}
	noted := claim.DeepCopy()
	noted.Status.LastPodEventTime = metav1.NewTime(last)
	return patch.Values(ctx, w.kit, claim, noted)
}

// hurries reports whether a window counts from the time of a claim. Most writes to claims of a fleet that grows or shrinks would be
// these times.
func (w watcher) hurries(ctx context.Context, claim *karpenterv1.NodeClaim) bool {
	pool := &karpenterv1.NodePool{}
	if err := w.kit.Client.Get(ctx, client.ObjectKey{Name: claim.Labels[karpenterv1.LabelNodePool]}, pool); err != nil {
		return true // its window is not known yet
	}
	window := pool.Spec.Disruption.ConsolidateAfter.Duration
	return window != nil && *window > 0 && !pool.IsStatic()
}

// hold keeps the time of an event for a while, together with those of later ones, and then returns the last of them.
func (w watcher) hold(node string, last, now time.Time, hurry bool) (time.Time, time.Duration) {
	h, is := w.held[node]
	if !is {
		h, hurry = held{now, last}, hurry || w.few.AllowN(now, 1)
	}
	wait := h.since.Add(unhurried).Sub(now)
	if hurry {
		wait = 0
	}
	if (wait > 0 || hurry) && last.After(h.last) { // otherwise what woke us may be no event
		h.last = last
	}
	if wait <= 0 {
		delete(w.held, node)
		return h.last, 0
	}
	w.held[node] = h
	return time.Time{}, wait
}

// noteOn writes the time on a node of a group.
func (w watcher) noteOn(ctx context.Context, node *corev1.Node, last time.Time) (reconcile.Result, error) {
	before, err := time.Parse(time.RFC3339, node.Annotations[tenonv1alpha1.AnnotationLastPodEvent])
	if last.IsZero() || err == nil && last.Sub(before) < apart {
		return reconcile.Never, nil
	}
	noted := node.DeepCopy()
	noted.Annotations[tenonv1alpha1.AnnotationLastPodEvent] = last.UTC().Format(time.RFC3339)
	return patch.Settled(noted, patch.Merge(ctx, w.kit, node, noted))
}

// keeper finds what keeps the time of a node, if it is one of ours that stays: its claim, or a node of a group itself.
func (w watcher) keeper(ctx context.Context, name string) (*karpenterv1.NodeClaim, *corev1.Node, error) {
	node := &corev1.Node{}
	if err := w.kit.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return nil, nil, client.IgnoreNotFound(err)
	}
	claim, err := lookup.ClaimOf(ctx, w.kit.Client, node)
	switch {
	case err != nil:
		return nil, nil, err
	case claim == nil && node.Annotations[tenonv1alpha1.AnnotationGroup] != "" && node.DeletionTimestamp == nil:
		return nil, node, nil
	case claim == nil || claim.DeletionTimestamp != nil || !w.about.Supports(translate.ClassOf(claim)):
		return nil, nil, nil
	}
	return claim, nil, nil
}
