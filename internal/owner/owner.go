// Package owner says what made an object. A controller reference is text that the author of
// the object has written: the right to make a pod is enough to name any ReplicaSet or
// DaemonSet in it. So a reference is followed only if group, kind, namespace, name and UID
// agree, and this package is the one place that compares them.
//
//	owner.Of(pod) == owner.Is("apps/v1", "ReplicaSet", set)
//
// The package must not look anything up.
package owner

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ref is an owner. Two that are equal are the same object; the zero value is none.
type Ref struct {
	Group, Kind     string
	Namespace, Name string
	UID             types.UID
}

// Of is the owner that the controller reference of an object names. Versions of a group are
// views of the same objects, and do not count.
func Of(object metav1.Object) Ref {
	ref := metav1.GetControllerOfNoCopy(object)
	if ref == nil {
		return Ref{}
	}
	return Ref{Group: groupOf(ref.APIVersion), Kind: ref.Kind, Namespace: namespaceOf(object), Name: ref.Name, UID: ref.UID}
}

// Is is the reference that objects have which an object of this version and kind has made.
func Is(apiVersion, kind string, object metav1.Object) Ref {
	return Ref{Group: groupOf(apiVersion), Kind: kind, Namespace: namespaceOf(object), Name: object.GetName(), UID: object.GetUID()}
}

// IsA reports whether the reference names an object of this version's group, and of this kind.
func (r Ref) IsA(apiVersion, kind string) bool {
	return r.Group == groupOf(apiVersion) && r.Kind == kind
}

// None reports whether there is no owner.
func (r Ref) None() bool { return r == Ref{} }

// Compare orders references by namespace, name and the rest.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(
		strings.Compare(r.Namespace, other.Namespace),
		strings.Compare(r.Name, other.Name),
		strings.Compare(r.Group, other.Group),
		strings.Compare(r.Kind, other.Kind),
		strings.Compare(string(r.UID), string(other.UID)),
	)
}

func groupOf(apiVersion string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

// namespaceOf is where kubectl would put an object that does not say.
func namespaceOf(o metav1.Object) string { return cmp.Or(o.GetNamespace(), metav1.NamespaceDefault) }

// Workload returns what a pod belongs to, as Kind/name, and whether nodes run such pods of their own: pods of
// DaemonSets and those of a kubelet. For a ReplicaSet that a Deployment has made it is the Deployment, as far
// as the names say so. It is for people to read, and is not compared.
func Workload(pod metav1.Object) (name string, daemon bool) {
	ref := Of(pod)
	if ref.None() {
		return "", false
	}
	if hash := pod.GetLabels()["pod-template-hash"]; ref.Kind == "ReplicaSet" && hash != "" {
		if deployment, is := strings.CutSuffix(ref.Name, "-"+hash); is {
			return "Deployment/" + deployment, false
		}
	}
	return ref.Kind + "/" + ref.Name, ref.IsA("apps/v1", "DaemonSet") || ref.IsA("v1", "Node")
}
