package kubelet

import (
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podPatch is a strategic merge patch of a pod's status: it merges our conditions with those of others, and
// replaces container statuses. The UID makes the patch fail on a later pod of the same name.
type podPatch struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status podStatusPatch `json:"status"`
}

type podStatusPatch struct {
	ObservedGeneration    int64                `json:"observedGeneration,omitempty"`
	Phase                 v1.PodPhase          `json:"phase,omitempty"`
	Conditions            []conditionPatch     `json:"conditions,omitempty"`
	Message               string               `json:"message,omitempty"`
	Reason                string               `json:"reason,omitempty"`
	HostIP                string               `json:"hostIP,omitempty"`
	HostIPs               []v1.HostIP          `json:"hostIPs,omitempty"`
	PodIP                 string               `json:"podIP,omitempty"`
	PodIPs                []v1.PodIP           `json:"podIPs,omitempty"`
	StartTime             *metav1.Time         `json:"startTime,omitempty"`
	InitContainerStatuses []v1.ContainerStatus `json:"initContainerStatuses,omitempty"`
	ContainerStatuses     []v1.ContainerStatus `json:"containerStatuses,omitempty"`
}

// conditionPatch writes an absent reason or message as null, since merging would keep the former text.
type conditionPatch struct {
	Type               v1.PodConditionType `json:"type"`
	Status             v1.ConditionStatus  `json:"status"`
	ObservedGeneration int64               `json:"observedGeneration,omitempty"`
	LastTransitionTime metav1.Time         `json:"lastTransitionTime"`
	Reason             *string             `json:"reason"`
	Message            *string             `json:"message"`
}

// podStatusBody is the patch that makes a pod's status s.
func podStatusBody(uid types.UID, s *v1.PodStatus) ([]byte, error) {
	var p podPatch
	p.Metadata.UID = uid
	p.Status = podStatusPatch{
		ObservedGeneration: s.ObservedGeneration, Phase: s.Phase, Message: s.Message, Reason: s.Reason,
		HostIP: s.HostIP, HostIPs: s.HostIPs, PodIP: s.PodIP, PodIPs: s.PodIPs, StartTime: s.StartTime,
		InitContainerStatuses: s.InitContainerStatuses, ContainerStatuses: s.ContainerStatuses,
		Conditions: make([]conditionPatch, len(s.Conditions)),
	}
	for i, c := range s.Conditions {
		p.Status.Conditions[i] = conditionPatch{
			Type: c.Type, Status: c.Status, ObservedGeneration: c.ObservedGeneration,
			LastTransitionTime: c.LastTransitionTime, Reason: orNull(c.Reason), Message: orNull(c.Message),
		}
	}
	return json.Marshal(p)
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// nodeStatusPatch merges conditions and resources; it always replaces the list of volumes in use.
type nodeStatusPatch struct {
	Capacity        v1.ResourceList         `json:"capacity,omitempty"`
	Allocatable     v1.ResourceList         `json:"allocatable,omitempty"`
	Conditions      []v1.NodeCondition      `json:"conditions,omitempty"`
	Addresses       []v1.NodeAddress        `json:"addresses,omitempty"`
	DaemonEndpoints *v1.NodeDaemonEndpoints `json:"daemonEndpoints,omitempty"`
	NodeInfo        *v1.NodeSystemInfo      `json:"nodeInfo,omitempty"`
	VolumesInUse    []v1.UniqueVolumeName   `json:"volumesInUse"`
}

func nodeStatusBody(uid types.UID, s *v1.NodeStatus) ([]byte, error) {
	p := nodeStatusPatch{
		Capacity: s.Capacity, Allocatable: s.Allocatable, Conditions: s.Conditions,
		Addresses: s.Addresses, VolumesInUse: s.VolumesInUse,
	}
	if s.NodeInfo.KubeletVersion != "" {
		p.NodeInfo, p.DaemonEndpoints = &s.NodeInfo, &s.DaemonEndpoints
	}
	return json.Marshal(body{"metadata": body{"uid": uid}, "status": p})
}

type body map[string]any

// metadataBody adds labels and annotations.
func metadataBody(uid types.UID, labels, annotations map[string]string) ([]byte, error) {
	meta := body{"uid": uid}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}
	return json.Marshal(body{"metadata": meta})
}

// taintsBody replaces all taints, and fails if the Node changed since it was read.
func taintsBody(resourceVersion string, taints []v1.Taint) ([]byte, error) {
	return json.Marshal(body{"metadata": body{"resourceVersion": resourceVersion}, "spec": body{"taints": taints}})
}

// finalizersBody replaces all finalizers, and fails if the object changed since it was read.
func finalizersBody(resourceVersion string, finalizers []string) ([]byte, error) {
	return json.Marshal(body{"metadata": body{"resourceVersion": resourceVersion, "finalizers": finalizers}})
}

// leaseTime returns a time in the precision of Leases.
func leaseTime(t time.Time) *metav1.MicroTime {
	micro := metav1.NewMicroTime(t)
	return &micro
}
