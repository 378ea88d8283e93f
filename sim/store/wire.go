package store

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// message is implemented by Kubernetes' own kinds, which clients send as protocol buffers. Encoding those is far
// cheaper than encoding JSON.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// received returns an object as a server receives it: without what the encoding does not carry, such as fractions of
// seconds, and without fields that the kind does not have. The result may lack the part that the request does not
// write, because prepare takes that part from the stored object.
func (k *Kind) received(p part, object client.Object) (client.Object, error) {
	if lose, known := k.wording().carrierOf(reflect.TypeOf(k.proto).Elem()); known && reflect.TypeOf(object) == reflect.TypeOf(k.proto) {
		into := clone(k.about(p, object))
		if lose(reflect.ValueOf(into).Elem()) == nil {
			into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			into.SetManagedFields(nil)
			return into, nil
		}
	}
	return k.encoded(object)
}

// about returns an object without the field that a request does not change.
func (k *Kind) about(p part, object client.Object) client.Object {
	left := version(object)
	switch {
	case p == status:
		clearField("Spec", left)
	case p == whole && k.Status:
		clearField("Status", left)
	}
	return left
}

func (k *Kind) wording() *wording {
	if _, own := k.proto.(message); own && k.admit == nil {
		return asMessage
	}
	return asJSON
}

// encoded does the work of received by encoding and decoding, for objects that no carrier can handle.
func (k *Kind) encoded(object client.Object) (client.Object, error) {
	if m, own := object.(message); own && k.admit == nil {
		return k.unpacked(m)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", object, err)
	}
	return k.decode(text)
}

func (k *Kind) unpacked(m message) (client.Object, error) {
	text, err := m.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", m, err)
	}
	into := k.blank()
	if err := into.(message).Unmarshal(text); err != nil {
		return nil, fmt.Errorf("decode %s: %w", k.GVK.Kind, err)
	}
	into.SetManagedFields(nil)
	return into, nil
}

func (k *Kind) decode(text []byte) (client.Object, error) {
	into := k.blank()
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("decode %s: %w", k.GVK.Kind, err)
	}
	into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	into.SetManagedFields(nil)
	return into, nil
}

// content returns the object as decoded JSON, with its kind.
func (k *Kind) content(object client.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", k.GVK.Kind, err)
	}
	content["apiVersion"], content["kind"] = k.GVK.GroupVersion().String(), k.GVK.Kind
	return content, nil
}

// Answer copies a stored object into the caller's object.
func (k *Kind) Answer(out, stored client.Object) error {
	switch out := out.(type) {
	case *unstructured.Unstructured:
		content, err := k.content(stored)
		if err != nil {
			return err
		}
		out.Object = content
	case *metav1.PartialObjectMetadata:
		k.describe(out, stored)
	default:
		return assign(out, stored.DeepCopyObject().(client.Object))
	}
	return nil
}

func (k *Kind) describe(out *metav1.PartialObjectMetadata, stored client.Object) {
	copied := reflect.ValueOf(stored.DeepCopyObject()).Elem().FieldByName("ObjectMeta").Interface()
	out.ObjectMeta = copied.(metav1.ObjectMeta)
	out.SetGroupVersionKind(k.GVK)
}

// assign does *out = *value for two pointers of the same type.
func assign(out, value client.Object) error {
	to, from := reflect.ValueOf(out), reflect.ValueOf(value)
	if to.Type() != from.Type() {
		return fmt.Errorf("a %T cannot hold a %T", out, value)
	}
	to.Elem().Set(from.Elem())
	return nil
}

// shareField sets a field of one object to that of another of the same type. Both then share what the field points
// to, which must not be changed because it may belong to a stored object.
func shareField(name string, to, from client.Object) {
	if target := reflect.ValueOf(to).Elem().FieldByName(name); target.IsValid() {
		target.Set(reflect.ValueOf(from).Elem().FieldByName(name))
	}
}

func clearField(name string, of client.Object) {
	if f := reflect.ValueOf(of).Elem().FieldByName(name); f.IsValid() {
		f.SetZero()
	}
}

// same compares one field of two objects of the same type.
func same(name string, a, b client.Object) bool {
	x, y := reflect.ValueOf(a).Elem().FieldByName(name), reflect.ValueOf(b).Elem().FieldByName(name)
	return !x.IsValid() || alike(x.Addr().Interface(), y.Addr().Interface())
}

// version returns a shallow copy of an object, for its next version. The caller may replace fields of the copy, but must
// not change what they point to.
func version(of client.Object) client.Object {
	next := reflect.New(reflect.TypeOf(of).Elem())
	next.Elem().Set(reflect.ValueOf(of).Elem())
	return next.Interface().(client.Object)
}

func clone(object client.Object) client.Object { return object.DeepCopyObject().(client.Object) }
