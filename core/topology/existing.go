package topology

import (
	"tenon/core/feasible"
	"tenon/core/snapshot"
)

// existing counts the pods on existing nodes, and lists for each group the domains of nodes
// that count.
func existing(sp *feasible.Space, reg *Registry) (Counts, []map[string]bool) {
	groups := reg.Groups()
	e := &hostCounter{sp: sp, reg: reg, counts: NewCounts(len(groups)), domains: make([]map[string]bool, len(groups))}
	for g := range groups {
		e.domains[g] = map[string]bool{}
	}
	if len(groups) > 0 {
		e.countHosts()
	}
	return e.counts, e.domains
}

// hostCounter counts the pods on hosts.
type hostCounter struct {
	sp      *feasible.Space
	reg     *Registry
	counts  Counts
	domains []map[string]bool
}

func (e *hostCounter) countHosts() {
	seen := make([]bool, len(e.sp.HostClasses))
	for h := range e.sp.Hosts {
		if class := e.sp.Hosts[h].Class; !seen[class] {
			seen[class] = true
			e.countClass(class)
		}
		e.countPods(&e.sp.Hosts[h], false)
	}
	for h := range e.sp.Departing {
		e.countPods(&e.sp.Departing[h], true)
	}
}

func (e *hostCounter) countClass(class int) {
	groups := e.reg.Groups()
	for g := range groups {
		if domain, ok := e.sp.ClassLabel(class, groups[g].Key); ok && admits(groups[g].Filter, class) {
			e.domains[g][domain] = true
		}
	}
}

func (e *hostCounter) countPods(h *feasible.Host, leaving bool) {
	for _, p := range h.Bound {
		if pod := &e.sp.Snapshot.Pods[p]; !pod.Terminating {
			e.countBound(h.Class, pod.Template, leaving)
		}
	}
}

func (e *hostCounter) countBound(class int, template snapshot.TemplateIndex, leaving bool) {
	rules := e.reg.Bound(&e.sp.Snapshot.Templates[template])
	groups := e.reg.Groups()
	for _, g := range rules.Counts {
		if domain, ok := e.sp.ClassLabel(class, groups[g].Key); ok && admits(groups[g].Filter, class) {
			one := Count{Sure: 1}
			if leaving {
				one.Leaving = 1
			}
			e.counts.Add(g, domain, one)
		}
	}
	for _, c := range rules.Caps {
		if domain, ok := e.sp.ClassLabel(class, groups[c.Group].Key); ok {
			e.counts.Cap(c.Group, domain, c.Max)
		}
	}
}
