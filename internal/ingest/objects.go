package ingest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// Objects are all objects that a decision depends on, as the API has them. The order in the lists
// does not matter. Build never changes an object.
type Objects struct {
	Pods       []*corev1.Pod
	Nodes      []*corev1.Node
	NodePools  []*karpenterv1.NodePool
	NodeClaims []*karpenterv1.NodeClaim
	NodeGroups []*tenonv1alpha1.NodeGroup
	Overlays   []*karpenterv1alpha1.NodeOverlay
	DaemonSets []*appsv1.DaemonSet
	// NodeClasses are the clouds' own, by reference.
	NodeClasses map[karpenterv1.NodeClassReference]metav1.Object
	// Others are the objects that those above refer to: all kinds that Index.Put takes.
	Others []metav1.Object
	// Makers are the workloads of a cluster whose missing pods a ResourceQuota may refuse. Workloads in files are among
	// Others.
	Makers []metav1.Object
}

// Add appends an object to its list. It reports whether objects of this kind matter; node classes
// are added by reference.
func (o *Objects) Add(object metav1.Object) bool {
	switch object := object.(type) {
	case *corev1.Pod:
		o.Pods = append(o.Pods, object)
	case *corev1.Node:
		o.Nodes = append(o.Nodes, object)
	case *karpenterv1.NodePool:
		o.NodePools = append(o.NodePools, object)
	case *karpenterv1.NodeClaim:
		o.NodeClaims = append(o.NodeClaims, object)
	case *tenonv1alpha1.NodeGroup:
		o.NodeGroups = append(o.NodeGroups, object)
	case *karpenterv1alpha1.NodeOverlay:
		o.Overlays = append(o.Overlays, object)
	case *appsv1.DaemonSet:
		o.DaemonSets = append(o.DaemonSets, object)
	default:
		if !NewIndex().Put(object) {
			return false
		}
		o.Others = append(o.Others, object)
	}
	return true
}

// AddNodeClass adds a cloud's node class under the group and kind that pools call it by.
func (o *Objects) AddNodeClass(group, kind string, class metav1.Object) {
	if o.NodeClasses == nil {
		o.NodeClasses = map[karpenterv1.NodeClassReference]metav1.Object{}
	}
	o.NodeClasses[karpenterv1.NodeClassReference{Group: group, Kind: kind, Name: class.GetName()}] = class
}
