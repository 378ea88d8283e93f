package ingest

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

const (
	bindCompleted       = "pv.kubernetes.io/bind-completed"
	defaultClass        = "storageclass.kubernetes.io/is-default-class"
	defaultClassBeta    = "storageclass.beta.kubernetes.io/is-default-class"
	severalZonesDivider = "__" // in the zone label of a volume that is in more than one
)

// claim is a volume claim, or the template in a manifest of one that does not exist yet.
type claim struct {
	*corev1.PersistentVolumeClaim
	promised bool
}

// promises are claims that will be created with a pod, by name.
type promises map[string]*corev1.PersistentVolumeClaimSpec

// volumes resolves every volume of the pod that is a claim. The error says why a pending
// pod cannot be considered.
func (t *Translator) volumes(pod *corev1.Pod, promised promises) ([]snapshot.Volume, error) {
	var out []snapshot.Volume
	var problems []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name, promise := t.claimName(pod, v, promised)
		if name == "" {
			continue
		}
		claim, ok := t.findClaim(namespaceOf(pod), name, promise)
		if !ok {
			problems = append(problems, obstacle{Code: reason.VolumeClaimNotFound, Where: v.Name, Detail: name})
			continue
		}
		volume, err := t.volume(claim)
		if err != nil {
			problems = append(problems, ofVolume(v.Name, err))
		}
		out = append(out, volume)
	}
	return out, errors.Join(problems...)
}

// ofVolume adds the volume of the pod to an obstacle.
func ofVolume(name string, err error) error {
	var o obstacle
	if !errors.As(err, &o) {
		o = obstacle{Code: reason.VolumeTermInvalid, Detail: err.Error()}
	}
	o.Where = name
	return o
}

// usesClaims reports whether the pod's volumes have to be looked up.
func usesClaims(spec *corev1.PodSpec) bool {
	for i := range spec.Volumes {
		if spec.Volumes[i].PersistentVolumeClaim != nil || spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	return false
}

// claimName is the name of a volume's claim, "" if it has none. The claim of an ephemeral volume is
// called POD-VOLUME; in files the volume's template replaces it.
func (t *Translator) claimName(pod *corev1.Pod, v *corev1.Volume, promised promises) (string, *corev1.PersistentVolumeClaimSpec) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName, promised[v.PersistentVolumeClaim.ClaimName]
	case v.Ephemeral != nil && t.options.Files && v.Ephemeral.VolumeClaimTemplate != nil:
		return pod.Name + "-" + v.Name, &v.Ephemeral.VolumeClaimTemplate.Spec
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name, nil
	}
	return "", nil
}

func (t *Translator) findClaim(namespace, name string, promise *corev1.PersistentVolumeClaimSpec) (claim, bool) {
	if found, ok := t.index.claims[key{namespace, name}]; ok {
		return claim{PersistentVolumeClaim: found}, true
	}
	if promise == nil {
		return claim{}, false
	}
	made := &corev1.PersistentVolumeClaim{Spec: *promise}
	made.Namespace, made.Name = namespace, name
	if made.Spec.StorageClassName == nil {
		made.Spec.StorageClassName = t.index.defaultClass()
	}
	return claim{made, true}, true
}

// defaultClass is the class that admission would choose: the newest of those marked as default.
func (x *Index) defaultClass() *string {
	var found *storagev1.StorageClass
	for _, class := range x.classes {
		marked := class.Annotations[defaultClass] == "true" || class.Annotations[defaultClassBeta] == "true"
		if marked && (found == nil || newer(class, found)) {
			found = class
		}
	}
	if found == nil {
		return nil
	}
	return &found.Name
}

func newer(a, b *storagev1.StorageClass) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return a.Name < b.Name
}

// volume resolves one claim, and refuses a claim that the scheduler could not place either.
func (t *Translator) volume(claim claim) (snapshot.Volume, error) {
	out := snapshot.Volume{ID: namespaceOf(claim) + "/" + claim.Name}
	switch {
	case claim.DeletionTimestamp != nil:
		return out, obstacle{Code: reason.VolumeClaimDeleted}
	case claim.Status.Phase == corev1.ClaimLost:
		return out, obstacle{Code: reason.VolumeClaimLost}
	case claim.Spec.VolumeName != "":
		return t.boundVolume(out, claim)
	}
	return t.unboundVolume(out, claim)
}

func (t *Translator) boundVolume(out snapshot.Volume, claim claim) (snapshot.Volume, error) {
	volume, ok := t.index.volumes[claim.Spec.VolumeName]
	switch {
	case !ok:
		return out, obstacle{Code: reason.VolumeNotFound, Detail: claim.Spec.VolumeName}
	case volume.DeletionTimestamp != nil:
		return out, obstacle{Code: reason.VolumeDeleted}
	case !metav1.HasAnnotation(claim.ObjectMeta, bindCompleted):
		return out, obstacle{Code: reason.VolumeBindingUnfinished}
	}
	out.Driver = volumeDriver(volume)
	var err error
	if out.Terms, err = t.volumeTerms(volume); err != nil {
		return out, err
	}
	return out, t.checkDriver(out.Driver)
}

