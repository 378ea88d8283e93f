// Package surge decides how a pod whose service must not be interrupted leaves its node: not by eviction,
// but by a roll-out of its Deployment, which makes a pod elsewhere and deletes this one once the new one is
// Ready.
//
//	no roll-out ──Roll──▶ rolling ──Wait──▶ the new pod is Ready, the old one goes
//	     │                   │
//	     └───────Evict───────┴─▶ not possible, or stuck: the pod leaves as others do
//
// What was asked of a Deployment is written into its template, so nothing is asked twice
// for one pod, also after a crash in between. The package must not read or
// write objects, and must not decide when a pod has to leave.
package surge

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tenon/internal/podpolicy"
)

const (
	// Annotation of pods, with the value "true", says that a replacement has to be Ready
	// before the pod goes. It belongs into the template of a Deployment: on a pod alone it has no
	// effect, since the right to make pods is not that to have a Deployment rolled.
	Annotation = "tenon.sh/surge"
	// AnnotationFor is what a roll-out is made with: the UID of the pod that it replaces. It
	// is in the template, and so on every pod that is made of it.
	AnnotationFor = "tenon.sh/surged-for"
)

// Wanted reports whether the pod asks to be replaced before it goes.
func Wanted(pod *corev1.Pod) bool { return pod.Annotations[Annotation] == "true" }

// Foreseeable reports whether the pod will be replaced before it goes, as far as objects tell
// before anything has begun: budgets hold a pod that will be evicted after all.
func Foreseeable(pod *corev1.Pod, w Workload) bool {
	return Wanted(pod) && serves(pod) && w.Denied == "" && orphaned(pod, w) == "" && hindrance(w) == ""
}

// Replaces is the pod that this one was made to replace; empty if it was not, or if it will
// not live to do so.
func Replaces(pod *corev1.Pod) types.UID {
	if pod.DeletionTimestamp != nil {
		return ""
	}
	return types.UID(pod.Annotations[AnnotationFor])
}

// serves reports whether the pod is still of use.
func serves(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && !podpolicy.Unready(pod)
}

// Workload is what makes a pod, as far as it could be found.
type Workload struct {
	// Set is the ReplicaSet that made the pod. Of one that the Deployment has left behind for
	// this very pod, the template may be missing.
	Set        *appsv1.ReplicaSet
	Deployment *appsv1.Deployment
	// Claims are the volume claims that the pod names.
	Claims []*corev1.PersistentVolumeClaim
	// Denied says why the Deployment cannot be looked at, or written; empty if it can.
	Denied string
}

// Verb is what to do about a pod.
type Verb int

// The verbs.
const (
	Evict Verb = iota // let it leave as others do
	Roll              // have its Deployment roll
	Wait              // the Deployment rolls
)

// Step is what to do about a pod that wants to be replaced before it goes.
type Step struct {
	Verb Verb
	// Why it cannot be replaced first; only of Evict.
	Why string
}

// Next decides about a pod that has to leave.
func Next(pod *corev1.Pod, w Workload) Step {
	if why := cmp.Or(w.Denied, orphaned(pod, w)); why != "" {
		return Step{Why: why}
	}
	if Asked(w.Deployment, pod) {
		return follow(w.Deployment)
	}
	switch why := hindrance(w); {
	case why != "":
		return Step{Why: why}
	case !sameTemplate(&w.Deployment.Spec.Template, &w.Set.Spec.Template):
		return follow(w.Deployment) // it rolls away from this pod already
	case !serves(pod):
		return Step{Why: "it is not Ready, so that nothing is lost by its eviction"}
	}
	return Step{Verb: Roll}
}

// Asked reports whether the Deployment has been asked to replace the pod.
func Asked(d *appsv1.Deployment, pod *corev1.Pod) bool {
	return pod.UID != "" && d.Spec.Template.Annotations[AnnotationFor] == string(pod.UID)
}

// Ask is the Deployment with the wish to replace the pod.
func Ask(d *appsv1.Deployment, pod *corev1.Pod) *appsv1.Deployment {
	asked := d.DeepCopy()
	if asked.Spec.Template.Annotations == nil {
		asked.Spec.Template.Annotations = map[string]string{}
	}
	asked.Spec.Template.Annotations[AnnotationFor] = string(pod.UID)
	return asked
}

