package manager

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/settings"
	"tenon/internal/world"
)

// pictured are the kinds that decisions depend on.
func pictured(s settings.Settings) []client.Object {
	kinds := []client.Object{
		&corev1.Pod{}, &corev1.Node{}, &karpenterv1.NodeClaim{}, &karpenterv1.NodePool{},
		&appsv1.DaemonSet{}, &appsv1.ReplicaSet{},
		&corev1.Namespace{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{},
		&storagev1.StorageClass{}, &storagev1.CSINode{}, &policyv1.PodDisruptionBudget{},
	}
	if !s.SchedulerConfig.Empty() { // whose selectors default spreads are made from
		kinds = append(kinds, &corev1.Service{}, &corev1.ReplicationController{}, &appsv1.StatefulSet{})
	}
	return kinds
}

// feed has the caches tell the world of everything. The result reports whether all that
// was there at the start has been told.
func feed(ctx context.Context, caches cache.Cache, w *world.World, s settings.Settings) (synced func() bool, err error) {
	var told []toolscache.ResourceEventHandlerRegistration
	for _, kind := range pictured(s) {
		informer, err := caches.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
		registration, err := informer.AddEventHandler(teller(w))
		if err != nil {
			return nil, fmt.Errorf("follow %T: %w", kind, err)
		}
		told = append(told, registration)
	}
	return func() bool {
		for _, r := range told {
			if !r.HasSynced() {
				return false
			}
		}
		return true
	}, nil
}

func teller(w *world.World) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    w.Put,
		UpdateFunc: func(_, changed any) { w.Put(changed) },
		DeleteFunc: func(gone any) {
			if last, missed := gone.(toolscache.DeletedFinalStateUnknown); missed {
				gone = last.Obj
			}
			w.Remove(gone)
		},
	}
}
