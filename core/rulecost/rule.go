package rulecost

import (
	"fmt"
	"strings"

	"tenon/core/requirement"
)

// Kind is what sort of rule it is.
type Kind string

// The kinds. Those from Weight on are rules of pools, the others of pods; zones and capacity
// types may be ruled by either.
const (
	Spread         Kind = "Spread"
	AntiAffinity   Kind = "AntiAffinity"
	Affinity       Kind = "Affinity"
	NodePreference Kind = "NodePreference"
	Zone           Kind = "Zone"
	CapacityType   Kind = "CapacityType"
	Weight         Kind = "Weight"
	Limit          Kind = "Limit"
)

// Rule is one rule of a workload or of a pool.
type Rule struct {
	Kind Kind
	// Soft rules are preferences.
	Soft bool
	// Key is the topology key of a spread or an affinity, or what a limit is about.
	Key string
	// Pool is set for rules of pools. Those of pods have a Namespace and a Workload, such as
	// Deployment/web; pods without an owner are named by the first of them, as Pod/web-0.
	Pool, Namespace, Workload string
	// Workloads is how many workloads, or pools, it is the rule of: more than one where those
	// of a kind were only looked at together.
	Workloads int
	// Pods is how many pods without a place it is about.
	Pods int
}

// Text names the rule as people do.
func (r Rule) Text() string {
	switch r.Kind {
	case Spread:
		return fmt.Sprintf("%sspread of %s over %ss", r.prefix("soft "), r.subject(), topology(r.Key))
	case AntiAffinity:
		return fmt.Sprintf("%santi-affinity of %s by %s", r.prefix("preferred "), r.subject(), topology(r.Key))
	case Affinity:
		return fmt.Sprintf("%saffinity of %s by %s", r.prefix("preferred "), r.subject(), topology(r.Key))
	case NodePreference:
		return "preferred node affinity of " + r.subject()
	case Zone:
		return "zone rule of " + r.subject()
	case CapacityType:
		return "capacity type rule of " + r.subject()
	case Weight:
		return "weight of " + r.subject()
	case Limit:
		return fmt.Sprintf("limit %s of %s", r.Key, r.subject())
	}
	return string(r.Kind) + " of " + r.subject()
}

func (r Rule) prefix(soft string) string {
	if r.Soft {
		return soft
	}
	return ""
}

// subject is whose rule it is.
func (r Rule) subject() string {
	switch {
	case r.Workloads > 1 && r.Pool != "":
		return fmt.Sprintf("%d NodePools together", r.Workloads)
	case r.Workloads > 1:
		return fmt.Sprintf("%d workloads together", r.Workloads)
	case r.Pool != "":
		return "NodePool " + r.Pool
	}
	kind, name, _ := strings.Cut(r.Workload, "/")
	return kind + " " + r.Namespace + "/" + name
}

// topology is a topology key in a word, if there is one for it.
func topology(key string) string {
	switch key {
	case requirement.KeyHostname:
		return "hostname"
	case requirement.KeyZone:
		return "zone"
	case requirement.KeyCapacityType:
		return "capacity type"
	}
	return key + " domain"
}
