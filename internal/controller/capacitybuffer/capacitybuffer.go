// Package capacitybuffer finds out what every CapacityBuffer asks for, and writes it into the status: for
// how many pods to keep room, what they look like, or why that is unknown. The provisioner finds the room,
// and says on the buffer whether there is any.
//
// The package must not decide anything about nodes.
package capacitybuffer

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/internal/ingest"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// period is how often a buffer is looked at although nothing is known to have changed.
const period = 30 * time.Second

type resolver struct{ kit reconcile.Kit }

// New makes the controller, or none where buffers are switched off.
func New(kit reconcile.Kit) []reconcile.Controller {
	if !kit.Settings.FeatureGates.CapacityBuffer {
		return nil
	}
	r := resolver{kit}
	return []reconcile.Controller{{
		Name: "capacitybuffer",
		Watches: []reconcile.Watch{
			{Kind: &autoscalingv1beta1.CapacityBuffer{}},
			{Kind: &corev1.PodTemplate{}, Keys: r.buffersOf},
		},
		Workers:   reconcile.Workers{Min: 10, Max: 10},
		Reconcile: r.reconcile,
	}}
}

// buffersOf are the buffers that name a PodTemplate.
func (r resolver) buffersOf(ctx context.Context, template client.Object) []reconcile.Key {
	var list autoscalingv1beta1.CapacityBufferList
	if err := r.kit.Client.List(ctx, &list, client.InNamespace(template.GetNamespace())); err != nil {
		reconcile.Log(ctx).Error(err, "could not list the buffers of a namespace", "namespace", template.GetNamespace())
		return nil
	}
	var out []reconcile.Key
	for i := range list.Items {
		if ref := list.Items[i].Spec.PodTemplateRef; ref != nil && ref.Name == template.GetName() {
			out = append(out, client.ObjectKeyFromObject(&list.Items[i]))
		}
	}
	return out
}

func (r resolver) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: the buffer, and what it refers to.
	buffer := &autoscalingv1beta1.CapacityBuffer{}
	if err := r.kit.Client.Get(ctx, key, buffer); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if buffer.DeletionTimestamp != nil {
		return reconcile.Never, nil
	}
	index, err := r.referred(ctx, buffer)
	if err != nil {
		return reconcile.Never, err
	}
	// 2. Say what it asks for.
	told := buffer.DeepCopy()
	tell(&told.Status, buffer, index.Room(buffer), r.kit.Clock.Now())
	again, err := patch.Status(ctx, r.kit, buffer, told)
	return again.Sooner(reconcile.In(period)), err
}

// referred holds the object that the buffer names, if it is there.
func (r resolver) referred(ctx context.Context, buffer *autoscalingv1beta1.CapacityBuffer) (*ingest.Index, error) {
	index := ingest.NewIndex()
	object, name := client.Object(nil), ""
	switch spec := &buffer.Spec; {
	case spec.PodTemplateRef != nil:
		object, name = &corev1.PodTemplate{}, spec.PodTemplateRef.Name
	case spec.ScalableRef != nil:
		object, name = workload(spec.ScalableRef.Kind), spec.ScalableRef.Name
	}
	if object == nil {
		return index, nil
	}
	err := r.kit.Client.Get(ctx, reconcile.Key{Namespace: buffer.Namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read what buffer %s/%s refers to: %w", buffer.Namespace, buffer.Name, err)
	}
	if err == nil {
		index.Put(object)
	}
	return index, nil
}

// workload is an empty object of a kind, nil for a kind that buffers may not refer to.
func workload(kind string) client.Object {
	switch kind {
	case "Deployment":
		return &appsv1.Deployment{}
	case "StatefulSet":
		return &appsv1.StatefulSet{}
	case "ReplicaSet":
		return &appsv1.ReplicaSet{}
	}
	return nil
}

// tell writes into the status what a buffer asks for. For a buffer that asks for nothing it also sets
// Provisioning, because the provisioner ignores such buffers.
func tell(status *autoscalingv1beta1.CapacityBufferStatus, buffer *autoscalingv1beta1.CapacityBuffer, room ingest.Room, now time.Time) {
	set := func(name string, is metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: name, Status: is, Reason: reason, Message: message, ObservedGeneration: buffer.Generation, LastTransitionTime: metav1.NewTime(now),
		})
	}
	status.ProvisioningStrategy = ptr.To(ptr.Deref(buffer.Spec.ProvisioningStrategy, autoscalingv1beta1.DefaultProvisioningStrategy))
	status.PodTemplateRef, status.PodTemplateGeneration = nil, nil
	if room.Problem != "" {
		status.Replicas = nil
		set(autoscalingv1beta1.ConditionReadyForProvisioning, metav1.ConditionFalse, room.Reason, room.Problem)
		set(autoscalingv1beta1.ConditionProvisioning, metav1.ConditionFalse, autoscalingv1beta1.ReasonNotReadyForProvisioning, "Buffer is not ReadyForProvisioning")
		return
	}
	if room.Source != nil {
		status.PodTemplateRef = &autoscalingv1beta1.LocalObjectRef{Name: room.Source.Name}
		status.PodTemplateGeneration = ptr.To(room.Source.Generation)
	}
	status.Replicas = ptr.To(room.Pods)
	set(autoscalingv1beta1.ConditionReadyForProvisioning, metav1.ConditionTrue, autoscalingv1beta1.ReasonResolved, "Pod template resolved successfully")
	if room.Pods == 0 {
		set(autoscalingv1beta1.ConditionProvisioning, metav1.ConditionFalse, autoscalingv1beta1.ReasonBufferEmpty, "Buffer has zero desired replicas")
	}
}
