package kubelet

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// volumePoll is how often a pod checks its volumes, in case an attachment does not wake it sooner, and how
// often a claim checks for a class that our cache does not show yet.
const volumePoll = time.Second

// servePod performs the next step of a pod.
func (f *Fleet) servePod(ctx context.Context, k key) (time.Time, error) {
	p := find[v1.Pod](f.watches.pods, k.namespace+"/"+k.name)
	if p == nil || p.UID != k.uid {
		f.memory.forgetPod(k.uid)
		return time.Time{}, nil
	}
	if behind(p.ResourceVersion, f.memory.lastPodWrite(p.UID)) {
		return time.Time{}, nil
	}
	now := f.config.Clock.Now()
	n := find[v1.Node](f.watches.nodes, p.Spec.NodeName)
	if n == nil {
		return time.Time{}, f.serveOrphan(ctx, p, now)
	}
	fault := f.faultOf(n)
	if !Simulated(n) || fault.Silent {
		return time.Time{}, nil
	}
	held := f.memory.sandbox(p.UID, p.Status.PodIP, now)
	in, err := f.gatherPod(p, machine{IP: addressOf(n), Ready: isReady(n), Fault: fault}, held)
	if err != nil {
		return time.Time{}, err
	}
	step := stepPod(in, now)
	if !in.VolumesReady {
		f.machines.add(nodeKey(n)) // it reports what is in use, which may be bound by now
		step.At = sooner(step.At, now.Add(volumePoll))
	}
	return step.At, f.writePod(ctx, p, step)
}

func (f *Fleet) gatherPod(p *v1.Pod, m machine, held sandbox) (podInput, error) {
	in := podInput{
		Pod: p, Machine: m, Bound: held.bound, IP: m.IP,
		VolumesReady: f.volumesReady(p),
		Delays:       podDelays{Start: f.config.PodStartDelay, Stop: f.config.PodStopDelay, JobRun: f.config.JobRunTime},
	}
	if p.Spec.HostNetwork {
		return in, nil
	}
	ip, err := f.memory.podAddress(p.UID)
	in.IP = ip
	return in, err
}

// serveOrphan cleans up after a Node whose deletion we saw. A Node that we have never seen may still come:
// the watches are not synchronised with each other.
func (f *Fleet) serveOrphan(ctx context.Context, p *v1.Pod, now time.Time) error {
	if !f.memory.hasDeparted(p.Spec.NodeName) {
		return nil
	}
	return f.writePod(ctx, p, orphanStep(p, now))
}

func (f *Fleet) writePod(ctx context.Context, p *v1.Pod, step podStep) error {
	switch {
	case step.Status != nil:
		return f.patchPod(ctx, p, step.Status)
	case step.Delete:
		return f.removePod(ctx, p)
	default:
		return nil
	}
}

