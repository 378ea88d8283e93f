package cloud

import (
	"context"
	"fmt"
	"time"

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

// GroupWriter is implemented by providers that change the size of groups.
type GroupWriter interface {
	// Resize has the cloud keep a group at another size, a smaller one only if the group has no more instances. It looks at
	// the group first: if the cloud keeps another
	// size than from, or does not allow to, it returns a GroupChanged and changes nothing. Groups shows afterwards
	// what was found or written.
	Resize(ctx context.Context, group string, from, to int64) error
	// End ends an instance of a group. It looks at the group first. If the group is above its minimum, the desired size
	// becomes one less with the same call; otherwise the cloud replaces the instance. An instance that is ending already
	// is left alone, so that a repeated call changes nothing. It returns the desired size that the cloud keeps
	// then, and a NotFound if the group does not have the instance. Groups shows afterwards what was found or done.
	End(ctx context.Context, group, providerID string) (desired int64, err error)
}

// Groups are read and written.
type Groups interface {
	GroupReader
	GroupWriter
}

// GroupChanged means that a group is not as the caller saw it. Nothing was changed. Decide again.
type GroupChanged struct {
	Group   string
	Message string // what is different, for people
}

// Error says what is different.
func (e *GroupChanged) Error() string { return "node group " + e.Group + ": " + e.Message }

// MayResize returns a GroupChanged if a group, as the cloud describes it now, must not be brought from one size to another.
func MayResize(g *Group, from, to int64) error {
	switch {
	case g.Desired != from:
		return &GroupChanged{g.Name, fmt.Sprintf("its desired size is %d and no longer %d", g.Desired, from)}
	case to < from && to < g.Alive():
		return &GroupChanged{g.Name, fmt.Sprintf("with a desired size of %d the cloud would end one of its %d instances", to, g.Alive())}
	case to < g.Min || to > g.Max:
		return &GroupChanged{g.Name, fmt.Sprintf("a desired size of %d is not between %d and %d", to, g.Min, g.Max)}
	}
	return nil
}

// Find is the instance with a provider ID; nil if the group does not have it.
func (g *Group) Find(providerID string) *GroupInstance {
	for i := range g.Instances {
		if g.Instances[i].ProviderID == providerID {
			return &g.Instances[i]
		}
	}
	return nil
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
	// Failure is why the cloud could not launch an instance the last time it tried; nil if it could, or if nothing is missing.
	Failure *GroupFailure
	// Options are the group's own options, by name.
	Options  map[string]string
	Problems []GroupProblem
}

// Alive is how many instances the group has that are not ending.
func (g *Group) Alive() int64 {
	n := int64(0)
	for i := range g.Instances {
		if g.Instances[i].State != Terminating {
			n++
		}
	}
	return n
}

// GroupFailure is a launch that failed.
type GroupFailure struct {
	At time.Time
	// Reason is one for a condition; Message is what the cloud said.
	Reason, Message string
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
