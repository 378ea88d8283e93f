// Package provisioningrequest accepts ProvisioningRequests, and ends them: when what they name does not exist, when the
// search for room takes too long, when their pods have come, and when their room has been kept long enough. The
// provisioner finds the room, and says on the request whether there is any.
//
// The package must not decide anything about nodes.
package provisioningrequest

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/internal/ingest"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

const (
	// grace is how long the PodTemplates of a request may be missing: they may be made after it, or seen later.
	grace = time.Minute
	// again is how soon a request is looked at again that lacks a template.
	again = 5 * time.Second
)

type controller struct{ kit reconcile.Kit }

// New makes the controller, or none where requests are not answered.
func New(kit reconcile.Kit) []reconcile.Controller {
	if !kit.Settings.ProvisioningRequests.Enabled {
		return nil
	}
	c := controller{kit}
	return []reconcile.Controller{{
		Name: "provisioningrequest",
		Watches: []reconcile.Watch{
			{Kind: &autoscalingv1.ProvisioningRequest{}},
			{Kind: &corev1.PodTemplate{}, Keys: c.requestsOf},
			{Kind: &corev1.Pod{}, Keys: consumed},
		},
		Workers:   reconcile.Workers{Min: 10, Max: 10},
		Reconcile: c.reconcile,
	}}
}

// requestsOf are the requests that name a PodTemplate.
func (c controller) requestsOf(ctx context.Context, template client.Object) []reconcile.Key {
	var list autoscalingv1.ProvisioningRequestList
	if err := c.kit.Client.List(ctx, &list, client.InNamespace(template.GetNamespace())); err != nil {
		reconcile.Log(ctx).Error(err, "could not list the provisioning requests of a namespace", "namespace", template.GetNamespace())
		return nil
	}
	var out []reconcile.Key
	for i := range list.Items {
		for _, set := range list.Items[i].Spec.PodSets {
			if set.PodTemplateRef.Name == template.GetName() {
				out = append(out, client.ObjectKeyFromObject(&list.Items[i]))
				break
			}
		}
	}
	return out
}

// consumed is the request whose room a pod uses.
func consumed(_ context.Context, pod client.Object) []reconcile.Key {
	name := autoscalingv1.Consumes(pod)
	if name == "" {
		return nil
	}
	return []reconcile.Key{{Namespace: pod.GetNamespace(), Name: name}}
}

// facts are what the next condition of a request depends on.
type facts struct {
	request *autoscalingv1.ProvisioningRequest
	// lacks is what is wrong with its PodTemplates, empty if nothing is.
	lacks string
	// bound is how many pods use its room.
	bound int
	now   time.Time
}

func (c controller) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: the request, its templates and its pods.
	request := &autoscalingv1.ProvisioningRequest{}
	if err := c.kit.Client.Get(ctx, key, request); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !request.Served(c.kit.Settings.ProvisioningRequests.Instance) || request.Over() {
		return reconcile.Never, nil
	}
	f, err := c.gather(ctx, request)
	if err != nil {
		return reconcile.Never, err
	}
	// 2. Decide.
	condition, at := next(f)
	if condition == nil {
		return reconcile.In(at.Sub(f.now)), nil
	}
	// 3. Write.
	told := request.DeepCopy()
	condition.ObservedGeneration, condition.LastTransitionTime = request.Generation, metav1.NewTime(f.now)
	meta.SetStatusCondition(&told.Status.Conditions, *condition)
	result, err := patch.Status(ctx, c.kit, request, told)
	return result.Sooner(reconcile.In(again)), err
}

func (c controller) gather(ctx context.Context, request *autoscalingv1.ProvisioningRequest) (facts, error) {
	f := facts{request: request, now: c.kit.Clock.Now()}
	index := ingest.NewIndex()
	for _, set := range request.Spec.PodSets {
		template := &corev1.PodTemplate{}
		err := c.kit.Client.Get(ctx, reconcile.Key{Namespace: request.Namespace, Name: set.PodTemplateRef.Name}, template)
		if client.IgnoreNotFound(err) != nil {
			return facts{}, fmt.Errorf("read PodTemplate %s/%s: %w", request.Namespace, set.PodTemplateRef.Name, err)
		}
		if err == nil {
			index.Put(template)
		}
	}
	f.lacks = index.Lacks(request)
	if _, booked := request.Booked(); !booked {
		return f, nil
	}
	var pods corev1.PodList
	if err := c.kit.Client.List(ctx, &pods, client.InNamespace(request.Namespace)); err != nil {
		return facts{}, fmt.Errorf("list pods of namespace %s: %w", request.Namespace, err)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; autoscalingv1.Consumes(pod) == request.Name && pod.Spec.NodeName != "" {
			f.bound++
		}
	}
	return f, nil
}

// next is the next condition of a request; nil with the time of the next look if it stays as it is.
//
//	Accepted ──▶ Provisioned (by the provisioner) ──▶ BookingExpired
//	    └───────────┴──▶ Failed
func next(f facts) (*metav1.Condition, time.Time) {
	since, booked := f.request.Booked()
	switch {
	case booked && f.bound >= f.request.Pods():
		return is(autoscalingv1.ConditionBookingExpired, autoscalingv1.ReasonCapacityBookingConsumed, "All %d pods use the room", f.request.Pods()), time.Time{}
	case booked && !f.now.Before(since.Add(autoscalingv1.BookingTime)):
		return is(autoscalingv1.ConditionBookingExpired, autoscalingv1.ReasonCapacityReservationTimeExpired, "The room was kept for %s; %d of %d pods use it",
			autoscalingv1.BookingTime, f.bound, f.request.Pods()), time.Time{}
	case booked:
		return nil, since.Add(autoscalingv1.BookingTime)
	case !f.now.Before(f.request.ValidUntil()):
		return is(autoscalingv1.ConditionFailed, autoscalingv1.ReasonExpired, "No room was found until %s", f.request.ValidUntil().UTC().Format(time.RFC3339)), time.Time{}
	case f.lacks != "" && f.now.Before(f.request.CreationTimestamp.Add(grace)):
		return nil, f.now.Add(again)
	case f.lacks != "":
		return is(autoscalingv1.ConditionFailed, autoscalingv1.ReasonFailedToCreatePods, "%s", f.lacks), time.Time{}
	case !f.request.Accepted():
		return is(autoscalingv1.ConditionAccepted, autoscalingv1.ReasonAccepted, "Room is looked for"), time.Time{}
	}
	return nil, f.request.ValidUntil()
}

func is(name, reason, text string, args ...any) *metav1.Condition {
	return &metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: reason, Message: fmt.Sprintf(text, args...)}
}
