package reason

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Why a pod cannot be considered at all. Codes about a volume have its name in the pod as Where, and the object
// that it refers to as Detail.
const (
	PodRefused                  Code = "PodRefused"   // Detail: the text of a snapshot from before there were codes
	FieldInvalid                Code = "FieldInvalid" // Detail: field and mistake
	MatchFieldsUnsupported      Code = "MatchFieldsUnsupported"
	DynamicResourcesUnsupported Code = "DynamicResourcesUnsupported"
	PoolsAvoided                Code = "PoolsAvoided"
	QuotaExceeded               Code = "QuotaExceeded"       // Where: the ResourceQuota; Detail: what of it is used up
	BookingAwaited              Code = "BookingAwaited"      // Where: the ProvisioningRequest
	SchedulerNotAllowed         Code = "SchedulerNotAllowed" // Where: the pod's scheduler

	VolumeClaimNotFound     Code = "VolumeClaimNotFound"
	VolumeClaimDeleted      Code = "VolumeClaimDeleted"
	VolumeClaimLost         Code = "VolumeClaimLost"
	VolumeClaimNotBound     Code = "VolumeClaimNotBound"     // its class binds claims at once
	VolumeBindingUnfinished Code = "VolumeBindingUnfinished" // the claim names a volume, and has no annotation yet
	VolumeNotFound          Code = "VolumeNotFound"
	VolumeDeleted           Code = "VolumeDeleted"
	StorageClassMissing     Code = "StorageClassMissing"
	StorageClassNotFound    Code = "StorageClassNotFound"
	TopologyKeyUnsupported  Code = "TopologyKeyUnsupported"
	DriverUnsupported       Code = "DriverUnsupported"
	VolumeTermInvalid       Code = "VolumeTermInvalid" // Detail: object, field and mistake
)

// ofPods are the texts of what is wrong with a pod itself.
var ofPods = map[Code]string{
	MatchFieldsUnsupported:      "node selector term with matchFields is not supported",
	DynamicResourcesUnsupported: "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter",
	PoolsAvoided:                "configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)",
}

// ofVolumes are the texts of what is wrong with a volume; %q stands for Detail.
var ofVolumes = map[Code]string{
	VolumeClaimNotFound:     "persistentvolumeclaim %q not found",
	VolumeClaimDeleted:      "persistentvolumeclaim is being deleted",
	VolumeClaimLost:         "persistentvolumeclaim bound to non-existent persistentvolume",
	VolumeClaimNotBound:     "pvc with immediate volume binding mode must be bound",
	VolumeBindingUnfinished: "pvc is considered unbound because it does not contain annotation",
	VolumeNotFound:          "persistentvolume %q not found",
	VolumeDeleted:           "persistentvolume is being deleted",
	StorageClassMissing:     "unbound pvc must define a storage class",
	StorageClassNotFound:    "storageclass %q not found",
	TopologyKeyUnsupported:  "storage class uses unsupported topology key",
	DriverUnsupported:       "provisioner is not supported",
	VolumeTermInvalid:       "%s",
}

// podText is what is wrong with a pod or one of its volumes; false if the code is about something else.
func (r Reason) podText() (string, bool) {
	if r.Code == PodRefused || r.Code == FieldInvalid {
		return r.Detail, true
	}
	if r.Code == QuotaExceeded {
		return fmt.Sprintf("exceeded quota: ResourceQuota %s leaves no room for the pod: %s; until the quota is raised or others use less, the pod is not made", r.Where, r.Detail), true
	}
	if r.Code == BookingAwaited {
		return fmt.Sprintf("uses the room of ProvisioningRequest %s; no node is launched for the pod itself while the request looks for room or keeps it", r.Where), true
	}
	if r.Code == SchedulerNotAllowed {
		return fmt.Sprintf("no node is launched for pods of scheduler %s: allowed-scheduler-names does not name it", r.Where), true
	}
	if text, found := ofPods[r.Code]; found {
		return text, true
	}
	text, found := ofVolumes[r.Code]
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(text, r.Detail)
	}
	return "volume " + r.Where + ": " + text, found
}

// Obstacles are all reasons why a pod cannot be considered; none if it can.
type Obstacles []Reason

// Text joins the texts of the obstacles.
func (o Obstacles) Text() string {
	texts := make([]string, len(o))
	for i := range o {
		texts[i] = o[i].Text()
	}
	return strings.Join(texts, "; ")
}

// UnmarshalJSON also reads the text that snapshots had before there were codes.
func (o *Obstacles) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*o = nil
		if text != "" {
			*o = Obstacles{{Code: PodRefused, Detail: text}}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]Reason)(o))
}
