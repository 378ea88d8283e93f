package departure

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/surge"
)

// Workload reads the owner of a pod that asks to be replaced before its eviction. Deployments are
// in no cache, because few pods ask for this: they are read from the API server itself, and so is
// the ReplicaSet's template, which caches omit.
func Workload(ctx context.Context, cached, live client.Reader, pod *corev1.Pod) (surge.Workload, error) {
	var w surge.Workload
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "ReplicaSet" {
		return w, nil
	}
	set, err := setOf(ctx, cached, pod, ref)
	if set == nil && err == nil { // caches of different kinds may be behind by different amounts
		set, err = setOf(ctx, live, pod, ref)
	}
	if err != nil || set == nil {
		return refused(w, pod, err)
	}
	w.Set = set
	deployment, err := deploymentOf(ctx, live, set)
	if err != nil || deployment == nil {
		return refused(w, pod, err)
	}
	w.Deployment = deployment
	if surge.Asked(deployment, pod) {
		return w, nil // the usual case, which needs no other reads
	}
	if w.Set, err = setOf(ctx, live, pod, ref); err != nil {
		return refused(w, pod, err)
	}
	w.Claims, err = claimsOf(ctx, cached, pod)
	return w, err
}

// setOf is the ReplicaSet that a pod refers to, or nil.
func setOf(ctx context.Context, r client.Reader, pod *corev1.Pod, ref *metav1.OwnerReference) (*appsv1.ReplicaSet, error) {
	set := &appsv1.ReplicaSet{}
	if err := r.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: ref.Name}, set); err != nil || set.UID != ref.UID {
		return nil, client.IgnoreNotFound(err)
	}
	return set, nil
}

func deploymentOf(ctx context.Context, live client.Reader, set *appsv1.ReplicaSet) (*appsv1.Deployment, error) {
	ref := metav1.GetControllerOfNoCopy(set)
	if ref == nil || ref.Kind != "Deployment" {
		return nil, nil
	}
	deployment := &appsv1.Deployment{}
	if err := live.Get(ctx, client.ObjectKey{Namespace: set.Namespace, Name: ref.Name}, deployment); err != nil || deployment.UID != ref.UID {
		return nil, client.IgnoreNotFound(err)
	}
	return deployment, nil
}

// refused turns missing permissions into an answer, because a retry would not help.
func refused(w surge.Workload, pod *corev1.Pod, err error) (surge.Workload, error) {
	if apierrors.IsForbidden(err) {
		w.Denied = "Tenon may not read what made it: " + err.Error()
		return w, nil
	}
	if err != nil {
		return w, fmt.Errorf("read what made pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return w, nil
}

// claimsOf are the volume claims that a pod names. Claims made for that pod alone do not keep
// another pod waiting.
func claimsOf(ctx context.Context, r client.Reader, pod *corev1.Pod) ([]*corev1.PersistentVolumeClaim, error) {
	var out []*corev1.PersistentVolumeClaim
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := r.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: source.ClaimName}, claim)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get volume claim %s/%s: %w", pod.Namespace, source.ClaimName, err)
		}
		out = append(out, claim)
	}
	return out, nil
}

// Rolls are the states of the pods that ask to be replaced before their eviction.
func Rolls(ctx context.Context, cached, live client.Reader, pods []*corev1.Pod) (map[types.UID]surge.Step, error) {
	steps := map[types.UID]surge.Step{}
	for _, pod := range pods {
		if !surge.Wanted(pod) {
			continue
		}
		workload, err := Workload(ctx, cached, live, pod)
		if err != nil {
			return nil, err
		}
		steps[pod.UID] = surge.Next(pod, workload)
	}
	return steps, nil
}
