package store

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patch changes a part of a stored object. A patch that names a version fails when another version is stored. A patch
// that names none is applied to the stored version.
func (s *Store) patch(k *Kind, p part, key types.NamespacedName, by types.PatchType, data []byte, try bool) (client.Object, error) {
	old, err := s.stored(k, key)
	if err != nil {
		return nil, err
	}
	if p == status && !k.Status {
		return nil, errNoSubresource
	}
	text, err := json.Marshal(old)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", k.GVK.Kind, err)
	}
	patched, err := k.apply(text, by, data)
	if err != nil {
		return nil, err
	}
	next, err := k.decode(patched)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if client.ObjectKeyFromObject(next) != key {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", next.GetName(), key.Name))
	}
	return s.replace(k, p, old, next, try)
}

// apply applies a patch of one type to an object's JSON.
func (k *Kind) apply(text []byte, by types.PatchType, data []byte) ([]byte, error) {
	switch {
	case by == types.JSONPatchType:
		return k.applyOperations(text, data)
	case by == types.MergePatchType:
		patched, err := jsonpatch.MergePatch(text, data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return patched, nil
	case by == types.StrategicMergePatchType && k.admit == nil:
		patched, err := strategicpatch.StrategicMergePatch(text, data, k.proto)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return patched, nil
	}
	return nil, k.unsupported()
}

func (k *Kind) applyOperations(text, data []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	patched, err := operations.Apply(text)
	if err != nil {
		// One possible reason is a "test" operation that fails.
		return nil, apierrors.NewGenericServerResponse(422, "", k.Resource, "", err.Error(), 0, false)
	}
	return patched, nil
}

// unsupported is the answer to a type of patch that the kind does not support. Its text lists server-side apply
// because real servers support it; this store does not.
func (k *Kind) unsupported() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 415, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
	}}
}
