package command

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/departure"
)

// State is a command and its objects, as they are now.
type State struct {
	Record Record
	Now    time.Time
	// Leavers are the claims to be removed that still exist and have the record.
	Leavers []Leaver
	// Unaware is how many of the record's claims exist, are not being deleted, and have no record.
	Unaware int
	// Replacements are in the order of the record; nil for one that does not exist.
	Replacements []*karpenterv1.NodeClaim
	// Orders are the replacements of a command that is to be begun.
	Orders []Replacement
	// Closed is since when no pod can come to the leavers, according to our watches; zero for not yet.
	Closed time.Time
	// Patience is how long replacements may take.
	Patience time.Duration
}

// Leaver is a claim to be removed, with its node, which is nil if it has none. A node of a group is removed
// without a claim.
type Leaver struct {
	Claim *karpenterv1.NodeClaim
	Node  *corev1.Node
}

// Carrier is the object that carries the record, and whose deletion is the removal.
func (l Leaver) Carrier() client.Object {
	if l.Claim == nil {
		return l.Node
	}
	return l.Claim
}

// Member is the leaver's name in the record.
func (l Leaver) Member() string { return MemberFor(l.Carrier()) }

// Step is the next step of a command.
type Step string

// The steps. Begin is the first, Tell says why while the nodes have just been closed, and Abandon undoes both if one of their effects fails; Wait is
// for replacements, or for a moment; Look is for a second look, and the removal if it agrees; Over is when nothing is left to do.
const (
	Begin   Step = "begin"
	Tell    Step = "tell"
	Mark    Step = "mark"
	Wait    Step = "wait"
	Look    Step = "look"
	Abandon Step = "abandon"
	Over    Step = "over"
)

// Settle is how long nodes must have been closed before the second look, because the scheduler may not have
// seen the taint yet.
const Settle = 2 * time.Second

// Next is the next step, and its reason.
func (s *State) Next() (Step, Why) {
	staying := s.Staying()
	switch {
	case s.Unaware > 0:
		return Abandon, Why{Code: RecordIncomplete}
	case len(staying) == 0:
		return Over, Why{Code: NoNodeLeft}
	}
	ready := true
	for i, r := range s.Replacements {
		switch {
		case r == nil:
			return Abandon, Why{Code: ReplacementGone, Name: s.Record.Replacements[i].Claim}
		case r.DeletionTimestamp != nil:
			return Abandon, Why{Code: ReplacementDeleted, Name: r.Name, Message: trouble(r)}
		case !meta.IsStatusConditionTrue(r.Status.Conditions, karpenterv1.ConditionInitialized):
			ready = false
		}
	}
	if !ready && s.Now.Sub(s.Record.Begun) > s.Patience {
		return Abandon, Why{Code: ReplacementsLate, Patience: s.Patience}
	}
	if slices.ContainsFunc(staying, func(l Leaver) bool { return !l.marked() }) {
		return Mark, Why{Code: NodeUnmarked}
	}
	switch {
	case !ready:
		return Wait, Why{Code: ReplacementsNotReady}
	case s.Closed.IsZero(), s.Now.Sub(s.Closed) < Settle:
		return Wait, Why{Code: NodesClosedOnlyNow}
	}
	return Look, Why{}
}

// Staying are the leavers that are not being deleted yet.
func (s *State) Staying() []Leaver {
	var out []Leaver
	for _, l := range s.Leavers {
		if l.Carrier().GetDeletionTimestamp() == nil {
			out = append(out, l)
		}
	}
	return out
}

// Going reports whether a node of the command goes or is gone: its pods are planned onto the replacements.
func (s *State) Going() bool { return len(s.Staying())+s.Unaware < len(s.Record.Claims) }

// marked leavers take no pods, and state the reason. The record states it on a node without a
// claim.
func (l Leaver) marked() bool {
	if l.Claim == nil {
		return departure.Closed(l.Node)
	}
	return meta.IsStatusConditionTrue(l.Claim.Status.Conditions, karpenterv1.ConditionDisruptionReason) && (l.Node == nil || departure.Closed(l.Node))
}

// trouble is the claim's own reason why its node is not ready.
func trouble(claim *karpenterv1.NodeClaim) string {
	for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
		for _, c := range claim.Status.Conditions {
			if c.Type == name && c.Status != metav1.ConditionTrue && c.Message != "" {
				return c.Message
			}
		}
	}
	return ""
}
