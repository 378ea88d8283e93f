package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// Driver is the driver that makes volumes here: in the zone of the first node, attached to one node at a
// time.
const Driver = "ebs.csi.aws.com"

// volumesPerNode is how many volumes a node can have.
const volumesPerNode = 12

// How long detaching takes, and how long the controller waits for a node that does not answer.
const (
	detachesIn = 5 * time.Second
	forcedIn   = 6 * time.Minute
)

// claimsOf returns the names of the volume claims of a pod.
func claimsOf(pod *corev1.Pod) []string {
	var names []string
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			names = append(names, c.ClaimName)
		}
	}
	return names
}

// volumesOf returns the claims of a pod, or what is wrong with them.
func (c *Cluster) volumesOf(pod *corev1.Pod) ([]*corev1.PersistentVolumeClaim, string) {
	var out []*corev1.PersistentVolumeClaim
	for _, name := range claimsOf(pod) {
		claim := &corev1.PersistentVolumeClaim{}
		if c.Client.Get(context.Background(), client.ObjectKey{Namespace: pod.Namespace, Name: name}, claim) != nil {
			return nil, fmt.Sprintf("persistentvolumeclaim %q not found", name)
		}
		if claim.DeletionTimestamp != nil {
			return nil, fmt.Sprintf("persistentvolumeclaim %q is being deleted", name)
		}
		out = append(out, claim)
	}
	return out, ""
}

// volumesFit reports whether each volume is in the node's zone, or can be made there.
func (a *ask) volumesFit(r *room) bool {
	return !slices.ContainsFunc(a.volumes, func(claim *corev1.PersistentVolumeClaim) bool { return !a.c.reaches(claim, r.node) })
}

func (c *Cluster) reaches(claim *corev1.PersistentVolumeClaim, node *corev1.Node) bool {
	if claim.Spec.VolumeName == "" {
		return true
	}
	volume := &corev1.PersistentVolume{}
	if c.Client.Get(context.Background(), client.ObjectKey{Name: claim.Spec.VolumeName}, volume) != nil {
		return false
	}
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return true
	}
	selector, err := nodeaffinity.NewNodeSelector(volume.Spec.NodeAffinity.Required)
	return err == nil && selector.Match(node)
}

// tooManyVolumes reports whether these volumes exceed the node's limit together with those it has.
func (a *ask) tooManyVolumes(r *room) bool {
	if r.limit == 0 {
		return false
	}
	there := map[string]bool{}
	for _, g := range r.pods {
		for _, name := range claimsOf(g.Pod) {
			there[g.Namespace+"/"+name] = true
		}
	}
	for _, claim := range a.volumes {
		there[claim.Namespace+"/"+claim.Name] = true
	}
	return int64(len(there)) > r.limit
}

// toldOfVolumes updates limits.
func (c *Cluster) toldOfVolumes(object client.Object, gone bool) {
	node, is := object.(*storagev1.CSINode)
	if !is || gone {
		return
	}
	if r := c.nodes.byName[node.Name]; r != nil {
		for _, d := range node.Spec.Drivers {
			if d.Name == Driver && d.Allocatable != nil {
				r.limit = int64(ptr.Deref(d.Allocatable.Count, 0))
			}
		}
	}
}

// setDriver writes the driver's limit for a node.
func (c *Cluster) setDriver(node string) error {
	return c.Client.Create(context.Background(), &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
			Name: Driver, NodeID: node, TopologyKeys: []string{corev1.LabelTopologyZone},
			Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](volumesPerNode)},
		}}},
	})
}

// settleVolumes makes the volumes of a pod that has been assigned to a node, in that node's zone.
func (c *Cluster) settleVolumes(ctx context.Context, pod *corev1.Pod, node *corev1.Node) error {
	claims, _ := c.volumesOf(pod)
	for _, claim := range claims {
		if claim.Spec.VolumeName != "" {
			continue
		}
		volume := volumeFor(claim, node.Labels[corev1.LabelTopologyZone])
		if err := c.Client.Create(ctx, volume); err != nil {
			return err
		}
		claim.Spec.VolumeName = volume.Name
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
		claim.ResourceVersion = ""
		if err := c.Client.Update(ctx, claim); err != nil {
			return client.IgnoreNotFound(err)
		}
		claim.Status.Phase = corev1.ClaimBound
		if err := c.Client.Status().Update(ctx, claim); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return nil
}

func volumeFor(claim *corev1.PersistentVolumeClaim, zone string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}, AccessModes: claim.Spec.AccessModes,
			StorageClassName: ptr.Deref(claim.Spec.StorageClassName, ""), PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: "vol-" + string(claim.UID)}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
			}}}},
		},
	}
}

// attachments attach volumes to the nodes whose pods need them, one node at a time.
func (c *Cluster) attachments() reconcile.Controller {
	return reconcile.Controller{
		Name:    "attachments",
		Workers: reconcile.Workers{Min: 100, Max: 100},
		Watches: []reconcile.Watch{
			{Kind: &corev1.PersistentVolumeClaim{}},
			{Kind: &storagev1.VolumeAttachment{}, Keys: c.claimOfAttachment},
			{Kind: &corev1.Pod{}, Keys: claimKeys, Matters: func(old, changed client.Object) bool {
				return len(claimsOf(either(old, changed).(*corev1.Pod))) > 0
			}},
		},
		Reconcile: c.attach,
	}
}

