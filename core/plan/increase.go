package plan

import (
	"slices"

	"tenon/core/snapshot"
)

// Increase raises the size of a group of instances, for all claims of a plan on it together, those for buffers included.
type Increase struct {
	Group string // its name in the cloud
	// From is the size that the decision saw: the increase is carried out only while the cloud still keeps it. To is the size
	// that is asked for.
	From, To int64
}

// Increases are those that the plan asks for now, one for each group, in the order of the groups' pools in the snapshot.
func (p *Plan) Increases(s *snapshot.Snapshot) []Increase {
	more := map[string]int64{}
	for _, c := range slices.Concat(p.Claims, p.Spare) {
		if c.Group != "" && c.Now() {
			more[c.Group]++
		}
	}
	var out []Increase
	for i := range s.Pools {
		if g := s.Pools[i].Group; g != nil && more[g.Name] > 0 {
			out = append(out, Increase{Group: g.Name, From: g.Desired, To: g.Desired + more[g.Name]})
		}
	}
	return out
}
