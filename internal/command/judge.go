package command

import (
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
)

// Judgement is the result of the second look at the nodes of a command.
type Judgement struct {
	// Going are removed, Released must stay; both in the order of the record.
	Going, Released []Leaver
	// Abandon, if it has a code, says why none of them is removed and the command is taken back.
	Abandon Why
}

// Judge says what happens to the remaining nodes, given the objections to the removal of some of
// them, by claim.
func (s *State) Judge(objections map[string]reason.Cause) Judgement {
	out := Judgement{}
	why := Why{Code: NothingLeft}
	for _, l := range s.Staying() {
		cause, stays := objections[l.Member()]
		if !stays {
			out.Going = append(out.Going, l)
			continue
		}
		if len(out.Released) == 0 {
			why = Why{Code: NodeKept, Name: l.Name(), Cause: cause}
		}
		out.Released = append(out.Released, l)
	}
	if len(out.Going) == 0 || !s.Record.worthGoingOn(out.Released) {
		return Judgement{Abandon: why}
	}
	return out
}

// Name is the name of a leaver for users: that of its node, or of its claim without one.
func (l Leaver) Name() string {
	if l.Node != nil {
		return l.Node.Name
	}
	return l.Claim.Name
}

// worthGoingOn reports whether the command still makes sense when some of its nodes have to stay: drift and
// emptiness concern each node alone; otherwise the others, gone ones included, must cost more than their replacements.
func (r *Record) worthGoingOn(staying []Leaver) bool {
	if r.Reason != plan.Underutilized || len(r.Replacements) == 0 {
		return true
	}
	var gone, bought model.Money
	for _, m := range r.Claims {
		if !slices.ContainsFunc(staying, func(l Leaver) bool { return l.Member() == m.Claim }) {
			gone += m.Price
		}
	}
	for _, m := range r.Replacements {
		bought += m.Price
	}
	return gone > bought
}
