// Package view is the fleet as people look at it: pools, nodes and pods with their use, their price and
// their next disruption, and the pending pods with the reason. The terminal viewer and the dashboard both
// show it.
//
// It is made from the objects of any cluster, with or without Tenon, one at a time as they change;
// of each object only what is shown is kept. It must neither read from a cluster nor draw.
package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tenon/core/model"
)

// HoursPerMonth is what a month counts for: 8760 hours a year in twelve equal parts.
const HoursPerMonth = 730

// Fleet is the picture at one moment. It is not changed any more; what did not change is shared
// with the picture before it.
type Fleet struct {
	// Revision grows with every change.
	Revision uint64
	// Managed says that the cluster knows NodePools.
	Managed bool
	Pools   []*Pool // by name; nodes that belong to none are in the one without a name, the last
	Nodes   []*Node // by name
	Pending []*Pod  // the oldest first
	Total   Total
	Notices []Notice // the newest first
}

// Total is what some nodes are together.
type Total struct {
	Nodes, Ready int
	Pods         int
	Price        model.Money
	// Unpriced nodes are not in Price.
	Unpriced int
	// Idle is the part of Price that no pod requests, and Overhead that of daemons.
	Idle, Overhead model.Money
	// Blocked nodes must not go, Leaving ones do.
	Blocked, Leaving                int
	Allocatable, Requested, Daemons model.Resources
}

// Monthly is a price an hour for a month.
func Monthly(hourly model.Money) model.Money { return hourly * HoursPerMonth }

// Pool is a NodePool, or another kind of group of nodes: a node group of a cloud.
type Pool struct {
	Name string
	// Kind is NodePool, or what the cloud calls it; empty for nodes without any.
	Kind  string
	Total Total
	Nodes []*Node
	// Limits are what the pool may have at most, by resource.
	Limits []model.Amount
	// Notices are conditions that an operator should look at, such as a limit that is reached.
	Notices []Notice
}

// Notice is one thing that the cluster says about an object.
type Notice struct {
	Kind, Name, Reason, Message string
	At                          time.Time
	Warning                     bool
}

// Phase is how far a node has come.
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

// Verdict is what disruption would do with a node, or what keeps it.
type Verdict struct {
	// Word is the reason of the condition: Kept, Blocked, Waiting, Empty, …; empty if nothing is said.
	Word    string
	Message string
	Since   time.Time
}

// Node is a machine, or the claim for one that has not joined.
type Node struct {
	// Name is the node's, or the claim's while there is no node.
	Name, Claim, Instance string
	Pool, PoolKind        string
	Type, Zone, Region    string
	CapacityType          string // on-demand, spot, reserved, fargate, or empty if nothing says it
	Arch                  string
	Auto                  bool // of EKS Auto Mode
	Labels                map[string]string
	Created               time.Time
	Phase                 Phase
	// Since is when the phase began, where something says it.
	Since    time.Time
	Cordoned bool
	// Going is why the node is given up, empty if it is not.
	Going   string
	Verdict Verdict

	Price  model.Money
	Source Source
	// Idle is the part of the price that no pod requests, and Overhead that of daemons.
	Idle, Overhead model.Money
	// recorded is what the claim says about the price; empty if it says none.
	recorded string

	Allocatable, Requested, Daemons model.Resources
	Pods                            []*Pod // by namespace and name
}

// Leaving reports whether the node is on its way out.
func (n *Node) Leaving() bool { return n.Phase == Draining || n.Phase == Deleting || n.Going != "" }

// Use is how much of a resource is requested, as a fraction; nothing to use is none.
func Use(requested, allocatable model.Resources, resource string) float64 {
	all := allocatable.Get(resource)
	if all <= 0 {
		return 0
	}
	return float64(requested.Get(resource)) / float64(all)
}

// Pod is what is shown of a pod.
type Pod struct {
	Namespace, Name string
	// Owner is what made it, as Kind/name; of a ReplicaSet of a Deployment the Deployment.
	Owner    string
	Node     string
	Phase    string
	Created  time.Time
	Requests model.Resources
	Daemon   bool
	// Ending pods are being deleted.
	Ending bool
	// Flags say what keeps it where it is, such as do-not-disrupt.
	Flags []string
	// Cost is its part of its node's price.
	Cost model.Money
	// Why it has no node, in the words of Source.
	Why, Teller string

	uid string
}

// Key is the pod's name with its namespace.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

func comparePods(a, b *Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Find is the node of that name, or of that claim; nil if there is none.
func (f *Fleet) Find(name string) *Node {
	at := slices.IndexFunc(f.Nodes, func(n *Node) bool { return n.Name == name || n.Claim == name })
	if at < 0 {
		return nil
	}
	return f.Nodes[at]
}
