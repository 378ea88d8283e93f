package listing

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

// source is where the objects of a kind are listed.
type source struct {
	path string
	kind string
	make func() metav1.Object
	// optional kinds need not be served.
	optional bool
	// class marks node classes.
	class bool
}

// group is the API group in the path, as in /apis/GROUP/VERSION/RESOURCE.
func (s source) group() string {
	parts := strings.Split(s.path, "/")
	if len(parts) < 3 || parts[1] != "apis" {
		return ""
	}
	return parts[2]
}

// sources lists the kinds to read. Namespaces and nodes come before pods, so that a pod's
// surroundings are never newer than the pod.
func sources(options Options) []source {
	list := []source{
		{path: "/apis/karpenter.sh/v1/nodepools", kind: "NodePool", make: func() metav1.Object { return &karpenterv1.NodePool{} }},
		{path: "/apis/karpenter.sh/v1/nodeclaims", kind: "NodeClaim", make: func() metav1.Object { return &karpenterv1.NodeClaim{} }},
		{path: "/apis/karpenter.k8s.aws/v1/ec2nodeclasses", kind: "EC2NodeClass", make: func() metav1.Object { return &awsv1.EC2NodeClass{} }, optional: true, class: true},
		{path: "/apis/tenon.sh/v1alpha1/nodegroups", kind: "NodeGroup", make: func() metav1.Object { return &tenonv1alpha1.NodeGroup{} }, optional: true},
		{path: "/api/v1/namespaces", kind: "Namespace", make: func() metav1.Object { return &corev1.Namespace{} }},
		{path: "/api/v1/nodes", kind: "Node", make: func() metav1.Object { return &corev1.Node{} }},
		{path: "/api/v1/limitranges", kind: "LimitRange", make: func() metav1.Object { return &corev1.LimitRange{} }},
		{path: "/api/v1/persistentvolumes", kind: "PersistentVolume", make: func() metav1.Object { return &corev1.PersistentVolume{} }},
		{path: "/api/v1/persistentvolumeclaims", kind: "PersistentVolumeClaim", make: func() metav1.Object { return &corev1.PersistentVolumeClaim{} }},
		{path: "/apis/apps/v1/daemonsets", kind: "DaemonSet", make: func() metav1.Object { return &appsv1.DaemonSet{} }},
		{path: "/apis/policy/v1/poddisruptionbudgets", kind: "PodDisruptionBudget", make: func() metav1.Object { return &policyv1.PodDisruptionBudget{} }},
		{path: "/apis/scheduling.k8s.io/v1/priorityclasses", kind: "PriorityClass", make: func() metav1.Object { return &schedulingv1.PriorityClass{} }},
		{path: "/apis/storage.k8s.io/v1/storageclasses", kind: "StorageClass", make: func() metav1.Object { return &storagev1.StorageClass{} }},
		{path: "/apis/storage.k8s.io/v1/csinodes", kind: "CSINode", make: func() metav1.Object { return &storagev1.CSINode{} }},
	}
	if options.Overlays {
		list = append(list, source{path: "/apis/karpenter.sh/v1alpha1/nodeoverlays", kind: "NodeOverlay", make: func() metav1.Object { return &karpenterv1alpha1.NodeOverlay{} }, optional: true})
	}
	if options.Buffers {
		list = append(list,
			source{path: "/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers", kind: "CapacityBuffer", make: func() metav1.Object { return &autoscalingv1beta1.CapacityBuffer{} }, optional: true},
			source{path: "/apis/apps/v1/deployments", kind: "Deployment", make: func() metav1.Object { return &appsv1.Deployment{} }},
		)
	}
	if options.Requests {
		list = append(list, source{path: "/apis/autoscaling.x-k8s.io/v1/provisioningrequests", kind: "ProvisioningRequest", make: func() metav1.Object { return &autoscalingv1.ProvisioningRequest{} }, optional: true})
	}
	if options.Buffers || options.Requests {
		list = append(list, source{path: "/api/v1/podtemplates", kind: "PodTemplate", make: func() metav1.Object { return &corev1.PodTemplate{} }})
	}
	if options.Owners {
		list = append(list,
			source{path: "/api/v1/services", kind: "Service", make: func() metav1.Object { return &corev1.Service{} }},
			source{path: "/api/v1/replicationcontrollers", kind: "ReplicationController", make: func() metav1.Object { return &corev1.ReplicationController{} }},
		)
	}
	if options.Owners || options.Buffers {
		list = append(list,
			source{path: "/apis/apps/v1/replicasets", kind: "ReplicaSet", make: func() metav1.Object { return &appsv1.ReplicaSet{} }},
			source{path: "/apis/apps/v1/statefulsets", kind: "StatefulSet", make: func() metav1.Object { return &appsv1.StatefulSet{} }},
		)
	}
	return append(list, source{path: "/api/v1/pods", kind: "Pod", make: func() metav1.Object { return &corev1.Pod{} }})
}

// makers lists the kinds that make pods by themselves, of one namespace.
func makers(namespace string) []source {
	return []source{
		{path: "/apis/apps/v1/namespaces/" + namespace + "/replicasets", kind: "ReplicaSet", make: func() metav1.Object { return &appsv1.ReplicaSet{} }},
		{path: "/apis/apps/v1/namespaces/" + namespace + "/statefulsets", kind: "StatefulSet", make: func() metav1.Object { return &appsv1.StatefulSet{} }},
		{path: "/api/v1/namespaces/" + namespace + "/replicationcontrollers", kind: "ReplicationController", make: func() metav1.Object { return &corev1.ReplicationController{} }},
		{path: "/apis/batch/v1/namespaces/" + namespace + "/jobs", kind: "Job", make: func() metav1.Object { return &batchv1.Job{} }},
	}
}
