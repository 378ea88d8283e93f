package cloud

import (
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// Claim is what a provider needs to know of a NodeClaim. All of it comes from the object in the API server,
// which never changes after its creation, so a retry after a crash asks for the same.
type Claim struct {
	// UID is the object's, and the token of the purchase.
	UID  string
	Name string
	// Pool is empty for claims that people made by hand.
	Pool  string
	Class ClassRef
	// Requirements are everything that the node's labels must satisfy, minimums included.
	// Keys that an offering says nothing about (the pool's own labels) do not bind it.
	Requirements requirement.Set
	// Requests must fit what is allocatable, daemons included.
	Requests model.Resources
	// Labels are the labels that the node starts with, in addition to those of the machine. Annotations are
	// the object's.
	Labels      map[string]string
	Annotations map[string]string
	// Taints and StartupTaints are the claim's; see BootTaints.
	Taints        []model.Taint
	StartupTaints []model.Taint
	// BestEffortMinimum allows a purchase even if a minimum of values cannot be kept at the moment.
	BestEffortMinimum bool
	// Replaces says that the claim replaces running nodes: no pod waits for it, and claims for unschedulable
	// pods go first.
	Replaces bool
	// Catalog is the catalogue of CatalogReader with the overlays of the claim's pool on prices and
	// capacities. Nil means that there are none. The provider uses these prices and capacities; it knows
	// better than this catalogue what is available.
	Catalog *catalog.Catalog
}

// ClassRef names a node class: an object with the provider's own settings.
type ClassRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// String is Kind/name, as people say it.
func (c ClassRef) String() string { return c.Kind + "/" + c.Name }

// Unregistered is on every node from its first moment until the claim's labels and taints
// are on it, so that no pod runs there before. The machine's bootstrap must put it there.
func Unregistered() model.Taint {
	return model.Taint{Key: "karpenter.sh/unregistered", Effect: model.NoExecute}
}

// BootTaints returns the taints that the machine's bootstrap gives the node: Unregistered and the claim's.
func (c *Claim) BootTaints() []model.Taint {
	taints := make([]model.Taint, 0, 1+len(c.Taints)+len(c.StartupTaints))
	taints = append(taints, Unregistered())
	taints = append(taints, c.Taints...)
	return append(taints, c.StartupTaints...)
}