// follow waits for a roll-out as long as its Deployment has hope for it.
func follow(d *appsv1.Deployment) Step {
	if d.Spec.Paused {
		return Step{Why: nameOf(d) + " is paused"}
	}
	if d.Status.ObservedGeneration < d.Generation {
		return Step{Verb: Wait} // what its status says is of an earlier roll-out
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse {
			return Step{Why: fmt.Sprintf("the roll-out of %s is stuck (%s)", nameOf(d), c.Reason)}
		}
	}
	return Step{Verb: Wait}
}

// orphaned is why no Deployment manages the pod.
func orphaned(pod *corev1.Pod, w Workload) string {
	ref := metav1.GetControllerOfNoCopy(pod)
	switch {
	case ref == nil:
		return "nothing makes it again"
	case ref.Kind != "ReplicaSet":
		return fmt.Sprintf("%s %s made it, and only Deployments can replace pods before they go", ref.Kind, ref.Name)
	case w.Set == nil:
		return fmt.Sprintf("its ReplicaSet %s is gone", ref.Name)
	case w.Deployment != nil:
		return ""
	}
	if owner := metav1.GetControllerOfNoCopy(w.Set); owner != nil && owner.Kind != "Deployment" {
		return fmt.Sprintf("%s %s made its ReplicaSet, and only Deployments can replace pods before they go", owner.Kind, owner.Name)
	}
	return fmt.Sprintf("its ReplicaSet %s has no Deployment", ref.Name)
}

// hindrance is why a Deployment cannot replace its pod before that goes.
func hindrance(w Workload) string {
	d := w.Deployment
	up, down := bounds(d)
	switch {
	case d.DeletionTimestamp != nil:
		return nameOf(d) + " is being deleted"
	case d.Spec.Template.Annotations[Annotation] != "true":
		return nameOf(d) + " does not have the annotation " + Annotation + " in its template"
	case replicas(d) != 1:
		return fmt.Sprintf("%s has %d replicas, and only single ones are replaced before they go", nameOf(d), replicas(d))
	case d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		return nameOf(d) + " has strategy Recreate, which ends pods first"
	case down > 0:
		return fmt.Sprintf("maxUnavailable of %s comes to %d of 1 pod", nameOf(d), down)
	case up < 1:
		return fmt.Sprintf("maxSurge of %s comes to 0", nameOf(d))
	case d.Spec.Paused:
		return nameOf(d) + " is paused"
	}
	for _, claim := range w.Claims {
		if exclusive(claim) {
			return fmt.Sprintf("its volume claim %s can be used on one node only", claim.Name)
		}
	}
	return ""
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// quarter is what the API makes of bounds that are not given.
var quarter = intstr.FromString("25%")

// bounds are how many pods a roll-out of a single replica may add, and take before. As with
// the Deployment's controller, a surge is rounded up, and what may be missing down; a bound
// that cannot be read allows no surge.
func bounds(d *appsv1.Deployment) (up, down int) {
	surge, missing := &quarter, &quarter
	if rolling := d.Spec.Strategy.RollingUpdate; rolling != nil {
		surge, missing = cmp.Or(rolling.MaxSurge, surge), cmp.Or(rolling.MaxUnavailable, missing)
	}
	up, err := intstr.GetScaledValueFromIntOrPercent(surge, 1, true)
	if err != nil {
		return 0, 0
	}
	down, err = intstr.GetScaledValueFromIntOrPercent(missing, 1, false)
	if err != nil {
		return 0, 0
	}
	return up, down
}

// exclusive reports whether all modes of a claim tie its volume to one node, or one pod. A
// second pod elsewhere would wait for the first to go.
func exclusive(claim *corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(claim.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m != corev1.ReadWriteOnce && m != corev1.ReadWriteOncePod
	})
}

// sameTemplate compares as the Deployment's controller does: a ReplicaSet has the
// Deployment's template and a hash of it.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	return equality.Semantic.DeepEqual(unhashed(a), unhashed(b))
}

func unhashed(t *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	out := t.DeepCopy()
	delete(out.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return out
}

func nameOf(d *appsv1.Deployment) string { return "Deployment " + d.Namespace + "/" + d.Name }
