package randomcluster

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/requirement"
)

const driver = "disk.csi.example.com"

// Storage classes: one makes volumes anywhere, one only in some zones.
const (
	anywhereClass = "anywhere"
	zonalClass    = "zonal"
)

func (w *world) addStorage() {
	w.addClass(anywhereClass, nil)
	w.addClass(zonalClass, some(w.d, w.zones...))
}

func (w *world) addClass(name string, zones []string) {
	class := &storagev1.StorageClass{
		TypeMeta:          metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta:        meta("", name),
		Provisioner:       driver,
		VolumeBindingMode: pointer(storagev1.VolumeBindingWaitForFirstConsumer),
	}
	if len(zones) > 0 {
		class.AllowedTopologies = []corev1.TopologySelectorTerm{{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: requirement.KeyZone, Values: zones}},
		}}
	}
	w.add(class)
}

// volume gives the pod its own claim: bound to a volume in a zone, or not bound yet.
func (w *world) volume(pod *corev1.Pod) {
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: meta(pod.Namespace, "data-"+pod.Name),
	}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	claim.Spec.StorageClassName = pointer(one(w.d, anywhereClass, zonalClass))
	claim.Status.Phase = corev1.ClaimPending
	if pod.Spec.NodeName != "" || w.d.percent(60) {
		w.bind(claim, pod)
	}
	w.add(claim)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
	}})
}

func (w *world) bind(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) {
	name := "pv-" + pod.Namespace + "-" + pod.Name
	volume := &corev1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: meta("", name),
	}
	volume.Spec.Capacity = claim.Spec.Resources.Requests
	volume.Spec.AccessModes = claim.Spec.AccessModes
	volume.Spec.StorageClassName = *claim.Spec.StorageClassName
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
	volume.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: requirement.KeyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{w.zoneFor(pod)}}},
	}}}}
	volume.Status.Phase = corev1.VolumeBound
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim.Spec.VolumeName = name
	claim.Status.Phase = corev1.ClaimBound
	w.add(volume)
}

// zoneFor returns the zone of a pod's volume: for a running pod, its node's zone.
func (w *world) zoneFor(pod *corev1.Pod) string {
	for _, o := range w.out.Objects {
		if node, ok := o.(*corev1.Node); ok && node.Name == pod.Spec.NodeName {
			return node.Labels[requirement.KeyZone]
		}
	}
	return one(w.d, w.zones...)
}
