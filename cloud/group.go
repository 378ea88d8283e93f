package cloud

import (
	"context"

	"tenon/core/model"
)

// GroupReader is implemented by providers whose cloud keeps groups of instances at a size.
type GroupReader interface {
	// Groups lists the groups that the operator named or the provider discovered, sorted by name. If it has
	// looked a moment ago, it answers from memory. A problem with one group is in the group's problems, not
	// in the error; an error means that nothing is known of any group.
	Groups(ctx context.Context) ([]Group, error)
	// Named lists the groups that the operator named, even if the cloud does not answer.
	Named() []string
}

// Group is a set of instances that the cloud keeps at a size. Tenon assumes that the nodes of a group are
// alike.
type Group struct {
	Name string
	// Missing means that the operator named the group but the cloud does not have it. Then only Name, Min and
	// Max are set.
	Missing bool
	// Min and Max bound the size of the group, and Desired is the size at which the cloud keeps it.
	Min, Max, Desired int64
	// Types, CapacityTypes and Zones are what the cloud chooses from for the next instance.
	Types, CapacityTypes, Zones []string
	// Next describes a further instance; nil if that is not known, in which case Problems says why.
	Next *GroupTemplate
	// Instances are in the order of their provider IDs.
	Instances []GroupInstance
	// Options are the group's own options, by name.
	Options  map[string]string
	Problems []GroupProblem
}

// GroupTemplate is what every further instance of a group has at least.
type GroupTemplate struct {
	// Labels and Taints of the node. Labels whose value the cloud chooses are not among them.
	Labels map[string]string
	Taints []model.Taint
	// Chosen lists labels with the values from which the cloud chooses one, sorted. Tenon must not rely on a
	// single value.
	Chosen map[string][]string
	// Capacity and Allocatable are the minimum over all instance types. Declared is the part of them that
	// comes only from the group's own settings, so a running node may lack it.
	Capacity, Allocatable, Declared model.Resources
	// Price is what an hour costs at most; zero if it is not known.
	Price model.Money
}

// GroupInstance is an instance of a group.
type GroupInstance struct {
	ProviderID         string
	InstanceType, Zone string
	State              State
	// Price is what an hour costs at most; zero if it is not known.
	Price model.Money
}

// GroupProblem is something about a group that people have to know.
type GroupProblem struct {
	Effect GroupEffect
	// Reason is one for a condition (see ValidReason); Message says what is wrong, and Remedy what to do.
	Reason, Message, Remedy string
}

// GroupEffect is the effect of a problem.
type GroupEffect string

// The effects.
const (
	// Unsupported means that the group cannot be managed as a number of similar nodes.
	Unsupported GroupEffect = "Unsupported"
	// Unknown means that the next instance is not known, or not for certain.
	Unknown GroupEffect = "Unknown"
	// Hindered means that the group can be managed, but with a limitation.
	Hindered GroupEffect = "Hindered"
)
