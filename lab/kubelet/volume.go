package kubelet

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Driver is the CSI driver that the lab simulates.
	Driver = "ebs.csi.aws.com"

	// attachFinalizer keeps a VolumeAttachment until the volume is really off the machine.
	attachFinalizer = "external-attacher/ebs-csi-aws-com"

	annotationProvisioner     = "volume.kubernetes.io/storage-provisioner"
	annotationBetaProvisioner = "volume.beta.kubernetes.io/storage-provisioner"
	annotationSelectedNode    = "volume.kubernetes.io/selected-node"
	annotationProvisionedBy   = "pv.kubernetes.io/provisioned-by"
)

// attachmentStep is what to write to a VolumeAttachment.
type attachmentStep struct {
	AddFinalizer    bool
	Attached        bool // set status.attached
	RemoveFinalizer bool
	At              time.Time
}

// stepAttachment acts as the external attacher. A terminated machine holds no volume.
func stepAttachment(va *storage.VolumeAttachment, machineGone bool, c Config, now time.Time) attachmentStep {
	held := slices.Contains(va.Finalizers, attachFinalizer)
	var when time.Time
	step := attachmentStep{}
	switch {
	case va.Spec.Attacher != Driver:
		return attachmentStep{}
	case va.DeletionTimestamp != nil && !held:
		return attachmentStep{}
	case va.DeletionTimestamp != nil:
		step.RemoveFinalizer = true
		if !machineGone {
			when = va.DeletionTimestamp.Add(c.DetachDelay)
		}
	case !held:
		step.AddFinalizer = true
	case va.Status.Attached || machineGone:
		return attachmentStep{}
	default:
		step.Attached = true
		when = va.CreationTimestamp.Add(c.AttachDelay)
	}
	if now.Before(when) {
		return attachmentStep{At: when}
	}
	return step
}

// claimInput is everything that provisioning a claim depends on.
type claimInput struct {
	Claim *v1.PersistentVolumeClaim
	Class *storage.StorageClass // nil if there is none
	Node  *v1.Node              // the selected one; nil if there is none
	Zones []string              // of the cluster, sorted
}

// claimStep is a volume to create, or a request to schedule the pod again.
type claimStep struct {
	Volume     *v1.PersistentVolume
	Reschedule bool
}

// stepClaim acts as the external provisioner. The control plane's volume controller names the provisioner
// on the claim when it wants a volume, and binds the volume afterwards.
func stepClaim(in claimInput) claimStep {
	if !wantsVolume(in.Claim) || in.Class == nil || in.Class.Provisioner != Driver {
		return claimStep{}
	}
	_, selected := in.Claim.Annotations[annotationSelectedNode]
	waits := in.Class.VolumeBindingMode != nil && *in.Class.VolumeBindingMode == storage.VolumeBindingWaitForFirstConsumer
	switch {
	case selected && in.Node == nil:
		return claimStep{Reschedule: true}
	case waits && !selected:
		return claimStep{}
	case selected:
		return claimStep{Volume: volumeFor(in, in.Node.Labels[v1.LabelTopologyZone])}
	default:
		return claimStep{Volume: volumeFor(in, pickZone(in))}
	}
}

func wantsVolume(c *v1.PersistentVolumeClaim) bool {
	named := cmp.Or(c.Annotations[annotationProvisioner], c.Annotations[annotationBetaProvisioner])
	return c.DeletionTimestamp == nil && c.Spec.VolumeName == "" && named == Driver
}

// pickZone spreads volumes that no pod uses yet over the allowed zones.
func pickZone(in claimInput) string {
	zones := in.Zones
	if allowed := allowedZones(in.Class); len(allowed) > 0 {
		zones = allowed
	}
	if len(zones) == 0 {
		return ""
	}
	return zones[hash(string(in.Claim.UID))%uint64(len(zones))]
}

func allowedZones(class *storage.StorageClass) []string {
	var zones []string
	for _, term := range class.AllowedTopologies {
		for _, e := range term.MatchLabelExpressions {
			if e.Key == v1.LabelTopologyZone || e.Key == "topology.ebs.csi.aws.com/zone" {
				zones = append(zones, e.Values...)
			}
		}
	}
	return zones
}

// volumeFor returns the PersistentVolume of a claim, in a zone unless the zone is unknown.
func volumeFor(in claimInput, zone string) *v1.PersistentVolume {
	claim, class := in.Claim, in.Class
	reclaim := v1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{annotationProvisionedBy: Driver},
		},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      v1.ResourceList{v1.ResourceStorage: claim.Spec.Resources.Requests[v1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			PersistentVolumeReclaimPolicy: reclaim,
			ClaimRef: &v1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{
				Driver:       Driver,
				VolumeHandle: fmt.Sprintf("vol-%017x", hash(string(claim.UID))),
				FSType:       "ext4",
			}},
			NodeAffinity: zoneAffinity(zone),
		},
	}
}

func zoneAffinity(zone string) *v1.VolumeNodeAffinity {
	if zone == "" {
		return nil
	}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{
			Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{zone},
		}},
	}}}}
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // a hash's Write never fails
	return h.Sum64()
}

// reclaimable reports whether we delete a volume: it is released, no pod wants it, and it is attached to no
// machine.
func reclaimable(pv *v1.PersistentVolume, attached bool) bool {
	return pv.DeletionTimestamp == nil && !attached &&
		pv.Annotations[annotationProvisionedBy] == Driver &&
		pv.Status.Phase == v1.VolumeReleased &&
		pv.Spec.PersistentVolumeReclaimPolicy == v1.PersistentVolumeReclaimDelete
}

// claimsOf returns the names of a pod's claims, including those of ephemeral volumes.
func claimsOf(p *v1.Pod) []string {
	var names []string
	for _, volume := range p.Spec.Volumes {
		switch {
		case volume.PersistentVolumeClaim != nil:
			names = append(names, volume.PersistentVolumeClaim.ClaimName)
		case volume.Ephemeral != nil:
			names = append(names, p.Name+"-"+volume.Name)
		}
	}
	return names
}

// inUseName returns the name of a CSI volume in a Node's status.
func inUseName(handle string) v1.UniqueVolumeName {
	return v1.UniqueVolumeName("kubernetes.io/csi/" + Driver + "^" + handle)
}

// csiNode returns the object that announces the driver on a machine.
func csiNode(n *v1.Node, limit int32) *storage.CSINode {
	limit = int32Of(n.Annotations, AnnotationVolumeLimit, limit)
	return &storage.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, OwnerReferences: ownedBy(n)},
		Spec: storage.CSINodeSpec{Drivers: []storage.CSINodeDriver{{
			Name:         Driver,
			NodeID:       instanceID(n),
			TopologyKeys: []string{v1.LabelTopologyZone},
			Allocatable:  &storage.VolumeNodeResources{Count: &limit},
		}}},
	}
}

// instanceID returns the last part of the provider ID.
func instanceID(n *v1.Node) string {
	id := n.Spec.ProviderID[strings.LastIndexByte(n.Spec.ProviderID, '/')+1:]
	return orElse(id, n.Name)
}

func ownedBy(n *v1.Node) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}}
}
