// Package owner identifies the object that made another. A controller reference is text that the
// author of the object has written: the right to create a pod is enough to name any ReplicaSet or
// DaemonSet in it. So a reference is followed only if group, kind, namespace, name and UID agree,
// and this package is the only place that compares them.
//
//	owner.Of(pod) == owner.Is("apps/v1", "ReplicaSet", set)
//
// The package must not read objects.
package owner

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ref is an owner. Two equal values are the same object; the zero value is none.
type Ref struct {
	Group, Kind     string
	Namespace, Name string
	UID             types.UID
}

// Of is the owner that the controller reference of an object names. The version of the group does
// not count, because versions are views of the same objects.
func Of(object metav1.Object) Ref {
	ref := metav1.GetControllerOfNoCopy(object)
	if ref == nil {
		return Ref{}
	}
	return Ref{Group: groupOf(ref.APIVersion), Kind: ref.Kind, Namespace: namespaceOf(object), Name: ref.Name, UID: ref.UID}
}

// Is is the reference in objects that were made by this object of this version and kind.
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

// namespaceOf is the namespace into which kubectl would put an object that names none.
func namespaceOf(o metav1.Object) string { return cmp.Or(o.GetNamespace(), metav1.NamespaceDefault) }

// Workload returns the workload of a pod, as Kind/name, and whether every node has its own such pods: pods of
// DaemonSets and those of a kubelet. For a ReplicaSet of a Deployment it is the Deployment, if the names show
// that. It is for people to read, and is not compared.
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
