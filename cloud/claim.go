package cloud

import (
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// Claim is what a provider needs to know of a NodeClaim. All of it comes from the object
// in the API server, which never changes once it is there, so a retry after a crash asks
// for the same.
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
	// Labels are those that the node is born with, beside the ones that come with the
	// machine. Annotations are the object's.
	Labels      map[string]string
	Annotations map[string]string
	// Taints and StartupTaints are the claim's; see BootTaints.
	Taints        []model.Taint
	StartupTaints []model.Taint
	// BestEffortMinimum says that a minimum of values which cannot be kept at the moment
	// is no reason to buy nothing.
	BestEffortMinimum bool
	// Replaces says that the claim takes the place of nodes that run: no pod waits for it, and
	// claims for pods that have no place go first.
	Replaces bool
	// Catalog is Market.Catalog as the claim's pool sees it, with overlays on prices and
	// capacities. Nil means that there are none. The provider decides by these prices and
	// capacities; that something can be had it knows better itself.
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

// BootTaints are those that the machine's bootstrap gives the node: Unregistered and the
// claim's.
func (c *Claim) BootTaints() []model.Taint {
	taints := make([]model.Taint, 0, 1+len(c.Taints)+len(c.StartupTaints))
	taints = append(taints, Unregistered())
	taints = append(taints, c.Taints...)
	return append(taints, c.StartupTaints...)
}
