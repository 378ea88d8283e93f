package explain

import (
	"fmt"
	"slices"
	"strings"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// mostHolds is how many things that hold a node are named of each kind.
const mostHolds = 8

// holds says all that would hold the node, beside the first thing that the plan met: itself, its pods one by one, the
// budgets that let none of them go, the pods that have no place elsewhere, and the budget of its pool.
func (e *explainer) holds(n *snapshot.Node, cause *reason.Cause) {
	if n.Life.Protected {
		e.a.say("holds", "the node itself: its annotation forbids to disrupt it")
	}
	var pods, stranded []string
	budgets := map[string][]string{}
	for i := range e.s.Pods {
		p := &e.s.Pods[i]
		if p.Node != n.Name || p.Tie.Virtual {
			continue
		}
		if text := e.tied(p); text != "" {
			pods = append(pods, fmt.Sprintf("pod %s: %s", p.Key(), text))
		}
		for _, name := range p.Tie.Budgets {
			budgets[p.Namespace+"/"+name] = append(budgets[p.Namespace+"/"+name], p.Name)
		}
	}
	for i := range cause.Pods {
		stranded = append(stranded, fmt.Sprintf("pod %s has no place elsewhere: %s", cause.Pods[i].Pod, cause.Pods[i].Why.Text()))
	}
	e.list(pods)
	var closed []string
	for i := range e.s.Budgets {
		b := &e.s.Budgets[i]
		covered := budgets[b.Key()]
		switch {
		case len(covered) == 0 || b.Allowed > 0 && !b.Never:
		case b.Never:
			closed = append(closed, fmt.Sprintf("PodDisruptionBudget %s never lets go of %s", b.Key(), some(covered)))
		default:
			closed = append(closed, fmt.Sprintf("PodDisruptionBudget %s lets none of its pods go now: %s", b.Key(), some(covered)))
		}
	}
	e.list(closed)
	e.list(stranded)
	e.poolHolds(n)
}

// tied is what forbids to evict a pod; empty if nothing does.
func (e *explainer) tied(p *snapshot.Pod) string {
	switch {
	case p.Tie.Protected && p.Tie.Unsafe:
		return "its annotation says that it is not safe to evict"
	case p.Tie.Protected && !p.Tie.Until.IsZero():
		return "its annotation do-not-disrupt holds until " + p.Tie.Until.UTC().Format("2006-01-02T15:04:05Z")
	case p.Tie.Protected:
		return "its annotation do-not-disrupt"
	case len(p.Tie.Budgets) > 1 && p.Tie.Asked:
		return fmt.Sprintf("%d PodDisruptionBudgets cover it, and eviction refuses such pods", len(p.Tie.Budgets))
	case len(p.Tie.Refused) > 0 && p.Tie.Returns:
		return "no other place can be looked for: " + p.Tie.Refused.Text()
	}
	return ""
}

// poolHolds says for which reasons the budgets of the node's pool let no node go.
func (e *explainer) poolHolds(n *snapshot.Node) {
	at := slices.IndexFunc(e.s.Pools, func(p snapshot.Pool) bool { return p.Name == n.Pool })
	if at < 0 {
		return
	}
	allowed := e.s.Pools[at].Consolidation.Allowed
	var closed []string
	for _, each := range []struct {
		nodes  int
		reason plan.Reason
	}{{allowed.Empty, plan.Empty}, {allowed.Drifted, plan.Drifted}, {allowed.Underutilized, plan.Underutilized}} {
		if each.nodes == 0 {
			closed = append(closed, string(each.reason))
		}
	}
	if len(closed) > 0 {
		e.a.say("holds", "the budgets of pool %s let no node go as %s", n.Pool, strings.Join(closed, ", "))
	}
}

// list says the first of some lines, and how many more there are.
func (e *explainer) list(lines []string) {
	for _, line := range lines[:min(len(lines), mostHolds)] {
		e.a.say("holds", "%s", line)
	}
	if more := len(lines) - mostHolds; more > 0 {
		e.a.say("holds", "and %d more like these", more)
	}
}

func some(names []string) string {
	slices.Sort(names)
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
