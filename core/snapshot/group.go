package snapshot

import (
	"strings"
	"time"
)

// Group is what a pool has that stands for a group of instances: the cloud keeps their number, and Tenon changes that
// number only.
type Group struct {
	// Name is the group's in the cloud.
	Name string `json:"name"`
	// Desired is the number of instances that the cloud kept when the snapshot was taken; Floor is the least that it
	// may keep. The most is the pool's limit on nodes.
	Desired int64 `json:"desired"`
	Floor   int64 `json:"floor,omitempty"`
	// Chosen lists labels of which the cloud chooses the value for each node, with the values that it chooses from. Nothing
	// may rely on a single one of them. An empty list means that not even the values are known.
	Chosen map[string][]string `json:"chosen,omitempty"`
	// Priority is what the expander priority goes by, if the group has one.
	Priority *int64 `json:"priority,omitempty"`
	// Freed is since when it is known that no other autoscaler changes the group; zero if the group does not grow.
	Freed time.Time `json:"freed,omitzero"`
	// ScaleDown is set for a group that is managed by the rules of Cluster Autoscaler.
	ScaleDown *ScaleDown `json:"scaleDown,omitempty"`
}

// Rules are those of Cluster Autoscaler by which nodes of the pool go; nil if it has Tenon's own.
func (p *Pool) Rules() *ScaleDown {
	if p.Group == nil {
		return nil
	}
	return p.Group.ScaleDown
}

// Spurns reports whether the pool gets no nodes for pods of a priority: by the rules of Cluster Autoscaler these are expendable.
func (p *Pool) Spurns(priority int32) bool {
	rules := p.Rules()
	return rules != nil && priority < rules.Drain.ExpendableBelow
}

// Expends reports whether a pod on a node of the pool needs no other place when the node goes.
func (p *Pool) Expends(pod *Pod) bool {
	return p.Rules() != nil && pod.Tie.Drain != nil && pod.Tie.Drain.Expendable
}

// Resting is the pool while delays keep the nodes of its group until a time.
func (p Pool) Resting(until time.Time) Pool {
	if p.Rules() == nil {
		return p
	}
	group, rules := *p.Group, *p.Group.ScaleDown
	rules.Rests = until.UTC()
	group.ScaleDown, p.Group = &rules, &group
	return p
}

// groupPrefix sets the pools of groups apart: no NodePool's name has a slash.
const groupPrefix = "nodegroup/"

// GroupPool is the name of the pool that stands for a NodeGroup.
func GroupPool(nodeGroup string) string { return groupPrefix + nodeGroup }

// NodeGroup is the name of the NodeGroup that a pool stands for, if it stands for one.
func NodeGroup(pool string) (string, bool) { return strings.CutPrefix(pool, groupPrefix) }

// Chooses reports whether the cloud chooses the value of a label of the pool's nodes.
func (p *Pool) Chooses(label string) bool {
	if p.Group == nil {
		return false
	}
	_, chosen := p.Group.Chosen[label]
	return chosen
}
