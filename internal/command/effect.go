package command

import (
	karpenterv1 "tenon/api/karpenter/v1"
)

// Effect is one write to an object of a command. To do it twice does no harm.
type Effect struct {
	Do Do
	// Leaver is of Close, Delete and Release.
	Leaver Leaver
	// Claim is of Drop and Forget.
	Claim *karpenterv1.NodeClaim
	// Receivers are of Receive.
	Receivers []string
}

// Do is what an effect does.
type Do string

// The effects, with what is checked again before them.
const (
	// Close taints a node, and says on its claim why it goes; not if that is so already.
	Close Do = "close"
	// Receive notes on claims that pods come to their nodes.
	Receive Do = "receive"
	// Delete deletes a claim, if it is as it was seen.
	Delete Do = "delete"
	// Release takes back the taint, the condition and, last, the record.
	Release Do = "release"
	// Drop deletes a replacement, if nothing has come to its node and no pod has a place there;
	// otherwise it is Forget.
	Drop Do = "drop"
	// Forget takes the record from a claim.
	Forget Do = "forget"
)

// Effects are what a step does to the objects, in groups. Effects of one group may each fail
// alone; a group is begun when all of the one before it is done. So a command that is taken back
// or is over keeps its record on the leavers to the end, and a process that finds it there does
// the step again. Of Look it is Removal.
func (s *Stage) Effects(step Step) [][]Effect {
	switch step {
	case Mark:
		return [][]Effect{onLeavers(Close, s.Staying())}
	case Abandon:
		return [][]Effect{s.onReplacements(Drop), onLeavers(Release, s.Staying())}
	case Over:
		var leavers []Effect
		for _, l := range s.Leavers {
			leavers = append(leavers, Effect{Do: Forget, Claim: l.Claim})
		}
		return [][]Effect{s.onReplacements(Forget), leavers}
	}
	return nil
}

// Removal are the effects of a second look.
func (s *Stage) Removal(o Outcome) [][]Effect {
	return [][]Effect{
		{{Do: Receive, Receivers: s.Record.Receivers}},
		append(onLeavers(Delete, o.Going), onLeavers(Release, o.Released)...),
	}
}

func onLeavers(do Do, leavers []Leaver) []Effect {
	var out []Effect
	for _, l := range leavers {
		out = append(out, Effect{Do: do, Leaver: l})
	}
	return out
}

func (s *Stage) onReplacements(do Do) []Effect {
	var out []Effect
	for _, r := range s.Replacements {
		if r != nil {
			out = append(out, Effect{Do: do, Claim: r})
		}
	}
	return out
}
