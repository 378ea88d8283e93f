package manager

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/settings"
	"tenon/internal/world"
)

// pictured are the kinds of objects that decisions depend on.
func pictured(s settings.Settings) []client.Object {
	kinds := []client.Object{
		&corev1.Pod{}, &corev1.Node{}, &karpenterv1.NodeClaim{}, &karpenterv1.NodePool{},
		&appsv1.DaemonSet{}, &appsv1.ReplicaSet{},
		&corev1.Namespace{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{},
		&storagev1.StorageClass{}, &storagev1.CSINode{}, &policyv1.PodDisruptionBudget{},
	}
	if s.FeatureGates.CapacityBuffer {
		kinds = append(kinds, &autoscalingv1beta1.CapacityBuffer{})
	}
	if s.ProvisioningRequests.Enabled {
		kinds = append(kinds, &autoscalingv1.ProvisioningRequest{})
	}
	if s.FeatureGates.CapacityBuffer || s.ProvisioningRequests.Enabled {
		kinds = append(kinds, &corev1.PodTemplate{})
	}
	if !s.SchedulerConfig.Empty() { // whose selectors default spreads are made from
		kinds = append(kinds, &corev1.Service{}, &corev1.ReplicationController{})
	}
	if s.FeatureGates.CapacityBuffer || !s.SchedulerConfig.Empty() {
		kinds = append(kinds, &appsv1.StatefulSet{})
	}
	return kinds
}

// aid is an optional kind: without it Tenon decides more cautiously, or does less.
type aid struct {
	kind client.Object
	list client.ObjectList
	// without says what differs if the kind may not be read.
	without string
}

// aids are kinds that the roles of other node autoscalers may not allow to read.
func aids(s settings.Settings) []aid {
	list := []aid{
		{&corev1.ResourceQuota{}, &corev1.ResourceQuotaList{}, "nodes may be bought for pods that a quota forbids"},
		{&corev1.LimitRange{}, &corev1.LimitRangeList{}, "nodes may be bought for pods that a limit range forbids"},
		{&appsv1.Deployment{}, &appsv1.DeploymentList{}, "disruption budgets hold pods that ask to be replaced before they go"},
	}
	if s.FeatureGates.NodeGroups && !s.Shadow() { // which shows no groups
		list = append(list, aid{&tenonv1alpha1.NodeGroup{}, &tenonv1alpha1.NodeGroupList{}, "node groups take no part in decisions"})
	}
	return list
}

// readable are the kinds that may be read. The caches would wait for the others for ever.
func readable(ctx context.Context, live client.Reader, s settings.Settings, log logr.Logger) []client.Object {
	var out []client.Object
	for _, a := range aids(s) {
		if err := live.List(ctx, a.list, client.Limit(1)); apierrors.IsForbidden(err) {
			log.Info("a kind may not be read; grant get, list and watch", "kind", fmt.Sprintf("%T", a.kind), "without", a.without, "err", err.Error())
			continue
		}
		out = append(out, a.kind)
	}
	return out
}

// feed makes the caches pass every object to the world. The result reports whether the world has all
// objects that existed at the start.
func feed(ctx context.Context, caches cache.Cache, w *world.World, kinds []client.Object) (synced func() bool, err error) {
	var told []toolscache.ResourceEventHandlerRegistration
	for _, kind := range kinds {
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
