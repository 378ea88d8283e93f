package v1

import "tenon/api/fingerprint"

// NodePoolHashVersion changes when equal templates would get a different hash than before. Claims with an
// older version then get the new hash instead of being replaced.
const NodePoolHashVersion = "v3"

// Hash returns the fingerprint of the fields whose change makes every node of the pool drift: the
// template without its requirements. How durations are written does not matter, and Never counts as
// an absent value.
func (p *NodePool) Hash() string {
	template := p.Spec.Template
	if template.Spec.ExpireAfter.Duration == nil {
		template.Spec.ExpireAfter = NillableDuration{}
	}
	return fingerprint.Of(template)
}
