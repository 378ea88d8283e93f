package manifest

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// kind is a kind of objects that decisions depend on.
type kind struct {
	make func() metav1.Object
	// clusterWide objects have no namespace; others without one are in "default".
	clusterWide bool
	// strict kinds refuse unknown fields under spec.
	strict bool
	// class marks the kinds of node classes.
	class bool
}

// kinds are these kinds, by apiVersion and kind.
var kinds = map[typeMeta]kind{
	{"v1", "Pod"}:                             {make: func() metav1.Object { return &corev1.Pod{} }},
	{"v1", "Node"}:                            {make: func() metav1.Object { return &corev1.Node{} }, clusterWide: true},
	{"v1", "Namespace"}:                       {make: func() metav1.Object { return &corev1.Namespace{} }, clusterWide: true},
	{"v1", "PersistentVolume"}:                {make: func() metav1.Object { return &corev1.PersistentVolume{} }, clusterWide: true},
	{"v1", "PersistentVolumeClaim"}:           {make: func() metav1.Object { return &corev1.PersistentVolumeClaim{} }},
	{"v1", "ResourceQuota"}:                   {make: func() metav1.Object { return &corev1.ResourceQuota{} }},
	{"v1", "LimitRange"}:                      {make: func() metav1.Object { return &corev1.LimitRange{} }},
	{"v1", "Service"}:                         {make: func() metav1.Object { return &corev1.Service{} }},
	{"v1", "ReplicationController"}:           {make: func() metav1.Object { return &corev1.ReplicationController{} }},
	{"v1", "PodTemplate"}:                     {make: func() metav1.Object { return &corev1.PodTemplate{} }},
	{"apps/v1", "DaemonSet"}:                  {make: func() metav1.Object { return &appsv1.DaemonSet{} }},
	{"apps/v1", "Deployment"}:                 {make: func() metav1.Object { return &appsv1.Deployment{} }},
	{"apps/v1", "ReplicaSet"}:                 {make: func() metav1.Object { return &appsv1.ReplicaSet{} }},
	{"apps/v1", "StatefulSet"}:                {make: func() metav1.Object { return &appsv1.StatefulSet{} }},
	{"batch/v1", "Job"}:                       {make: func() metav1.Object { return &batchv1.Job{} }},
	{"policy/v1", "PodDisruptionBudget"}:      {make: func() metav1.Object { return &policyv1.PodDisruptionBudget{} }},
	{"storage.k8s.io/v1", "StorageClass"}:     {make: func() metav1.Object { return &storagev1.StorageClass{} }, clusterWide: true},
	{"storage.k8s.io/v1", "CSINode"}:          {make: func() metav1.Object { return &storagev1.CSINode{} }, clusterWide: true},
	{"scheduling.k8s.io/v1", "PriorityClass"}: {make: func() metav1.Object { return &schedulingv1.PriorityClass{} }, clusterWide: true},

	{"karpenter.sh/v1", "NodePool"}:                    {make: func() metav1.Object { return &karpenterv1.NodePool{} }, clusterWide: true, strict: true},
	{"karpenter.sh/v1", "NodeClaim"}:                   {make: func() metav1.Object { return &karpenterv1.NodeClaim{} }, clusterWide: true},
	{"karpenter.sh/v1alpha1", "NodeOverlay"}:           {make: func() metav1.Object { return &karpenterv1alpha1.NodeOverlay{} }, clusterWide: true, strict: true},
	{"autoscaling.x-k8s.io/v1beta1", "CapacityBuffer"}: {make: func() metav1.Object { return &autoscalingv1beta1.CapacityBuffer{} }, strict: true},
	{"autoscaling.x-k8s.io/v1", "ProvisioningRequest"}: {make: func() metav1.Object { return &autoscalingv1.ProvisioningRequest{} }, strict: true},
	{"tenon.sh/v1alpha1", "NodeGroup"}:                 {make: func() metav1.Object { return &tenonv1alpha1.NodeGroup{} }, clusterWide: true, strict: true},
	{"karpenter.k8s.aws/v1", "EC2NodeClass"}:           {make: func() metav1.Object { return &awsv1.EC2NodeClass{} }, clusterWide: true, strict: true, class: true},
}

// ourGroups are API groups in which an unknown kind or version is a mistake instead of an ignored
// object.
var ourGroups = map[string]string{
	"karpenter.sh":      "NodePool and NodeClaim are of karpenter.sh/v1, NodeOverlay of karpenter.sh/v1alpha1",
	"karpenter.k8s.aws": "EC2NodeClass is of karpenter.k8s.aws/v1",
	"tenon.sh":          "NodeGroup is of tenon.sh/v1alpha1",
}

// typeMeta says what an object is.
type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (t typeMeta) String() string { return t.Kind + "." + t.APIVersion }

func (t typeMeta) group() string {
	group, _, grouped := strings.Cut(t.APIVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

// item is the type of items of a list that do not state their own, as in a PodList.
func (t typeMeta) item() typeMeta {
	return typeMeta{t.APIVersion, strings.TrimSuffix(t.Kind, "List")}
}

func (t typeMeta) isList() bool { return strings.HasSuffix(t.Kind, "List") }
