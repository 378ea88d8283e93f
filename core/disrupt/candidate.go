package disrupt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// The events that prospects are told by.
const (
	eventBlocked = "DisruptionBlocked"
	eventKept    = "Unconsolidatable"
)

// notYet is of nodes for which there was no effort left.
const notYet = "Not looked at yet"

// survey finds out who may go at all, and says of the others why not.
func (x *search) survey() {
	x.readBudgets()
	x.readPools()
	for i := range x.nodes {
		n := &x.nodes[i]
		if n.pool >= 0 {
			x.pools[n.pool].count(n)
		}
		text, silent := x.blocker(n)
		if text != "" {
			n.prospect.Kind, n.prospect.Text = plan.Blocked, text
			if !silent {
				n.prospect.Event = eventBlocked
			}
			continue
		}
		n.candidate = true
	}
}

// blocker is why the node may not be disrupted at all; silent blockers need no event.
func (x *search) blocker(n *node) (text string, silent bool) {
	switch {
	case n.Node.Pool == "" && n.Claim == "":
		return "Node isn't managed by karpenter", true
	case n.Life.Unborn:
		return "Nodeclaim does not have an associated node", false
	case n.Life.Underway != "":
		return "Node is being disrupted: " + n.Life.Underway, true
	case !n.Initialized:
		return "Node isn't initialized", false
	case n.Leaving:
		return "Node is deleting or marked for deletion", false
	case n.nominated || n.Life.Nominated.After(x.s.Now):
		if !n.nominated {
			n.prospect.Until = n.Life.Nominated
		}
		return "Node is nominated for a pending pod", false
	case n.Life.Protected:
		return `Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation`, false
	case n.Node.Pool == "":
		return "Node doesn't have required label (label=karpenter.sh/nodepool)", false
	case n.pool < 0 || len(x.s.Catalogs[x.s.Pools[n.pool].Catalog].Types) == 0:
		return fmt.Sprintf("NodePool not found (NodePool=%s)", n.Node.Pool), false
	}
	if n.Life.Drifted != "" && n.Life.Bounded {
		return "", false // its pods cannot hold it for ever
	}
	text, until := x.holder(n)
	n.prospect.Until = until
	return text, false
}

// holder is the pod that holds the node, or the budget that holds a pod. Each pod is asked
// alone here; how many may go together is the disruption's business.
func (x *search) holder(n *node) (string, time.Time) {
	for _, p := range n.pods {
		pod := &x.s.Pods[p]
		if !pod.Terminating && pod.Tie.Holds(x.s.Now) {
			return fmt.Sprintf(`Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=%s)`, pod.Key()), pod.Tie.Until
		}
	}
	for _, p := range n.pods {
		pod := &x.s.Pods[p]
		if !pod.Tie.Asked || pod.Terminating {
			continue
		}
		switch names := x.coverKeys(pod); {
		case len(names) > 1:
			return fmt.Sprintf("Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[%s])", strings.Join(names, " ")), time.Time{}
		case len(names) == 1 && x.covers[names[0]].left <= 0:
			return fmt.Sprintf("Pdb prevents pod evictions (PodDisruptionBudget=[%s])", names[0]), time.Time{}
		}
	}
	return "", time.Time{}
}

// isEmpty reports whether nobody misses the node's pods: those whose eviction costs nothing
// count for none.
func (n *node) isEmpty() bool { return n.cost <= 0 }

// mayConsolidate says why consolidation leaves the node alone, and until when that is so.
// What is so for good comes before what will be over soon.
func (x *search) mayConsolidate(n *node) (text string, kind plan.Kind, until time.Time) {
	if text := x.exempt(n); text != "" {
		return text, plan.Kept, time.Time{}
	}
	switch quiet := n.Life.Quiet.Add(*x.s.Pools[n.pool].Consolidation.After); {
	case n.Life.Quiet.IsZero():
		return "Nobody knows yet when a pod has come or gone", plan.Waiting, time.Time{}
	case quiet.After(x.s.Now):
		return "A pod has come or gone within consolidateAfter", plan.Waiting, quiet
	}
	return "", "", time.Time{}
}

// exempt says why consolidation is not for the node as long as its pool and its labels are
// what they are.
func (x *search) exempt(n *node) string {
	p := &x.s.Pools[n.pool]
	switch {
	case p.Replicas != nil:
		return fmt.Sprintf("NodePool %q is static", p.Name)
	case p.Consolidation.After == nil:
		return fmt.Sprintf("NodePool %q has consolidation disabled", p.Name)
	case n.isEmpty():
		return ""
	case n.Price == 0 && n.Labels[requirement.KeyCapacityType] != catalog.Reserved: // what is reserved may cost nothing
		return fmt.Sprintf("Instance Type %q not found", n.InstanceType)
	}
	for _, key := range []string{requirement.KeyCapacityType, requirement.KeyZone} {
		if n.Labels[key] == "" {
			return fmt.Sprintf("Node does not have label %q", key)
		}
	}
	if p.Consolidation.Policy == snapshot.WhenEmpty {
		return fmt.Sprintf("NodePool %q has consolidation policy WhenEmpty, but node is not empty", p.Name)
	}
	return ""
}

// skip leaves the node to a later evaluation.
func (n *node) skip(reason plan.Reason) {
	n.keep(plan.Waiting, reason, notYet)
	n.prospect.Skipped = true
}

// keep notes what keeps a node that could go for a reason.
func (n *node) keep(kind plan.Kind, reason plan.Reason, text string) {
	n.prospect.Kind, n.prospect.Reason, n.prospect.Text, n.prospect.Skipped = kind, reason, text, false
	n.prospect.Until = time.Time{}
	if n.prospect.Event = ""; kind == plan.Kept {
		n.prospect.Event = eventKept
	}
}

// hold notes that a budget keeps the node for now. One that is closed opens no sooner than
// its schedule says; of one that is used up nobody knows when it has something left.
func (x *search) hold(n *node, reason plan.Reason, text string) {
	n.keep(plan.Waiting, reason, text)
	if p := &x.pools[n.pool]; p.allowed[reason] == 0 {
		n.prospect.Until = x.s.Pools[n.pool].Consolidation.Turns
	}
}

// movable are the pods of nodes that would want a place elsewhere, oldest first.
func (x *search) movable(nodes []int) []int32 {
	var out []int32
	for _, n := range nodes {
		out = append(out, x.nodes[n].moving...)
	}
	slices.Sort(out)
	return out
}
