// Package snapshot is everything that a decision may depend on, at one instant.
//
// A Snapshot is a value that does not change once it is built: internal/ingest and
// internal/world make them, core reads them, and the codec writes them to a file and
// reads them back. References between its parts are names or indexes, never pointers,
// and everything that needs a look-up in the API (owners, volumes, namespaces of
// affinity terms, default spreads, overlays) has been resolved into it.
package snapshot

import (
	"time"

	"tenon/core/catalog"
	"tenon/core/expand"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
)

// Snapshot is the input of every decision.
type Snapshot struct {
	Now      time.Time         `json:"now"`
	Settings Settings          `json:"settings"`
	Catalogs []catalog.Catalog `json:"catalogs"`
	Pools    []Pool            `json:"pools"`
	Nodes    []Node            `json:"nodes"`
	// Templates are what rules look at in a pod. Pods refer to them by index, so that
	// a Deployment of 10,000 replicas is described once.
	Templates []Template `json:"templates"`
	Pods      []Pod      `json:"pods"`
	Daemons   []Daemon   `json:"daemons,omitempty"`
	// Gated pods are not among Pods; by namespace and name.
	Gated []Gated `json:"gated,omitempty"`
	// Budgets bound the evictions of the pods that refer to them; by namespace and name.
	Budgets []Budget `json:"budgets,omitempty"`
	// Buffers are room that is to be kept free; those of CapacityBuffers first, each by namespace and name.
	Buffers []Buffer `json:"buffers,omitempty"`
	// Answers are those of servers of the expander grpc to questions about this snapshot.
	Answers []expand.Answer `json:"answers,omitempty"`
	// Waiting is what decisions before have put off, and what they put it off for.
	Waiting Waiting `json:"waiting,omitzero"`
}

// Settings are the options of the decision itself.
type Settings struct {
	Preferences       Preferences `json:"preferences"`
	BestEffortMinimum bool        `json:"bestEffortMinimum,omitempty"` // minValues may be lowered
	ReservedCapacity  bool        `json:"reservedCapacity,omitempty"`
	SpotToSpot        bool        `json:"spotToSpot,omitempty"`
	StaticCapacity    bool        `json:"staticCapacity,omitempty"` // missing replicas of static pools are bought
	GuideMoves        bool        `json:"guideMoves,omitempty"`     // kube-scheduler is led to the nodes where moved pods are planned
	// Expanders say which of several groups that are managed by the rules of Cluster Autoscaler grows, as package expand has
	// them. It is the price if there are none.
	Expanders []string `json:"expanders,omitempty"`
	// Balance is how new nodes are handed out among such groups that are alike; nil leaves that to the price.
	Balance *Balance `json:"balance,omitempty"`
	// Limits are the ceilings on the sum of the capacities of all nodes, as those of a pool are on the sum of its nodes. Floors
	// are the sums below which no node is removed by the rules of Cluster Autoscaler.
	Limits []model.Amount `json:"limits,omitempty"`
	Floors []model.Amount `json:"floors,omitempty"`
	// WellKnown labels may be selected by pods although no pool defines them.
	WellKnown requirement.KeySet `json:"wellKnown,omitzero"`
}

// Balance says when groups are alike: if they have the same values of Labels, if there are any. Otherwise all labels but the Ignored
// ones have to be the same, and amounts may differ by a part of the larger one, in thousandths: of memory, of what pods can
// use, and of what daemons leave of that.
type Balance struct {
	Ignored     []string `json:"ignored,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Memory      int      `json:"memory,omitempty"`
	Allocatable int      `json:"allocatable,omitempty"`
	Free        int      `json:"free,omitempty"`
}

// Preferences says what happens to soft constraints.
type Preferences string

// Respect treats preferences as rules and drops them one by one when they cannot
// hold; Ignore leaves them out; Weigh gives each a price and drops it when honouring
// it costs more.
const (
	Respect Preferences = "Respect"
	Ignore  Preferences = "Ignore"
	Weigh   Preferences = "Weigh"
)

// Pool is a NodePool, or a group of instances, that may be asked for nodes.
type Pool struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight,omitempty"`
	// Requirements join the pool's own, its labels, its name and its node class.
	Requirements requirement.Set `json:"requirements"`
	// Labels are those that every node gets: the template's, the pool's name and its node
	// class.
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Taints        []model.Taint     `json:"taints,omitempty"`
	StartupTaints []model.Taint     `json:"startupTaints,omitempty"`
	// Limits are the ceilings on the sum of the capacities of the pool's nodes;
	// the name "nodes" counts nodes. A limit of zero is a limit.
	Limits []model.Amount `json:"limits,omitempty"`
	// Catalog is an index into Snapshot.Catalogs.
	Catalog CatalogIndex `json:"catalog"`
	// Unready is why no node may be bought from the pool for pods. The nodes that it has count.
	Unready reason.Unready `json:"unready,omitzero"`
	// Replicas is set for static pools: how many nodes they should have.
	Replicas *int64 `json:"replicas,omitempty"`
	// Held is why a static pool may not launch its missing replicas. For pods it is Unready in any case.
	Held reason.Unready `json:"held,omitzero"`
	// NodePrice is what each node costs an hour beyond its machine: licences, agents, addresses.
	NodePrice model.Money `json:"nodePrice,omitempty"`
	// PriceCeiling is how many hundredths of the price of what would do a new node may cost where
	// that is out of stock; 0 is without a ceiling.
	PriceCeiling int64 `json:"priceCeiling,omitempty"`
	// Consolidation is when its nodes may be given up.
	Consolidation Consolidation `json:"consolidation,omitzero"`
	// Group is set if the pool stands for a group of instances; its name is that of GroupPool then.
	Group *Group `json:"group,omitempty"`
}

