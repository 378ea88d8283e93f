package command

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
)

// Effect is one write to an object of a command. It is idempotent.
type Effect struct {
	Do Do
	// Leaver is for Write, Close, Explain, Delete and Release.
	Leaver Leaver
	// Replacement is for Launch.
	Replacement Replacement
	// Claim is for Drop, Carrier for Forget: a claim, or a node without one.
	Claim   *karpenterv1.NodeClaim
	Carrier client.Object
	// Receivers are for Receive and NotReceived; At is when their command was begun.
	Receivers []string
	At        time.Time
}

// Replacement is a claim to be created.
type Replacement struct {
	Claim *karpenterv1.NodeClaim // with a name, and the record
	// Pool is the pool as the decision saw it.
	Pool *karpenterv1.NodePool
	// Capacity is what the claim takes of the pool's limits.
	Capacity model.Resources
}

// Do is the kind of an effect.
type Do string

// The effects, and what each checks again before its write.
const (
	// Write puts the record on a claim, unless it is being deleted, or has a record already.
	Write Do = "write"
	// Close taints a node, unless it is tainted already.
	Close Do = "close"
	// Explain says on a claim why it is removed, unless it says so already.
	Explain Do = "explain"
	// Launch creates a replacement, if its pool is as the decision saw it.
	Launch Do = "launch"
	// Receive records on claims that pods come to their nodes.
	Receive Do = "receive"
	// NotReceived removes that record, because the planned pods went elsewhere.
	NotReceived Do = "not-received"
	// Delete deletes a claim, or a node without one, if it has not changed.
	Delete Do = "delete"
	// Release removes the taint, the condition and, last, the record.
	Release Do = "release"
	// Drop deletes a replacement, if its node has no pods and no pod has a place there; otherwise it
	// is Forget.
	Drop Do = "drop"
	// Forget removes the record from a claim.
	Forget Do = "forget"
)

// Effects are what a step does to the objects, in groups. Effects of one group may each fail alone; a group
// begins when all effects of the previous one are done. So a command that is taken back keeps its record on the
// leavers to the end, and a process that finds it there repeats the step. Leavers that are being deleted keep it
// until they are gone. The effects of Look are those of Removal.
func (s *State) Effects(step Step) [][]Effect {
	switch step {
	case Begin:
		var next []Effect
		for _, r := range s.Orders {
			next = append(next, Effect{Do: Launch, Replacement: r})
		}
		return [][]Effect{onLeavers(Write, s.Leavers), append(next, onLeavers(Close, s.Leavers)...)}
	case Mark:
		return [][]Effect{onLeavers(Close, s.Staying()), onLeavers(Explain, s.Staying())}
	case Tell:
		return [][]Effect{onLeavers(Explain, s.Leavers)}
	case Abandon:
		end := Drop
		if s.Going() {
			end = Forget
		}
		return [][]Effect{s.onReplacements(end), onLeavers(Release, s.Staying())}
	case Over:
		return [][]Effect{s.onReplacements(Forget)}
	}
	return nil
}

// Removal returns the effects of a second look.
func (s *State) Removal(j Judgement) [][]Effect {
	return [][]Effect{
		{{Do: Receive, Receivers: s.Record.Receivers, At: s.Record.Begun}},
		append(onLeavers(Delete, j.Going), onLeavers(Release, j.Released)...),
	}
}

// Astray removes the record that pods came to claims' nodes by a command: the scheduler has bound them
// elsewhere.
func Astray(claims []string, begun time.Time) [][]Effect {
	return [][]Effect{{{Do: NotReceived, Receivers: claims, At: begun}}}
}

// Unrecord removes the records of objects that are part of no command: it is over, or the record
// cannot be read.
func Unrecord(carriers []client.Object) [][]Effect {
	var out []Effect
	for _, carrier := range carriers {
		out = append(out, Effect{Do: Forget, Carrier: carrier})
	}
	return [][]Effect{out}
}

// Unmark undoes what an earlier process, or a command that was abandoned during a write, did to leavers
// that are part of no command. Leavers that have a record, which a cache had not shown, keep their marks.
// Leavers that are being deleted stay as they are.
func Unmark(leavers []Leaver) [][]Effect {
	var out []Leaver
	for _, l := range leavers {
		if r, recorded := Of(l.Carrier()); !l.goes() && !(recorded && r.Takes(l.Member())) {
			out = append(out, l)
		}
	}
	return [][]Effect{onLeavers(Release, out)}
}

// goes reports whether the leaver or its node is being deleted.
func (l Leaver) goes() bool {
	return l.Carrier().GetDeletionTimestamp() != nil || l.Node != nil && l.Node.DeletionTimestamp != nil
}

func onLeavers(do Do, leavers []Leaver) []Effect {
	var out []Effect
	for _, l := range leavers {
		out = append(out, Effect{Do: do, Leaver: l})
	}
	return out
}

func (s *State) onReplacements(do Do) []Effect {
	var out []Effect
	for _, r := range s.Replacements {
		if r != nil {
			out = append(out, Effect{Do: do, Claim: r, Carrier: r})
		}
	}
	return out
}
