package drain

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/podpolicy"
)

// Retained are the volume claims of pods that stay until the node is gone: their volumes stay
// attached until then, so they are not awaited. Each is named once, in the order of the pods.
func Retained(pods []*corev1.Pod, now time.Time) []types.NamespacedName {
	var out []types.NamespacedName
	for _, pod := range pods {
		if podpolicy.Drainable(pod, now) {
			continue
		}
		for i := range pod.Spec.Volumes {
			name := claimOf(pod, &pod.Spec.Volumes[i])
			if key := (types.NamespacedName{Namespace: pod.Namespace, Name: name}); name != "" && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// claimOf is the volume claim behind a volume of a pod, or "".
func claimOf(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// StillAttached are the names of the attachments that a node waits for, sorted. retained are the
// persistent volumes that stay; volumes without a name cannot be awaited.
func StillAttached(attachments []*storagev1.VolumeAttachment, retained []string) []string {
	var out []string
	for _, a := range attachments {
		if volume := a.Spec.Source.PersistentVolumeName; volume != nil && !slices.Contains(retained, *volume) {
			out = append(out, a.Name)
		}
	}
	slices.Sort(out)
	return out
}

// AwaitedVolumes names the attachments for which a node waits.
func AwaitedVolumes(attachments []string) string {
	return fmt.Sprintf("Awaiting deletion of bound volumeattachments (%s)", Few(attachments, fewNames))
}
