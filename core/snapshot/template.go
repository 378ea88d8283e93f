package snapshot

import (
	"tenon/core/model"
	"tenon/core/requirement"
)

// Template is all that a rule can see of a pod. Pods of one template differ in name
// only.
type Template struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Owner names the workload for people: "Deployment/web".
	Owner string `json:"owner,omitempty"`
	// Daemon marks pods that a DaemonSet makes.
	Daemon bool `json:"daemon,omitempty"`
	// Requests are effective (init and sidecar containers, overhead, in-place resize)
	// and count the pod itself as one of "pods".
	Requests model.Resources `json:"requests"`
	Priority int32           `json:"priority,omitempty"`

	// Selector is the nodeSelector: it always holds.
	Selector requirement.Set `json:"selector,omitzero"`
	// Terms are the required node-affinity terms: one of them must hold. Empty means
	// no such rule.
	Terms []requirement.Set `json:"terms,omitempty"`
	// Preferred are the preferred node-affinity terms, heaviest first.
	Preferred   []WeightedTerm     `json:"preferred,omitempty"`
	Tolerations []model.Toleration `json:"tolerations,omitempty"`

	Spreads               []Spread           `json:"spreads,omitempty"`
	Affinity              []AffinityTerm     `json:"affinity,omitempty"`
	AntiAffinity          []AffinityTerm     `json:"antiAffinity,omitempty"`
	PreferredAffinity     []WeightedAffinity `json:"preferredAffinity,omitempty"`     // heaviest first
	PreferredAntiAffinity []WeightedAffinity `json:"preferredAntiAffinity,omitempty"` // heaviest first

	HostPorts []model.HostPort `json:"hostPorts,omitempty"`
	Volumes   []Volume         `json:"volumes,omitempty"`
}

// WeightedTerm is a preference for nodes.
type WeightedTerm struct {
	Weight int32           `json:"weight"`
	Term   requirement.Set `json:"term"`
}

// Spread is a topology spread constraint. Its matchLabelKeys are folded into Selector.
type Spread struct {
	Key      string         `json:"key"`
	MaxSkew  int32          `json:"maxSkew"`
	Selector model.Selector `json:"selector"`
	// Soft is ScheduleAnyway.
	Soft       bool  `json:"soft,omitempty"`
	MinDomains int32 `json:"minDomains,omitempty"`
	// IgnoreNodeAffinity is nodeAffinityPolicy: Ignore (Honor is the default).
	IgnoreNodeAffinity bool `json:"ignoreNodeAffinity,omitempty"`
	// HonorTaints is nodeTaintsPolicy: Honor (Ignore is the default).
	HonorTaints bool `json:"honorTaints,omitempty"`
}

// AffinityTerm is a pod affinity or anti-affinity term.
type AffinityTerm struct {
	Key      string         `json:"key"`
	Selector model.Selector `json:"selector"`
	// Namespaces are the resolved ones, sorted: a namespaceSelector has been applied.
	Namespaces []string `json:"namespaces"`
}

// WeightedAffinity is a preferred term.
type WeightedAffinity struct {
	Weight int32        `json:"weight"`
	Term   AffinityTerm `json:"term"`
}

// Volume is a persistent volume claim of a pod, resolved.
type Volume struct {
	// ID tells claims apart: two pods that share a claim share its attachment.
	ID string `json:"id"`
	// Driver is the CSI driver whose attachments are limited per node, or empty.
	Driver string `json:"driver,omitempty"`
	// Terms are the places where the volume is or may be: one must hold. Empty means
	// anywhere.
	Terms []requirement.Set `json:"terms,omitempty"`
}
