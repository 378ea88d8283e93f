package v1

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"tenon/api/scalar"
)

// UnmarshalJSON reads a claim's status. It drops a quantity that cannot be read, so that the quantity neither makes
// lists of claims unreadable nor takes long to parse.
func (s *NodeClaimStatus) UnmarshalJSON(text []byte) error {
	type plain NodeClaimStatus
	raw := struct {
		*plain
		Capacity    json.RawMessage `json:"capacity"`
		Allocatable json.RawMessage `json:"allocatable"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	var err error
	if s.Capacity, err = readable(raw.Capacity); err != nil {
		return fmt.Errorf("capacity: %w", err)
	}
	if s.Allocatable, err = readable(raw.Allocatable); err != nil {
		return fmt.Errorf("allocatable: %w", err)
	}
	return nil
}

// UnmarshalJSON reads a pool's status, and drops quantities as for a claim.
func (s *NodePoolStatus) UnmarshalJSON(text []byte) error {
	type plain NodePoolStatus
	raw := struct {
		*plain
		Resources json.RawMessage `json:"resources"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	var err error
	if s.Resources, err = readable(raw.Resources); err != nil {
		return fmt.Errorf("resources: %w", err)
	}
	return nil
}

// readable returns the resources of a list whose quantities can be read.
func readable(text json.RawMessage) (corev1.ResourceList, error) {
	if text == nil {
		return nil, nil
	}
	list, err := scalar.Resources(text)
	maps.DeleteFunc(list, func(_ corev1.ResourceName, q resource.Quantity) bool { return !scalar.IsReadable(q) })
	return list, err
}