// OfCluster reports whether an amount in a list of what a pool may still launch is a limit of the cluster: these follow those of the
// pool.
func (s *Snapshot) OfCluster(list []model.Amount, at int) bool {
	return at >= len(list)-len(s.Settings.Limits)
}

// MayLaunch reports whether nodes may be bought from the pool for pods.
func (p *Pool) MayLaunch() bool { return p.Unready.Code == reason.None }

// NotReady reports whether nothing can be bought from the pool until it is ready, which may be in a moment: after a change of
// its spec, or while its catalogue cannot be read. A group grows by its own rules.
func (p *Pool) NotReady() bool {
	switch p.Unready.Code {
	case reason.NotReady, reason.PoolUnjudged, reason.CatalogFailed:
		return p.Group == nil
	}
	return false
}

// MayReplenish reports whether the pool is static and its missing replicas may be launched.
func (p *Pool) MayReplenish() bool { return p.Replicas != nil && p.Held.Code == reason.None }

// Node is an existing node, or a claim whose node is not there yet.
type Node struct {
	// Name is the Node's, which pods refer to, or the claim's until there is a Node. The
	// hostname is among Labels.
	Name  string `json:"name"`
	Claim string `json:"claim,omitempty"` // empty for nodes that no claim made
	Pool  string `json:"pool,omitempty"`
	// Labels are the node's, or what the claim promises for a node to come.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints are those that new pods must tolerate: ephemeral and startup taints of a
	// node that is still starting are left out.
	Taints      []model.Taint   `json:"taints,omitempty"`
	Capacity    model.Resources `json:"capacity"`
	Allocatable model.Resources `json:"allocatable"`
	// Most is, of each resource, what the largest machine has that may still be launched for the claim. It is
	// empty once it is known which one was launched. Limits count it, so that no outcome overruns them.
	Most        model.Resources `json:"most,omitzero"`
	Initialized bool            `json:"initialized,omitempty"`
	// Leaving nodes are being removed: their pods need a place and they take no pod.
	Leaving bool `json:"leaving,omitempty"`
	// Unschedulable is kubectl cordon.
	Unschedulable bool `json:"unschedulable,omitempty"`
	// VolumeLimits is how many volumes of each CSI driver may be attached.
	VolumeLimits []model.Amount `json:"volumeLimits,omitempty"`
	InstanceType string         `json:"instanceType,omitempty"`
	Zone         string         `json:"zone,omitempty"`
	CapacityType string         `json:"capacityType,omitempty"`
	Reservation  string         `json:"reservation,omitempty"`
	// Price is what the node costs an hour, its pool's NodePrice included; zero when it is not
	// known what the machine costs.
	Price   model.Money `json:"price,omitempty"`
	Created time.Time   `json:"created,omitzero"`
	// Life is what matters when it may be given up.
	Life Life `json:"life,omitzero"`
}

// PodIndex is the place of a pod in a snapshot's Pods.
type PodIndex int32

// TemplateIndex is the place of a template in a snapshot's Templates.
type TemplateIndex int32

// CatalogIndex is the place of a catalogue in a snapshot's Catalogs.
type CatalogIndex int32

// AddCatalog adds a catalogue to a snapshot that is being made.
func (s *Snapshot) AddCatalog(c *catalog.Catalog) CatalogIndex {
	s.Catalogs = append(s.Catalogs, *c)
	return CatalogIndex(len(s.Catalogs) - 1)
}

// PoolIndex is the place of a pool in a snapshot's Pools.
type PoolIndex int32

// NodeIndex is the place of a node in a snapshot's Nodes.
type NodeIndex int32

// Pod is one pod that runs or wants to.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Template is an index into Snapshot.Templates.
	Template TemplateIndex `json:"template"`
	// Node is the name of the node that it is bound to, or empty.
	Node    string    `json:"node,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Pending pods want a place in this decision.
	Pending bool `json:"pending,omitempty"`
	// Movable pods of leaving nodes want a place too: they will be made again
	// elsewhere, and nothing forbids to evict them.
	Movable bool `json:"movable,omitempty"`
	// Terminating pods still use their node's room, but no topology rule counts them.
	Terminating bool `json:"terminating,omitempty"`
	// Ends: it is there to do something and be done, as the pods of jobs are.
	Ends bool `json:"ends,omitempty"`
	// Refused is why the pod cannot be considered at all (an unsupported field, a
	// volume claim that is lost …); such a pod gets this as its verdict.
	Refused reason.Obstacles `json:"refused,omitempty"`
	// Tie is what binds a running pod to its node.
	Tie Tie `json:"tie,omitzero"`
}

// Key is namespace/name.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

// Daemon is a DaemonSet: one of its pods lands on every node that it may run on.
type Daemon struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Template is an index into Snapshot.Templates.
	Template TemplateIndex `json:"template"`
}
