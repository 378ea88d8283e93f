// Package disruptable says whether a node may be disrupted, and what forbids it: the one
// place where these rules are written.
//
//	decision          Blocker   a node that is asked for the first time
//	before it begins  Unmet     the same and whether its pods are known, by a newer snapshot: plan.Removal.ToBegin
//	before removal    Unmet     what is on the node now; that it goes is known: plan.ToRemove
//
// How many nodes or pods may go together is the decision's business. The rules that plans
// must keep are written down a second time in core/check.
package disruptable

import (
	"iter"
	"strings"
	"time"

	"tenon/core/drainable"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Node is a node with what it depends on whether it may be disrupted.
type Node struct {
	*snapshot.Node
	// Pods are those on it, and those that have a place there.
	Pods iter.Seq[*snapshot.Pod]
	// Sold: its pool is there, and has something to sell.
	Sold bool
	// Awaited: pods are on their way to it.
	Awaited bool
	// Forced: its pods cannot hold it. That is so for drift, if the removal is bounded in time.
	Forced bool
	// ScaleDown are the rules of its group, if those are Cluster Autoscaler's.
	ScaleDown *snapshot.ScaleDown
}

// Rules are what nodes are judged by at a time.
type Rules struct {
	Now time.Time
	// Allowed is how many pods of each PodDisruptionBudget may be evicted, by its key.
	Allowed map[string]int32
}

// RulesOf are those of a snapshot.
func RulesOf(s *snapshot.Snapshot) Rules { return NewRules(s.Now, s.Budgets) }

// NewRules are those at a time with these budgets.
func NewRules(now time.Time, budgets []snapshot.Budget) Rules {
	allowed := make(map[string]int32, len(budgets))
	for i := range budgets {
		allowed[budgets[i].Key()] = budgets[i].Allowed
	}
	return Rules{Now: now, Allowed: allowed}
}

// Blocker is why the node may not be disrupted, and until when that is so if it ends by
// itself.
func (r Rules) Blocker(n Node) (reason.Cause, time.Time) {
	of := func(code reason.Code, where string) (reason.Cause, time.Time) {
		return reason.Cause{Code: code, Where: where}, time.Time{}
	}
	switch {
	case n.Pool == "" && n.Claim == "":
		return of(reason.NotManaged, "")
	case n.Life.Unborn:
		return of(reason.NodeMissing, "")
	case n.Life.Underway != "":
		return of(reason.BeingDisrupted, n.Life.Underway)
	case !n.Initialized:
		return of(reason.NotInitialized, "")
	case n.Leaving:
		return of(reason.NodeLeaving, "")
	case n.Awaited:
		return of(reason.NodeNominated, "")
	case n.Life.Nominated.After(r.Now):
		return reason.Cause{Code: reason.NodeNominated}, n.Life.Nominated
	case n.Life.Protected:
		return of(protection(n), "")
	case n.Pool == "":
		return of(reason.PoolLabelMissing, "")
	case !n.Sold:
		return of(reason.PoolNotFound, n.Pool)
	}
	return r.Holder(n)
}

// Holder is the annotation, the pod or the PodDisruptionBudget that holds the node in spite of what
// else is known of it, and until when that is so. Each pod is asked alone.
func (r Rules) Holder(n Node) (reason.Cause, time.Time) {
	if n.Life.Protected {
		return reason.Cause{Code: protection(n)}, time.Time{}
	}
	if n.Forced {
		return reason.Cause{}, time.Time{}
	}
	for pod := range n.Pods {
		if code, until := r.hold(n, pod); code != reason.None {
			return reason.Cause{Code: code, Where: pod.Key()}, until
		}
	}
	for pod := range n.Pods {
		if !pod.Tie.Asked || pod.Terminating {
			continue
		}
		switch names := r.Covering(pod); {
		case len(names) > 1:
			return reason.Cause{Code: reason.SeveralPodDisruptionBudgets, Where: strings.Join(names, " ")}, time.Time{}
		case len(names) == 1 && r.Allowed[names[0]] <= 0:
			return reason.Cause{Code: reason.PodDisruptionBudget, Where: names[0]}, time.Time{}
		}
	}
	return reason.Cause{}, time.Time{}
}

// protection is the annotation that protects a node.
func protection(n Node) reason.Code {
	if n.Life.Kept {
		return reason.ScaleDownDisabledAnnotation
	}
	return reason.NodeProtected
}

// hold is why a pod holds the node even if budgets allow its eviction: by the rules of the node's group, or by an annotation. By those rules
// safe-to-evict does not count for every pod; it does for one that would have to be evicted nevertheless and is not expendable.
func (r Rules) hold(n Node, pod *snapshot.Pod) (reason.Code, time.Time) {
	if n.ScaleDown != nil {
		if code, until := drainable.Holder(n.ScaleDown.Drain, pod, r.Now); code != reason.None {
			return code, until
		}
	}
	switch {
	case pod.Terminating || !pod.Tie.Holds(r.Now):
		return reason.None, time.Time{}
	case !pod.Tie.Unsafe:
		return reason.PodProtected, pod.Tie.Until
	case n.ScaleDown != nil && (!pod.Tie.Asked || pod.Tie.Drain != nil && pod.Tie.Drain.Expendable):
		return reason.None, time.Time{}
	}
	return reason.NotSafeToEvictAnnotation, time.Time{}
}

// Unmet is why the node does not meet the first of some preconditions that it does not meet; no cause if
// it meets all. Known are the pods that the decision knew.
func (r Rules) Unmet(n Node, known func(*snapshot.Pod) bool, needs []plan.Precondition) reason.Cause {
	for _, need := range needs {
		var cause reason.Cause
		switch need {
		case plan.PodsKnown:
			cause = unknownPod(n, known)
		case plan.NodeDisruptable:
			cause, _ = r.Blocker(n)
		case plan.NodeNotHeld:
			cause, _ = r.Holder(n)
		default:
			panic("not a precondition of a node that goes: " + string(need))
		}
		if cause.Code != reason.None {
			return cause
		}
	}
	return reason.Cause{}
}

// Covering are the keys of the budgets that cover a pod, of those that there are.
func (r Rules) Covering(pod *snapshot.Pod) []string {
	var out []string
	for _, name := range pod.Tie.Budgets {
		key := pod.Namespace + "/" + name
		if _, known := r.Allowed[key]; known {
			out = append(out, key)
		}
	}
	return out
}

// unknownPod is a pod among those on the node that a decision did not know, and that would have to
// move: its place was not thought of, and neither was whether it comes back at all. A
// pod that stays in any case is none.
func unknownPod(n Node, known func(*snapshot.Pod) bool) reason.Cause {
	for pod := range n.Pods {
		if pod.Tie.Returns && (pod.Tie.Asked || pod.Terminating) && !known(pod) {
			return reason.Cause{Code: reason.PodCame, Where: pod.Key()}
		}
	}
	return reason.Cause{}
}
