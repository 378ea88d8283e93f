package reason

import (
	"fmt"
	"strings"

	"tenon/core/model"
)

// Change is a kind of remedy.
type Change string

// The single changes that may place a pod.
const (
	// Tolerate: the pod tolerates the taint Where.
	Tolerate Change = "Tolerate"
	// AddLabel: the pool gives its nodes the label Where=To.
	AddLabel Change = "AddLabel"
	// DropLabel: the pod asks nothing of the label Where any more; From is what it asked.
	DropLabel Change = "DropLabel"
	// WidenPool: the pool's requirement From on Where allows To as well.
	WidenPool Change = "WidenPool"
	// RaiseLimit: the pool's limits are raised to Amounts, and those of the cluster to Totals.
	RaiseLimit Change = "RaiseLimit"
	// LowerMinimum: minValues of Where is lowered to To.
	LowerMinimum Change = "LowerMinimum"
	// LowerRequest: the pod requests no more than Amounts.
	LowerRequest Change = "LowerRequest"
	// FreePort: the pod takes no port of its node.
	FreePort Change = "FreePort"
	// Soften: the rule From (a Code) about the topology Where becomes a preference.
	Soften Change = "Soften"
)

// Remedy is the smallest change that would place the pod, and what its node would cost.
type Remedy struct {
	Change   Change
	Pool     string
	Where    string
	From, To string
	Amounts  []Shift
	Totals   []Shift `json:",omitempty"`
	// InstanceType is the cheapest type that would then take the pod, and Price its price.
	InstanceType string
	Price        model.Money
	// Pods, when more than one, is how many pods it would place at once, on so many Nodes;
	// Price is that of all of them then.
	Pods, Nodes int
}

// Shift is an amount of a resource that changes.
type Shift struct {
	Name     string
	From, To int64
}

// Text says what to do and what it costs.
func (r *Remedy) Text() string {
	text := r.action()
	if r.Pods > 1 {
		nodes := "1 node"
		if r.Nodes != 1 {
			nodes = fmt.Sprintf("%d nodes", r.Nodes)
		}
		pods := fmt.Sprintf("all %d such pods", r.Pods)
		if r.Pods == 2 {
			pods = "both such pods"
		}
		return fmt.Sprintf("%s: then %s have a place, on %s of pool %s for %s an hour", text, pods, nodes, r.Pool, r.Price)
	}
	return fmt.Sprintf("%s: then %s of pool %s would do, %s an hour", text, r.InstanceType, r.Pool, r.Price)
}

func (r *Remedy) action() string {
	switch r.Change {
	case Tolerate:
		return "let the pod tolerate " + r.Where
	case AddLabel:
		return fmt.Sprintf("give the nodes of pool %s the label %s=%s, or drop what the pod asks of it", r.Pool, r.Where, r.To)
	case DropLabel:
		return fmt.Sprintf("let the pod do without %s", brief(r.From))
	case WidenPool:
		return fmt.Sprintf("let pool %s have %s %s too, beyond %s", r.Pool, r.Where, r.To, brief(r.From))
	case RaiseLimit:
		return r.raise()
	case LowerMinimum:
		return fmt.Sprintf("lower minValues of %s in pool %s from %s to %s", r.Where, r.Pool, r.From, r.To)
	case LowerRequest:
		return "let the pod request less: " + shifts(r.Amounts)
	case FreePort:
		return "let the pod do without host port " + r.Where
	case Soften:
		return fmt.Sprintf("make the pod's %s on %s a preference", topologyName(Code(r.From)), r.Where)
	}
	return string(r.Change) // a change of a later version
}

func (r *Remedy) raise() string {
	var parts []string
	if len(r.Amounts) > 0 || len(r.Totals) == 0 {
		parts = append(parts, "raise the limits of pool "+r.Pool+": "+shifts(r.Amounts))
	}
	if len(r.Totals) > 0 {
		parts = append(parts, "raise the limits of the cluster, "+flags(r.Totals)+": "+shifts(r.Totals))
	}
	return strings.Join(parts, "; ")
}

// TotalFlag is the flag that sets the limit of the cluster on a resource.
func TotalFlag(name string) string {
	switch name {
	case model.Nodes:
		return "--max-nodes-total"
	case model.CPU:
		return "--cores-total"
	case model.Memory:
		return "--memory-total"
	}
	return "--gpu-total"
}

func flags(list []Shift) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = TotalFlag(s.Name)
	}
	return strings.Join(parts, ", ")
}

func shifts(list []Shift) string {
	parts := make([]string, len(list))
	for i, s := range list {
		from, to := Compared(s.Name, s.From, s.To)
		parts[i] = fmt.Sprintf("%s %s → %s", s.Name, from, to)
	}
	return strings.Join(parts, ", ")
}

// longRequirement is where the text of a requirement is cut.
const longRequirement = 120

func brief(text string) string { return shortened(text, longRequirement) }
