// Package view is the fleet as users see it: pools, nodes and pods with their use, their price and their
// next disruption, and the pending pods with the reason. The terminal viewer and the dashboard both show
// it.
//
// A view is built from the objects of any cluster, with or without Tenon, one at a time as they change;
// it keeps only what is shown of each object. The package must neither read from a cluster nor draw.
package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
)

// HoursPerMonth is the length of a month: a twelfth of a year of 8760 hours.
const HoursPerMonth = 730

// Fleet is the picture at one moment. It does not change; it shares unchanged parts with the picture
// before it.
type Fleet struct {
	// Revision grows with every change.
	Revision uint64
	// Managed says that the cluster knows NodePools.
	Managed bool
	// Published is when the controller published its prices; zero if none did.
	Published time.Time
	// Currency of all prices, as ISO 4217 has it; empty if it is not known.
	Currency string
	// Discounts names what is paid less than known prices; empty if nothing is.
	Discounts string
	Pools     []*Pool // by name; the last has no name, and holds the nodes that belong to no pool
	Nodes     []*Node // by name
	Pending   []*Pod  // the oldest first
	Total     Total
	Notices   []Notice // the newest first
}

// Total sums up some nodes.
type Total struct {
	Nodes, Ready int
	Pods         int
	Price        model.Money
	// Unpriced counts the nodes that are missing from Price.
	Unpriced int
	// Idle is the part of Price that no pod requests, and Overhead the part that daemons request.
	Idle, Overhead model.Money
	// Blocked counts nodes that must not be disrupted, Leaving counts those that are leaving.
	Blocked, Leaving                int
	Allocatable, Requested, Daemons model.Resources
	// Used is what the measured nodes really use, and Measured what they have allocatable.
	Used, Measured model.Resources
}

// Monthly converts a price an hour to a price a month.
func Monthly(hourly model.Money) model.Money { return hourly * HoursPerMonth }

// Pool is a NodePool or another kind of group of nodes, such as a cloud's node group.
type Pool struct {
	Name string
	// Kind is NodePool, or the cloud's word for the group; empty for nodes without a group.
	Kind  string
	Total Total
	Nodes []*Node
	// Object is the name of the NodePool or NodeGroup; empty if there is no such object. A NodeGroup's own name may differ
	// from the group's.
	Object string
	// Class is the kind and name of the class of a NodePool's nodes.
	Class string
	// Limits are the pool's limits, by resource, and Has is what counts towards them: the resources of its nodes as its
	// controller last counted them, including nodes that are starting.
	Limits []model.Amount
	Has    model.Resources
	// Savings are the expected and the realised savings of settled moves of the pool's nodes.
	Savings Savings
	// Notices are conditions that an operator should look at, such as a limit that the pool has reached.
	Notices []Notice
	// disruption says when nodes may be removed; nil if the pool does not say it.
	disruption *karpenterv1.Disruption
}

// Limited returns how much of a limited resource the pool has.
func (p *Pool) Limited(resource string) int64 {
	switch {
	case resource == model.Nodes:
		return int64(p.Total.Nodes)
	case !p.Has.IsZero():
		return p.Has.Get(resource)
	}
	return p.Total.Allocatable.Get(resource)
}

// Savings are the sum over some moves.
type Savings struct {
	Moves int64
	// Predicted and Realised are prices an hour.
	Predicted, Realised model.Money
}

// Notice is one thing that the cluster says about an object.
type Notice struct {
	Kind, Name, Reason, Message string
	At                          time.Time
	Warning                     bool
}

// Phase says how far a node has come.
type Phase string

// The phases of a node.
const (
	Launching    Phase = "Launching"
	Registering  Phase = "Registering"
	Initializing Phase = "Initializing"
	Ready        Phase = "Ready"
	NotReady     Phase = "NotReady"
	Draining     Phase = "Draining"
	Deleting     Phase = "Deleting"
)

// Verdict says what disruption would do with a node, or what keeps the node.
type Verdict struct {
	// Word is the reason of the condition: Kept, Blocked, Waiting, Empty, …; empty if there is none.
	Word    string
	Message string
	Since   time.Time
}

// Node is a machine, or the claim for one that has not joined.
type Node struct {
	// Name is the node's name, or the claim's while there is no node.
	Name, Claim, Instance string
	Pool, PoolKind        string
	Type, Zone, Region    string
	CapacityType          string // on-demand, spot, reserved, fargate, or empty if unknown
	Arch                  string
	Auto                  bool // of EKS Auto Mode
	Labels                map[string]string
	Created               time.Time
	Phase                 Phase
	// Since is when the phase began, if that is known.
	Since    time.Time
	Cordoned bool
	// Going is the reason why the node is being removed; empty if it stays.
	Going   string
	Verdict Verdict

	Price  model.Money
	Source Source
	// Idle is the part of the price that no pod requests, and Overhead the part that daemons request.
	Idle, Overhead model.Money
	// recorded is the price on the claim; empty if it has none.
	recorded string

	Allocatable, Requested, Daemons model.Resources
	// list is the price before discounts and savings plans.
	list model.Money
	// Used is what the node really uses; zero if that is not measured.
	Used model.Resources
	Pods []*Pod // by namespace and name
}

// Leaving reports whether the node is being removed.
func (n *Node) Leaving() bool { return n.Phase == Draining || n.Phase == Deleting || n.Going != "" }

// Use returns how much of a resource is requested, as a fraction; 0 if there is none of the resource.
func Use(requested, allocatable model.Resources, resource string) float64 {
	all := allocatable.Get(resource)
	if all <= 0 {
		return 0
	}
	return float64(requested.Get(resource)) / float64(all)
}

// Pod holds what is shown of a pod.
type Pod struct {
	Namespace, Name string
	// Owner is the owner of the pod, as Kind/name; for a Deployment's ReplicaSet, the Deployment.
	Owner    string
	Node     string
	Phase    string
	Created  time.Time
	Requests model.Resources
	Daemon   bool
	// Ending says that the pod is being deleted.
	Ending bool
	// Flags say what keeps the pod where it is, such as do-not-disrupt.
	Flags []string
	// Cost is the pod's part of its node's price.
	Cost model.Money
	// Why is the reason why it has no node, in the words of Source.
	Why, Teller string

	uid string
}

// Key returns the pod's name with its namespace.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

func comparePods(a, b *Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Find returns the node with that name or claim; nil if there is none.
func (f *Fleet) Find(name string) *Node {
	at := slices.IndexFunc(f.Nodes, func(n *Node) bool { return n.Name == name || n.Claim == name })
	if at < 0 {
		return nil
	}
	return f.Nodes[at]
}
