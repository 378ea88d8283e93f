// Package pod publishes metrics of pods: where they are, and how long they took, or have been waiting, to
// get a node and to become ready. It is the controller `metrics.pod`.
//
// It writes nothing, and nothing that it tells is read back to decide something. What it remembers
// is which pods it saw waiting: others were ready before the process began, and say nothing about it.
package pod

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/internal/reconcile"
)

// every is how old the gauges get.
const every = 30 * time.Second

// New makes the controller; none when its metrics are switched off.
func New(kit reconcile.Kit) []reconcile.Controller {
	if kit.Settings.DisableClusterStateObservability {
		return nil
	}
	c := &controller{kit: kit, description: kit.Cloud.Describe(), waiting: map[reconcile.Key]waiting{}}
	return []reconcile.Controller{{
		Name: "metrics.pod", Workers: reconcile.One,
		Watches: []reconcile.Watch{{Kind: &corev1.Pod{}, Matters: matters}},
		// The empty key is for the gauges of all pods: they are updated together, because with many pods they have only counts.
		SubscribeKeys: func(wake func(...reconcile.Key)) { wake(reconcile.Key{}) },
		Reconcile: func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
			if key == (reconcile.Key{}) {
				return c.refresh(ctx)
			}
			return reconcile.Never, c.look(ctx, key)
		},
	}}
}

// matters leaves out changes that say nothing about how far a pod is.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return true
	}
	return progressOf(old.(*corev1.Pod)) != progressOf(changed.(*corev1.Pod)) || old.GetUID() != changed.GetUID()
}

// controller has one worker, so nothing of it is touched by two calls at the same time.
type controller struct {
	kit         reconcile.Kit
	description cloud.Description
	waiting     map[reconcile.Key]waiting
	shown       [6][][]string // the series of each gauge, to remove those of pods that are gone
}

// waiting is a pod that was seen before it was ready.
type waiting struct {
	uid   types.UID
	bound bool // when it was last seen
}

// look measures the times of what a pod has reached since it was last seen.
func (c *controller) look(ctx context.Context, key reconcile.Key) error {
	pod := &corev1.Pod{}
	if err := c.kit.Client.Get(ctx, key, pod); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get pod %s: %w", key, err)
	} else if err != nil {
		c.forget(key)
		return nil
	}
	before, known := c.waiting[key]
	if known && before.uid != pod.UID {
		c.forget(key)
		known = false
	}
	now := progressOf(pod)
	if now.over {
		c.forget(key)
		return nil
	}
	if !known && (now.ready || now.phase != corev1.PodPending) {
		return nil // it started before this process, and may be ready for the second time
	}
	steps := c.kit.Metrics.PodProgress.Of(pod.UID)
	if known && now.bound && !before.bound {
		observe(c.kit.Metrics.PodsBoundDurationSeconds.WithLabelValues(), pod.CreationTimestamp.Time, now.boundAt)
		observe(c.kit.Metrics.PodsProvisioningBoundDurationSeconds.WithLabelValues(), steps.Placed, now.boundAt)
	}
	if now.ready {
		observe(c.kit.Metrics.PodsStartupDurationSeconds.WithLabelValues(), pod.CreationTimestamp.Time, now.readyAt)
		observe(c.kit.Metrics.PodsProvisioningStartupDurationSeconds.WithLabelValues(), steps.Placed, now.readyAt)
		c.forget(key)
		return nil
	}
	c.waiting[key] = waiting{uid: pod.UID, bound: now.bound}
	return nil
}

func (c *controller) forget(key reconcile.Key) {
	if w, known := c.waiting[key]; known {
		c.kit.Metrics.PodProgress.Forget(w.uid)
		delete(c.waiting, key)
	}
}

// observe a time between two moments that are known. Moments come from different clocks: what would
// be negative is zero.
func observe(into interface{ Observe(float64) }, from, to time.Time) {
	if !from.IsZero() && !to.IsZero() {
		into.Observe(max(to.Sub(from), 0).Seconds())
	}
}

// progress is how far a pod is.
type progress struct {
	bound, ready, over bool
	boundAt, readyAt   time.Time
	phase              corev1.PodPhase
}

func progressOf(pod *corev1.Pod) progress {
	out := progress{phase: pod.Status.Phase}
	out.over = pod.DeletionTimestamp != nil || out.phase == corev1.PodSucceeded || out.phase == corev1.PodFailed
	for _, c := range pod.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case corev1.PodScheduled:
			out.bound, out.boundAt = true, c.LastTransitionTime.Time
		case corev1.PodReady:
			out.ready, out.readyAt = true, c.LastTransitionTime.Time
		}
	}
	return out
}