func (f *Fleet) removePod(ctx context.Context, p *v1.Pod) error {
	now := int64(0)
	err := f.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now,
		Preconditions:      metav1.NewUIDPreconditions(string(p.UID)),
	})
	if err != nil && !outdated(err) {
		return fmt.Errorf("remove pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}

func (f *Fleet) patchPod(ctx context.Context, p *v1.Pod, s *v1.PodStatus) error {
	patch, err := podStatusBody(p.UID, s)
	if err != nil {
		return fmt.Errorf("patch for pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	is, err := f.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if outdated(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("patch pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	f.memory.wrotePod(p.UID, is.ResourceVersion)
	return nil
}

// volumesReady reports whether every claim of a pod is bound, and its volume attached if it is one of the
// lab's driver.
func (f *Fleet) volumesReady(p *v1.Pod) bool {
	for _, name := range claimsOf(p) {
		pv := f.volumeOfClaim(p.Namespace, name)
		if pv == nil || ours(pv) && !f.attached(pv.Name, p.Spec.NodeName) {
			return false
		}
	}
	return true
}

func ours(pv *v1.PersistentVolume) bool { return pv.Spec.CSI != nil && pv.Spec.CSI.Driver == Driver }

// volumeOfClaim returns the volume that a claim is bound to, or nil.
func (f *Fleet) volumeOfClaim(namespace, name string) *v1.PersistentVolume {
	claim := find[v1.PersistentVolumeClaim](f.watches.claims, namespace+"/"+name)
	if claim == nil || claim.Spec.VolumeName == "" || claim.Status.Phase != v1.ClaimBound {
		return nil
	}
	return find[v1.PersistentVolume](f.watches.volumes, claim.Spec.VolumeName)
}

// attached reports whether a volume is on a node, or on any node if none is named.
func (f *Fleet) attached(volume, node string) bool {
	return slices.ContainsFunc(list[storage.VolumeAttachment](f.watches.attachments, byVolume, volume), func(va *storage.VolumeAttachment) bool {
		return node == "" || va.Spec.NodeName == node && va.Status.Attached
	})
}

// volumesInUse returns the volumes that a Node's pods need until they have ended.
func (f *Fleet) volumesInUse(node string) []v1.UniqueVolumeName {
	var names []v1.UniqueVolumeName
	for _, p := range list[v1.Pod](f.watches.pods, byNode, node) {
		if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
			continue
		}
		for _, claim := range claimsOf(p) {
			if pv := f.volumeOfClaim(p.Namespace, claim); pv != nil && ours(pv) {
				names = append(names, inUseName(pv.Spec.CSI.VolumeHandle))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// serveAttachment acts as the external attacher.
func (f *Fleet) serveAttachment(ctx context.Context, k key) (time.Time, error) {
	va := find[storage.VolumeAttachment](f.watches.attachments, k.name)
	if va == nil {
		return time.Time{}, nil
	}
	n := find[v1.Node](f.watches.nodes, va.Spec.NodeName)
	gone := n == nil || !f.memory.running(n.Spec.ProviderID)
	if n != nil && !Simulated(n) {
		return time.Time{}, nil
	}
	step := stepAttachment(va, gone, f.config, f.config.Clock.Now())
	return step.At, f.writeAttachment(ctx, va, step)
}

func (f *Fleet) writeAttachment(ctx context.Context, va *storage.VolumeAttachment, step attachmentStep) error {
	var patch []byte
	var err error
	var subresources []string
	others := slices.DeleteFunc(slices.Clone(va.Finalizers), func(name string) bool { return name == attachFinalizer })
	switch {
	case step.AddFinalizer:
		patch, err = finalizersBody(va.ResourceVersion, append(others, attachFinalizer))
	case step.RemoveFinalizer:
		patch, err = finalizersBody(va.ResourceVersion, others)
	case step.Attached:
		patch, subresources = []byte(`{"status":{"attached":true}}`), []string{"status"}
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("patch for attachment %s: %w", va.Name, err)
	}
	_, err = f.client.StorageV1().VolumeAttachments().Patch(ctx, va.Name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return wrap("patch attachment "+va.Name, err)
}

// serveClaim acts as the external provisioner.
func (f *Fleet) serveClaim(ctx context.Context, k key) (time.Time, error) {
	claim := find[v1.PersistentVolumeClaim](f.watches.claims, k.namespace+"/"+k.name)
	if claim == nil || !wantsVolume(claim) {
		return time.Time{}, nil
	}
	in := f.gatherClaim(claim)
	if in.Class == nil {
		return f.config.Clock.Now().Add(volumePoll), nil
	}
	step := stepClaim(in)
	if step.Reschedule {
		patch := []byte(`{"metadata":{"annotations":{"` + annotationSelectedNode + `":null}}}`)
		_, err := f.client.CoreV1().PersistentVolumeClaims(k.namespace).Patch(ctx, k.name, types.MergePatchType, patch, metav1.PatchOptions{})
		return time.Time{}, wrap("free claim "+k.name+" of its node", err)
	}
	if step.Volume == nil {
		return time.Time{}, nil
	}
	_, err := f.client.CoreV1().PersistentVolumes().Create(ctx, step.Volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return time.Time{}, nil
	}
	return time.Time{}, wrap("provision claim "+k.name, err)
}

func (f *Fleet) gatherClaim(claim *v1.PersistentVolumeClaim) claimInput {
	in := claimInput{Claim: claim}
	if claim.Spec.StorageClassName != nil {
		in.Class = find[storage.StorageClass](f.watches.classes, *claim.Spec.StorageClassName)
	}
	if selected := claim.Annotations[annotationSelectedNode]; selected != "" {
		in.Node = find[v1.Node](f.watches.nodes, selected)
	}
	for _, o := range f.watches.nodes.GetStore().List() {
		if zone := o.(*v1.Node).Labels[v1.LabelTopologyZone]; zone != "" {
			in.Zones = append(in.Zones, zone)
		}
	}
	slices.Sort(in.Zones)
	in.Zones = slices.Compact(in.Zones)
	return in
}

// serveVolume deletes a volume that is no longer needed.
func (f *Fleet) serveVolume(ctx context.Context, k key) (time.Time, error) {
	pv := find[v1.PersistentVolume](f.watches.volumes, k.name)
	if pv == nil || !reclaimable(pv, f.attached(pv.Name, "")) {
		return time.Time{}, nil
	}
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pv.UID))}
	if err := f.client.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, options); err != nil && !outdated(err) {
		return time.Time{}, fmt.Errorf("delete volume %s: %w", pv.Name, err)
	}
	return time.Time{}, nil
}
