// Package command is a disruption in flight: what is written of it on the objects, and
// what has to be done next.
//
//	decided ──Begin──▶ begun ──Mark──▶ marked ──Wait──▶ replacements ready, nodes closed ──Look──▶ removed ──▶ Over
//	             │       │               │                               │                  │  └ some released
//	             └───────┴───────────────┴───────────────────────────────┴──────────────────┴──▶ Abandon: nothing is left behind
//
// Begin writes the record, closes the nodes and has the replacements made; Mark closes what that left
// open. State.Next says which step comes next, State.Judge what a second look comes to, and
// State.Effects what each step does to the objects. internal/execute performs the effects.
//
// The claims carry the whole command, so that a restart forgets nothing and people can read on the objects
// what is going on. A node of a group has no claim, and carries the command itself. The next step follows from these
// objects alone. The package is pure, and must neither read nor write objects.
package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
)

// Record is what is written of a command, on every claim that goes by it and on every claim
// that replaces them.
type Record struct {
	ID     string      `json:"id"`
	Reason plan.Reason `json:"reason"`
	// Begun is when it was decided: the decision did not know pods that came to the nodes later.
	Begun time.Time `json:"begun"`
	// Claims go together.
	Claims []Member `json:"claims"`
	// Replacements have to be initialized before the first of them goes.
	Replacements []Member `json:"replacements,omitempty"`
	// Receivers are claims whose nodes take pods.
	Receivers []string `json:"receivers,omitempty"`
	// Kind is the consolidation type in metrics: empty, single, multi, or nothing.
	Kind string `json:"kind,omitempty"`
	// Savings an hour, as they were expected.
	Savings model.Money `json:"savings,omitempty"`
	// Evictions is how many pods were to move.
	Evictions int `json:"evictions,omitempty"`
}

// Member is one claim of a command, and what its machine was thought to cost an hour.
type Member struct {
	// Claim is the claim's name; for a node of a group, which has none, it is what MemberOf says.
	Claim string      `json:"claim"`
	Pool  string      `json:"pool"`
	Price model.Money `json:"price,omitempty"`
}

// nodePrefix sets nodes apart that have no claim: no claim's name has a slash.
const nodePrefix = "node/"

// MemberOf is how a record names a node: by its claim, or by itself if it has none.
func MemberOf(claim, node string) string {
	if claim != "" {
		return claim
	}
	return nodePrefix + node
}

// NodeOf is the node that a member of a record is, if it has no claim.
func NodeOf(member string) (node string, alone bool) { return strings.CutPrefix(member, nodePrefix) }

// Decision is what is done, in the word that users know.
func (r *Record) Decision() string {
	if len(r.Replacements) > 0 {
		return "replace"
	}
	return "delete"
}

// Pools are those of its claims, each once, in order.
func (r *Record) Pools() []string {
	var out []string
	for _, m := range r.Claims {
		out = append(out, m.Pool)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Takes reports whether a claim goes by the command.
func (r *Record) Takes(claim string) bool { return contains(r.Claims, claim) }

// Brings reports whether a claim is one of the replacements.
func (r *Record) Brings(claim string) bool { return contains(r.Replacements, claim) }

func contains(members []Member, claim string) bool {
	return slices.ContainsFunc(members, func(m Member) bool { return m.Claim == claim })
}

// Text is how people see it: "Underutilized/x7k2p: replace: nodepools=[a]: [n1, n2] -> [1 replacement] (savings: $0.12)".
func (r *Record) Text(nodes []string) string {
	text := fmt.Sprintf("%s/%s: %s: nodepools=%v: %v", r.Reason, r.ID, r.Decision(), list(r.Pools()), list(nodes))
	return text + r.Arrow() + fmt.Sprintf(" (savings: $%.2f)", r.Savings.Float())
}

// Arrow is the part of the text about replacements; it is empty if nodes are only deleted.
func (r *Record) Arrow() string {
	switch n := len(r.Replacements); n {
	case 0:
		return ""
	case 1:
		return " -> [1 replacement]"
	default:
		return fmt.Sprintf(" -> [%d replacements]", n)
	}
}

// list prints with commas.
type list []string

func (l list) String() string {
	text := "["
	for i, s := range l {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text + "]"
}

// String is what the annotation holds.
func (r *Record) String() string {
	text, err := json.Marshal(r)
	if err != nil { // times between year 0 and 9999 and strings: there is nothing to fail
		panic(err)
	}
	return string(text)
}

// Of reads the record on a claim, or on a node without one. It returns false if there is none or if it is unreadable: the
// marks of an unreadable record are taken back.
func Of(object metav1.Object) (Record, bool) {
	var r Record
	text, said := object.GetAnnotations()[karpenterv1.AnnotationDisruption]
	if !said || json.Unmarshal([]byte(text), &r) != nil || r.ID == "" {
		return Record{}, false
	}
	return r, r.Takes(MemberFor(object)) || r.Brings(MemberFor(object))
}

// MemberFor is how a record names the object that carries it.
func MemberFor(object metav1.Object) string {
	if _, is := object.(*corev1.Node); is {
		return MemberOf("", object.GetName())
	}
	return object.GetName()
}

// Preceded reports whether a pod was bound before the command was decided.
func (r *Record) Preceded(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time.Before(r.Begun.Truncate(time.Second))
		}
	}
	return !pod.CreationTimestamp.After(r.Begun)
}
