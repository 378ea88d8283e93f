package sim

import (
	"context"
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"tenon/sim/store"
)

// tenant is the namespace of users who want more than their quota.
const tenant = "tenant"

// scaleTenant makes, scales or deletes the tenant's one Deployment, with many more pods than the quota
// allows.
func (s *Sim) scaleTenant(dice *rand.Rand) {
	ctx := context.Background()
	replicas, cpu := int32(10+dice.IntN(190)), int64(500*(1+dice.IntN(8)))
	if deployment := store.One[*appsv1.Deployment](s.Store, types.NamespacedName{Namespace: tenant, Name: "crowd"}); deployment != nil {
		if dice.IntN(4) == 0 {
			s.remove(deployment)
			return
		}
		change(s, "replicas", deployment, func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas })
		return
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "share"}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(2+dice.Int64N(5), resource.DecimalSI)}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "crowd"}}
	d.Spec.Replicas, d.Spec.Selector = ptr.To(replicas), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "crowd"}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("512Mi")}}}}
	for _, err := range []error{
		s.Store.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant}}), s.Store.Create(ctx, quota), s.Store.Create(ctx, d),
	} {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			s.must(fmt.Errorf("make a tenant: %w", err))
		}
	}
	s.Log.Info("tenant", "replicas", replicas, "cpu", cpu)
}
