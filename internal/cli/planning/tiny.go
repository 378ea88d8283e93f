package planning

import (
	"strings"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/internal/cli/document"
)

// Nodes with less memory than tinyMemory are tiny: kubelet and agents take most of it. From
// manyTiny of them on they are most likely not what is wanted.
const (
	tinyMemory = 2 << 30
	manyTiny   = 10
)

// remarkTiny notes that the plan is many tiny nodes, where no price of nodes speaks against
// them: the cheapest machines for pods that ask for cpu and hardly any memory.
func (j *job) remarkTiny(p document.Planned) {
	types, pools, tiny := map[string]bool{}, map[string]bool{}, 0
	free := map[string]bool{}
	for i := range p.Snapshot.Pools {
		free[p.Snapshot.Pools[i].Name] = p.Snapshot.Pools[i].NodePrice == 0
	}
	for i := range p.Plan.Claims {
		c := &p.Plan.Claims[i]
		if !c.Replica && free[c.Pool] && c.Capacity.Memory < tinyMemory {
			types[c.Offer.InstanceType], pools[c.Pool] = true, true
			tiny++
		}
	}
	if tiny < manyTiny || 2*tiny < len(p.Plan.Claims) {
		return
	}
	j.note("%d of %d new nodes are tiny (%s): they are the cheapest machines for what these pods request, but every node also costs agents, addresses and licences. "+
		"Say how much with --node-price or the annotation %s of NodePool %s, and give the pods memory requests",
		tiny, len(p.Plan.Claims), strings.Join(order.Keys(types), ", "), karpenterv1.AnnotationNodePrice, strings.Join(order.Keys(pools), ", "))
}
