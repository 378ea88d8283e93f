package reason

import (
	"bytes"
	"encoding/json"
)

// Unready is why no node may be bought from a pool. The zero value says that nodes may be bought.
type Unready struct {
	Code Code `json:"code"`
	// Kind and Group are those of the node class, for NodeClassUnmanaged.
	Kind  string `json:"kind,omitempty"`
	Group string `json:"group,omitempty"`
	// Message is what a condition, a check or a provider says.
	Message string `json:"message,omitempty"`
}

// Why no node may be bought from a pool, beside PoolStatic, PoolUnjudged and PoolLimitsAwaited.
const (
	NodeClassRefMissing Code = "NodeClassRefMissing"
	NodeClassUnmanaged  Code = "NodeClassUnmanaged" // Kind, Group
	PoolDeleted         Code = "PoolDeleted"
	PoolInvalid         Code = "PoolInvalid"     // Message: what a check of the pool says
	NotReady            Code = "NotReady"        // Message: what its conditions say
	CatalogMissing      Code = "CatalogMissing"  // no provider has a catalogue for it
	CatalogFailed       Code = "CatalogFailed"   // Message: what the provider says
	GroupObserved       Code = "GroupObserved"   // of a group
	GroupHandedOver     Code = "GroupHandedOver" // of a group
	NothingBought       Code = "NothingBought"   // of a request for room that is there
)

// Text is the reason in words.
func (u Unready) Text() string {
	switch u.Code {
	case None:
		return ""
	case NodeClassRefMissing:
		return "spec.template.spec.nodeClassRef is missing"
	case NodeClassUnmanaged:
		return "its node class is of a kind that is not managed here: " + u.Kind + " in group " + u.Group
	case PoolDeleted:
		return "is being deleted"
	case PoolInvalid, CatalogFailed:
		return u.Message
	case NotReady:
		return "not ready: " + u.Message
	case PoolUnjudged:
		return "not ready: awaiting reconciliation"
	case PoolStatic:
		return "is static: its nodes follow spec.replicas, not the pods"
	case CatalogMissing:
		return "there is no catalogue of instance types for it"
	case GroupObserved:
		return "its mode is observe: nothing changes its size"
	case GroupHandedOver:
		return "its mode is handover: pools replace its nodes"
	case NothingBought:
		return "no node is launched for a request of this class"
	case PoolLimitsAwaited:
		return "pods wait for what its limits leave"
	}
	return string(u.Code)
}

// UnmarshalJSON also reads the sentence that older snapshots have in its place.
func (u *Unready) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*u = Unready{Code: PoolInvalid}
		return json.Unmarshal(data, &u.Message)
	}
	type plain Unready
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	return strict.Decode((*plain)(u))
}
