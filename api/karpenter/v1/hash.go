package v1

import "tenon/api/fingerprint"

// NodePoolHashVersion changes when equal templates would get another hash than before. Claims of
// another version are then stamped anew instead of being replaced.
const NodePoolHashVersion = "v3"

// Hash returns the fingerprint of what, when it changes, drifts every node of the pool: the
// template but for its requirements. How durations are written does not count, and Never is like
// a value that is absent.
func (p *NodePool) Hash() string {
	template := p.Spec.Template
	if template.Spec.ExpireAfter.Duration == nil {
		template.Spec.ExpireAfter = NillableDuration{}
	}
	return fingerprint.Of(template)
}
