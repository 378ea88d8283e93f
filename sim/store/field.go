package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldsOf gives field selectors the fields of an object by which a server lists its kind. It reads a field when
// the selector asks for it: most selectors ask for one or two.
type fieldsOf struct {
	kind   *Kind
	object client.Object
}

var _ fields.Fields = fieldsOf{}

// Has implements fields.Fields.
func (f fieldsOf) Has(field string) bool {
	switch field {
	case "metadata.name":
		return true
	case "metadata.namespace":
		return f.kind.Namespaced
	case "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.nominatedNodeName":
		_, pod := f.kind.proto.(*corev1.Pod)
		return pod
	case "spec.unschedulable":
		_, node := f.kind.proto.(*corev1.Node)
		return node
	}
	return slices.Contains(f.kind.selectable, field)
}

// Get implements fields.Fields.
func (f fieldsOf) Get(field string) string {
	switch {
	case field == "metadata.name":
		return f.object.GetName()
	case field == "metadata.namespace":
		return f.object.GetNamespace()
	case slices.Contains(f.kind.selectable, field):
		return f.kind.selected(f.object, field)
	}
	switch object := f.object.(type) {
	case *corev1.Pod:
		return podField(object, field)
	case *corev1.Node:
		return strconv.FormatBool(object.Spec.Unschedulable)
	}
	return ""
}

func podField(pod *corev1.Pod, field string) string {
	switch field {
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.restartPolicy":
		return string(pod.Spec.RestartPolicy)
	case "spec.schedulerName":
		return pod.Spec.SchedulerName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "status.phase":
		return string(pod.Status.Phase)
	case "status.nominatedNodeName":
		return pod.Status.NominatedNodeName
	}
	return ""
}

// selected returns the field of a custom object at a path, as text.
func (k *Kind) selected(object client.Object, path string) string {
	content, err := k.content(object)
	if err != nil {
		return ""
	}
	value, _, _ := unstructured.NestedFieldNoCopy(content, strings.Split(path, ".")...)
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// checkFields refuses a selector with a field by which a server does not list the kind.
func (k *Kind) checkFields(selector fields.Selector) error {
	if selector == nil {
		return nil
	}
	known := fieldsOf{kind: k}
	for _, r := range selector.Requirements() {
		if !known.Has(r.Field) {
			return apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", r.Field))
		}
	}
	return nil
}
