package v1

import "time"

// The values of absent fields.
const (
	DefaultExpireAfter         = 720 * time.Hour
	DefaultConsolidationPolicy = ConsolidateWhenEmptyOrUnderutilized
	DefaultBudgetNodes         = "10%"
)

// SetDefaults fills in what the API server would, for objects that come from a file.
func (p *NodePool) SetDefaults() {
	setExpireAfterDefault(&p.Spec.Template.Spec.ExpireAfter)
	p.Spec.Disruption.SetDefaults()
	if p.Status.Nodes == nil {
		p.Status.Nodes = new(int64)
	}
}

// SetDefaults fills in what the API server would, for objects that come from a file.
func (c *NodeClaim) SetDefaults() {
	setExpireAfterDefault(&c.Spec.ExpireAfter)
}

func setExpireAfterDefault(d *NillableDuration) {
	if !d.IsSet() {
		*d = written(`"720h"`, DefaultExpireAfter)
	}
}

// SetDefaults fills in what the API server would, for objects that come from a file.
func (d *Disruption) SetDefaults() {
	if !d.ConsolidateAfter.IsSet() {
		d.ConsolidateAfter = written(`"0s"`, 0)
	}
	if d.ConsolidationPolicy == "" {
		d.ConsolidationPolicy = DefaultConsolidationPolicy
	}
	if d.Budgets == nil {
		d.Budgets = []Budget{{Nodes: DefaultBudgetNodes}}
	}
	for i := range d.Budgets {
		if d.Budgets[i].Nodes == "" {
			d.Budgets[i].Nodes = DefaultBudgetNodes
		}
	}
}

// written returns a duration with the text of the schema's default.
func written(text string, d time.Duration) NillableDuration {
	return NillableDuration{Duration: &d, Raw: []byte(text)}
}
