package plan

// Precondition must still be true when a part of a plan is carried out. If it is not, that part is dropped,
// and the next decision looks at it again.
type Precondition string

// The preconditions of a claim that is made, a replacement too.
const (
	// PoolUnchanged: its pool is there, and is as the decision saw it.
	PoolUnchanged Precondition = "PoolUnchanged"
	// LimitsKept: the limits of its pool and of the cluster leave room for it. The room is taken with the same look, so that
	// nothing else gets it.
	LimitsKept Precondition = "LimitsKept"
)

// GroupUnchanged: the group whose size is raised may be changed, and the cloud keeps it at the size that the decision saw.
const GroupUnchanged Precondition = "GroupUnchanged"

// Those of a node that goes.
const (
	// PodsKnown: no pod has come that would have to move and that the decision did not know.
	PodsKnown Precondition = "PodsKnown"
	// NodeDisruptable: nothing on the node or about it forbids to disrupt it for the reason.
	NodeDisruptable Precondition = "NodeDisruptable"
	// NodeNotHeld: no annotation, pod or PodDisruptionBudget holds the node.
	NodeNotHeld Precondition = "NodeNotHeld"
)

// And of one that takes pods.
const (
	// PodsAdmitted: it is in service, and admits the pods that are to come.
	PodsAdmitted Precondition = "PodsAdmitted"
	// RoomLeft: it has room for them beside what has come since.
	RoomLeft Precondition = "RoomLeft"
)

// ToBegin is what is checked once more of each node that goes before anything is written, in order.
func (r *Removal) ToBegin() []Precondition { return []Precondition{PodsKnown, NodeDisruptable} }

// ToBegin is what is checked of each node that takes pods, after that.
func (p *Placement) ToBegin() []Precondition { return []Precondition{PodsAdmitted, RoomLeft} }

// ToRemove is what is checked of each node that goes once no pod can come to it any more, right before
// its claim is deleted. It is marked by then, so that only what holds it counts.
func ToRemove() []Precondition { return []Precondition{PodsKnown, NodeNotHeld} }

// ToLaunch is what is checked of each claim right before it is made, in order.
func ToLaunch() []Precondition { return []Precondition{PoolUnchanged, LimitsKept} }

// ToResize is what is checked of each group right before its size is raised, in order; the provider checks once more against
// the cloud that the group is unchanged.
func ToResize() []Precondition { return []Precondition{GroupUnchanged, LimitsKept} }