func claimKeys(_ context.Context, object client.Object) []reconcile.Key {
	var keys []reconcile.Key
	for _, name := range claimsOf(object.(*corev1.Pod)) {
		keys = append(keys, reconcile.Key{Namespace: object.GetNamespace(), Name: name})
	}
	return keys
}

func (c *Cluster) claimOfAttachment(ctx context.Context, object client.Object) []reconcile.Key {
	volume := &corev1.PersistentVolume{}
	name := ptr.Deref(object.(*storagev1.VolumeAttachment).Spec.Source.PersistentVolumeName, "")
	if c.Client.Get(ctx, client.ObjectKey{Name: name}, volume) != nil || volume.Spec.ClaimRef == nil {
		return nil
	}
	return []reconcile.Key{{Namespace: volume.Spec.ClaimRef.Namespace, Name: volume.Spec.ClaimRef.Name}}
}

func (c *Cluster) attach(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var claim corev1.PersistentVolumeClaim
	if err := c.Client.Get(ctx, key, &claim); err != nil || claim.Spec.VolumeName == "" {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	wanted := ""
	for _, pod := range c.users(key) {
		if housed(pod) && (wanted == "" || pod.Spec.NodeName < wanted) {
			wanted = pod.Spec.NodeName
		}
	}
	if attached := c.attachmentsOf(claim.Spec.VolumeName); len(attached) > 0 {
		a := attached[0]
		if a.Spec.NodeName == wanted || slices.ContainsFunc(c.users(key), func(p *corev1.Pod) bool { return housed(p) && p.Spec.NodeName == a.Spec.NodeName }) {
			return reconcile.Never, nil // the volume is attached elsewhere: no other node gets it
		}
		return c.detach(ctx, a)
	}
	if wanted == "" || c.nodes.byName[wanted] == nil {
		return reconcile.Never, nil
	}
	made := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-" + wanted + "-" + claim.Spec.VolumeName},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: Driver, NodeName: wanted,
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &claim.Spec.VolumeName}},
	}
	if err := c.Client.Create(ctx, made); err != nil {
		return reconcile.Never, err
	}
	made.Status.Attached = true
	return reconcile.Never, c.Client.Status().Update(ctx, made)
}

// detach waits for the node to unmount the volume, up to a limit for a node that does not answer.
func (c *Cluster) detach(ctx context.Context, a *storagev1.VolumeAttachment) (reconcile.Result, error) {
	since, known := c.detaching[a.Name]
	if !known {
		since = c.Clock.Now()
		c.detaching[a.Name] = since
	}
	takes := forcedIn
	if m, known := c.machines[a.Spec.NodeName]; known && !m.stopped {
		takes = detachesIn
	}
	if left := since.Add(takes).Sub(c.Clock.Now()); left > 0 {
		return reconcile.In(left), nil
	}
	delete(c.detaching, a.Name)
	return reconcile.Never, client.IgnoreNotFound(c.Client.Delete(ctx, a.DeepCopy()))
}

// users returns the pods that use a claim.
func (c *Cluster) users(key reconcile.Key) []*corev1.Pod {
	return podsIn(c.Client.Find(&corev1.Pod{}, claimed, key.String()))
}

func (c *Cluster) attachmentsOf(volume string) []*storagev1.VolumeAttachment {
	var out []*storagev1.VolumeAttachment
	for _, object := range c.Client.Find(&storagev1.VolumeAttachment{}, "", "") {
		if a := object.(*storagev1.VolumeAttachment); ptr.Deref(a.Spec.Source.PersistentVolumeName, "") == volume {
			out = append(out, a)
		}
	}
	return out
}

// mounted reports whether the volumes of a pod are attached to its node.
func (c *Cluster) mounted(pod *corev1.Pod) bool {
	claims, missing := c.volumesOf(pod)
	if missing != "" {
		return false
	}
	return !slices.ContainsFunc(claims, func(claim *corev1.PersistentVolumeClaim) bool {
		return !slices.ContainsFunc(c.attachmentsOf(claim.Spec.VolumeName), func(a *storagev1.VolumeAttachment) bool {
			return a.Spec.NodeName == pod.Spec.NodeName && a.Status.Attached
		})
	})
}

// volumes are deleted with their claims, once no pod uses them.
func (c *Cluster) volumes() reconcile.Controller {
	return reconcile.Controller{
		Name:    "volumes",
		Watches: []reconcile.Watch{{Kind: &corev1.PersistentVolumeClaim{}, Matters: func(_, claim client.Object) bool { return claim == nil }}},
		Reconcile: func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
			for _, object := range c.Client.Find(&corev1.PersistentVolume{}, "", "") {
				volume := object.(*corev1.PersistentVolume)
				if ref := volume.Spec.ClaimRef; ref == nil || ref.Namespace != key.Namespace || ref.Name != key.Name || c.exists(ctx, ref) {
					continue
				}
				for _, a := range c.attachmentsOf(volume.Name) {
					if err := c.Client.Delete(ctx, a.DeepCopy()); client.IgnoreNotFound(err) != nil {
						return reconcile.Never, err
					}
				}
				if err := c.Client.Delete(ctx, volume.DeepCopy()); client.IgnoreNotFound(err) != nil {
					return reconcile.Never, err
				}
			}
			return reconcile.Never, nil
		},
	}
}

// exists reports whether the claim exists with the same UID.
func (c *Cluster) exists(ctx context.Context, ref *corev1.ObjectReference) bool {
	var claim corev1.PersistentVolumeClaim
	return c.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &claim) == nil && claim.UID == ref.UID
}
