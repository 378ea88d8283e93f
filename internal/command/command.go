// Package command is a disruption under way: its record on the objects, and its next step.
//
//	decided ──Begin──▶ begun ──Mark──▶ marked ──Wait──▶ replacements ready, nodes closed ──Look──▶ removed ──▶ Over
//	             │       │               │                               │                  │  └ some released
//	             └───────┴───────────────┴───────────────────────────────┴──────────────────┴──▶ Abandon: nothing is left behind
//
// Begin writes the record, closes the nodes and creates the replacements; Mark closes the nodes that
// Begin did not. State.Next says which step comes next, State.Judge gives the result of a second
// look, and State.Effects says what each step does to the objects. internal/execute performs the
// effects.
//
// The claims carry the whole command, so that it survives a restart and people can see on the objects what is going
// on. A node of a group has no claim, and carries the command itself. The next step follows from these objects
// alone. The package is pure, and must neither read nor write objects.
package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
)

// Record is the record of a command, on every claim that it removes and on every claim that
// replaces them.
type Record struct {
	ID     string      `json:"id"`
	Reason plan.Reason `json:"reason"`
	// Begun is the time of the decision, which did not know pods that came to the nodes later.
	Begun time.Time `json:"begun"`
	// Claims are removed together.
	Claims []Member `json:"claims"`
	// Replacements must be initialized before the first of the claims is removed.
	Replacements []Member `json:"replacements,omitempty"`
	// Receivers are the claims of nodes that take the pods.
	Receivers []string `json:"receivers,omitempty"`
	// Kind is the consolidation type in metrics: empty, single, multi, or nothing.
	Kind string `json:"kind,omitempty"`
	// Savings are the expected savings an hour.
	Savings model.Money `json:"savings,omitempty"`
	// Evictions is how many pods are to move.
	Evictions int `json:"evictions,omitempty"`
}

// Member is one claim of a command, with the presumed price of its instance an hour.
type Member struct {
	// Claim is the claim's name; for a node of a group, which has no claim, it is the result of
	// MemberOf.
	Claim string      `json:"claim"`
	Pool  string      `json:"pool"`
	Price model.Money `json:"price,omitempty"`
}

// nodePrefix marks nodes without a claim: no claim's name has a slash.
const nodePrefix = "node/"

// MemberOf is the name of a node in a record: that of its claim, or its own if it has none.
func MemberOf(claim, node string) string {
	if claim != "" {
		return claim
	}
	return nodePrefix + node
}

// NodeOf is the node of a member without a claim.
func NodeOf(member string) (node string, alone bool) { return strings.CutPrefix(member, nodePrefix) }

// Decision is the action of the command, in the word that users know.
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

// Takes reports whether the command removes a claim.
func (r *Record) Takes(claim string) bool { return contains(r.Claims, claim) }

// Brings reports whether a claim is one of the replacements.
func (r *Record) Brings(claim string) bool { return contains(r.Replacements, claim) }

func contains(members []Member, claim string) bool {
	return slices.ContainsFunc(members, func(m Member) bool { return m.Claim == claim })
}

// Text is the text for users: "Underutilized/x7k2p: replace: nodepools=[a]: [n1, n2] -> [1 replacement] (savings:
// $0.12)".
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

// list formats names with commas.
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

// String is the text of the annotation.
func (r *Record) String() string {
	text, err := json.Marshal(r)
	if err != nil { // times between year 0 and 9999 and strings cannot fail
		panic(err)
	}
	return string(text)
}

// Of reads the record on a claim, or on a node without one. It returns false if there is none or if it is unreadable: the
// marks of an unreadable record are removed.
func Of(object metav1.Object) (Record, bool) {
	var r Record
	text, said := object.GetAnnotations()[karpenterv1.AnnotationDisruption]
	if !said || json.Unmarshal([]byte(text), &r) != nil || r.ID == "" {
		return Record{}, false
	}
	return r, r.Takes(MemberFor(object)) || r.Brings(MemberFor(object))
}

// Removes reports whether a command removes a claim. Its record is on the claim before replacements are made, and the condition is written beside
// them.
func Removes(claim *karpenterv1.NodeClaim) bool {
	record, recorded := Of(claim)
	return recorded && record.Takes(claim.Name) || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionDisruptionReason)
}

// MemberFor is the name in a record of the object that carries it.
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
