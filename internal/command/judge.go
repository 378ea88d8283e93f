package command

import (
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
	var names []string
	for _, l := range s.Staying() {
		cause, stays := objections[l.Member()]
		switch {
		case !stays:
			out.Going, names = append(out.Going, l), append(names, l.Member())
			continue
		case len(out.Released) == 0:
			why = Why{Code: NodeKept, Name: l.Name(), Cause: cause}
		}
		out.Released = append(out.Released, l)
	}
	if !s.Record.worthGoingOn(names) {
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

// worthGoingOn reports whether the command still makes sense when only some of its claims can be removed:
// drift and emptiness concern each node alone; otherwise the removed nodes must cost more than their
// replacements.
func (r *Record) worthGoingOn(going []string) bool {
	if len(going) == 0 {
		return false
	}
	if r.Reason != plan.Underutilized || len(r.Replacements) == 0 {
		return true
	}
	var gone, bought model.Money
	for _, m := range r.Claims {
		for _, name := range going {
			if m.Claim == name {
				gone += m.Price
			}
		}
	}
	for _, m := range r.Replacements {
		bought += m.Price
	}
	return gone > bought
}