// volumeTerms are the places where a volume is: its node affinity, each term with the zone and
// region of the volume's labels, as the scheduler reads them for older volumes.
func (t *Translator) volumeTerms(volume *corev1.PersistentVolume) ([]requirement.Set, error) {
	zonal := t.zonalLabels(volume)
	var terms []corev1.NodeSelectorTerm
	if volume.Spec.NodeAffinity != nil && volume.Spec.NodeAffinity.Required != nil {
		terms = volume.Spec.NodeAffinity.Required.NodeSelectorTerms
	}
	onNode := volume.Spec.Local != nil || volume.Spec.HostPath != nil
	var out []requirement.Set
	for _, term := range terms {
		set, err := t.options.Vocabulary.Parse(nodeEntries(term.MatchExpressions)...)
		if err != nil {
			return nil, fmt.Errorf("node affinity of persistentvolume %q: %w", volume.Name, err)
		}
		if onNode {
			// The replacement of the node has another name, but such volumes are created again there; bound
			// to the old name, their pods could never move.
			set = set.Without(requirement.KeyHostname)
		}
		if set = set.Intersect(zonal); set.IsZero() {
			return nil, nil // one of the alternatives is any place
		}
		out = append(out, set)
	}
	if len(out) == 0 && !zonal.IsZero() {
		out = append(out, zonal)
	}
	return out, nil
}

func (t *Translator) zonalLabels(volume *corev1.PersistentVolume) requirement.Set {
	var out requirement.Set
	for _, label := range []string{
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	} {
		value, ok := volume.Labels[label]
		if !ok || value == "" {
			continue
		}
		values := strings.Split(value, severalZonesDivider)
		set, err := t.options.Vocabulary.Parse(requirement.Entry{Key: label, Operator: requirement.In, Values: values})
		if err == nil { // In with values cannot be malformed
			out = out.Intersect(set)
		}
	}
	return out
}

func (t *Translator) unboundVolume(out snapshot.Volume, claim claim) (snapshot.Volume, error) {
	name := ""
	if claim.Spec.StorageClassName != nil {
		name = *claim.Spec.StorageClassName
	}
	class, ok := t.index.classes[name]
	switch {
	case !ok && claim.promised:
		return out, nil // its class is not in the files: nothing restricts the place
	case name == "":
		return out, obstacle{Code: reason.StorageClassMissing}
	case !ok:
		return out, obstacle{Code: reason.StorageClassNotFound, Detail: name}
	case bindsAtOnce(class) && !claim.promised: // a promised claim will be bound before its pod is scheduled
		return out, obstacle{Code: reason.VolumeClaimNotBound}
	}
	out.Driver = translatedDriver(class.Provisioner)
	var err error
	if out.Terms, err = t.classTerms(class); err != nil {
		return out, err
	}
	return out, t.checkDriver(out.Driver)
}

func bindsAtOnce(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode == nil || *class.VolumeBindingMode == storagev1.VolumeBindingImmediate
}

func (t *Translator) classTerms(class *storagev1.StorageClass) ([]requirement.Set, error) {
	var out []requirement.Set
	for _, term := range class.AllowedTopologies {
		var entries []requirement.Entry
		for _, e := range term.MatchLabelExpressions {
			if t.options.UnsupportedTopologyKeys.Contains(e.Key) {
				return nil, obstacle{Code: reason.TopologyKeyUnsupported}
			}
			entries = append(entries, requirement.Entry{Key: e.Key, Operator: requirement.In, Values: e.Values})
		}
		set, err := t.options.Vocabulary.Parse(entries...)
		if err != nil {
			return nil, fmt.Errorf("allowed topologies of storageclass %q: %w", class.Name, err)
		}
		if set.IsZero() {
			return nil, nil
		}
		out = append(out, set)
	}
	return out, nil
}

func (t *Translator) checkDriver(driver string) error {
	if t.options.UnsupportedDrivers.Contains(driver) {
		return obstacle{Code: reason.DriverUnsupported}
	}
	return nil
}

// volumeDriver is the CSI driver that attaches a volume.
func volumeDriver(volume *corev1.PersistentVolume) string {
	source := &volume.Spec.PersistentVolumeSource
	switch {
	case source.CSI != nil:
		return source.CSI.Driver
	case source.AWSElasticBlockStore != nil:
		return translatedDriver("kubernetes.io/aws-ebs")
	case source.GCEPersistentDisk != nil:
		return translatedDriver("kubernetes.io/gce-pd")
	case source.AzureDisk != nil:
		return translatedDriver("kubernetes.io/azure-disk")
	case source.AzureFile != nil:
		return translatedDriver("kubernetes.io/azure-file")
	case source.Cinder != nil:
		return translatedDriver("kubernetes.io/cinder")
	case source.VsphereVolume != nil:
		return translatedDriver("kubernetes.io/vsphere-volume")
	case source.PortworxVolume != nil:
		return translatedDriver("kubernetes.io/portworx-volume")
	}
	return ""
}

// inTree are the CSI drivers that replaced the in-tree volume plugins.
var inTree = map[string]string{
	"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
	"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
	"kubernetes.io/azure-disk":      "disk.csi.azure.com",
	"kubernetes.io/azure-file":      "file.csi.azure.com",
	"kubernetes.io/cinder":          "cinder.csi.openstack.org",
	"kubernetes.io/vsphere-volume":  "csi.vsphere.vmware.com",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
	"kubernetes.io/no-provisioner":  "", // created by hand: nothing is attached
}

func translatedDriver(provisioner string) string {
	if driver, ok := inTree[provisioner]; ok {
		return driver
	}
	return provisioner
}
