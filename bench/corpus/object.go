package corpus

import (
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// uidOf makes a UID that looks random but is the same in every run. A random look keeps a
// scheduler that breaks ties by UID from following the order in which pods are made.
func uidOf(name string) types.UID {
	h := fnv.New128a()
	h.Write([]byte(name))
	sum := h.Sum(nil)
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:]))
}

// waiting makes a pod that the kube-scheduler found no place for.
func waiting(name string, labels map[string]string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: name, Labels: labels,
			UID: uidOf(name), CreationTimestamp: metav1.NewTime(epoch),
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "app", Image: "app",
				Resources: corev1.ResourceRequirements{Requests: requests},
			}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending,
			Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				LastTransitionTime: metav1.NewTime(epoch),
			}},
		},
	}
}

// bind makes a waiting pod run on the node.
func bind(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.NodeName = node
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	return pod
}

func requests(milliCPU, mebibytes int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(mebibytes<<20, resource.BinarySI),
	}
}

// Quantities returns a vector of resources as the API writes it.
func Quantities(r model.Resources) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, a := range r.Amounts() {
		switch a.Name {
		case model.CPU:
			out[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.Value, resource.DecimalSI)
		case model.Memory, model.EphemeralStorage:
			out[corev1.ResourceName(a.Name)] = *resource.NewQuantity(a.Value, resource.BinarySI)
		default:
			out[corev1.ResourceName(a.Name)] = *resource.NewQuantity(a.Value, resource.DecimalSI)
		}
	}
	return out
}

// node makes a ready node of a type, bought through one of its offerings for a pool.
func node(name string, t *catalog.Type, o *catalog.Offering, pool *karpenterv1.NodePool) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname:           name,
		corev1.LabelInstanceTypeStable: t.Name,
		corev1.LabelTopologyZone:       o.Zone,
		karpenterv1.LabelCapacityType:  o.CapacityType,
		karpenterv1.LabelNodePool:      pool.Name,
		karpenterv1.LabelRegistered:    "true",
		karpenterv1.LabelInitialized:   "true",
		corev1.LabelOSStable:           "linux",
	}
	if r := t.Requirements.Get(requirement.KeyArch); r.Len() == 1 {
		labels[corev1.LabelArchStable], _ = r.Any()
	}
	for key, value := range pool.Spec.Template.Labels {
		labels[key] = value
	}
	return &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, UID: uidOf(name), CreationTimestamp: metav1.NewTime(epoch)},
		Spec:       corev1.NodeSpec{ProviderID: "bench:///" + name, Taints: pool.Spec.Template.Spec.Taints},
		Status: corev1.NodeStatus{
			Capacity:    Quantities(t.FullCapacity(o)),
			Allocatable: Quantities(t.Allocatable(o)),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}
