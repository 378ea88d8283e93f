package cloud

import (
	"context"

	"tenon/core/model"
)

// GroupReader is implemented by providers whose cloud keeps groups of instances at a size.
type GroupReader interface {
	// Groups lists the groups that the provider was told of or has discovered, by name. It answers from memory where it
	// has looked a moment ago. What is wrong with one group is among its problems, and is no error; after an error
	// nothing is known of any group.
	Groups(ctx context.Context) ([]Group, error)
	// Named are the groups that the provider was told of by name. They are there even if the cloud does not answer.
	Named() []string
}

// Group is a number of instances that the cloud keeps at a size. Nodes of a group are taken to be alike.
type Group struct {
	Name string
	// Missing: the provider was told of the group, and the cloud does not have it. Then only Name, Min and Max are set.
	Missing bool
	// Min is the floor, Max the ceiling, and Desired what the cloud keeps the group at.
	Min, Max, Desired int64
	// Types, CapacityTypes and Zones are what the cloud chooses from for the next instance.
	Types, CapacityTypes, Zones []string
	// Next is what a further instance has; nil if that is not known, for which there is a problem.
	Next *GroupTemplate
	// Instances are in the order of their provider IDs.
	Instances []GroupInstance
	// Options are those that the group has for itself, by name.
	Options  map[string]string
	Problems []GroupProblem
}

// GroupTemplate is what every further instance of a group has at least.
type GroupTemplate struct {
	// Labels and Taints of the node. Labels of which the cloud chooses the value are not among them.
	Labels map[string]string
	Taints []model.Taint
	// Chosen are labels of which the cloud chooses one of several values, sorted. Nothing may count on one of them.
	Chosen map[string][]string
	// Capacity and Allocatable are the least of all instance types. Declared is what of them the group's own settings
	// say, so that a node which runs may be without it.
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

// GroupEffect is what a problem leads to.
type GroupEffect string

// The effects.
const (
	// Unsupported groups cannot be managed as a number of like nodes.
	Unsupported GroupEffect = "Unsupported"
	// Unknown: what the next instance is like is not known, or not for sure.
	Unknown GroupEffect = "Unknown"
	// Hindered: the group can be managed, and something works against it.
	Hindered GroupEffect = "Hindered"
)
