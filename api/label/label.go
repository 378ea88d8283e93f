// Package label knows which node labels a user may write and how their keys are read.
//
// It holds mechanics only. The keys themselves are data: the Kubernetes-neutral part comes from
// the karpenter group, each cloud adds its own, and no package changes a variable of another
// one. The package must not import API types or clients.
package label

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Data is what a contributor (the neutral API, or a cloud) says about labels.
type Data struct {
	// WellKnown are keys that nodes get from the platform, so that a pod may select them although
	// no pool mentions them.
	WellKnown []string
	// RestrictedDomains are domains, subdomains included, in which only well-known keys may be used.
	RestrictedDomains []string
	// RestrictedKeys are refused in every domain.
	RestrictedKeys []string
	// Aliases maps an older or foreign key to the key it means.
	Aliases map[string]string
	// KnownValues lists, for a well-known key, every value that can ever match.
	KnownValues map[string][]string
}

// Rules answers questions about labels from the data of all contributors. The zero value knows
// no label and restricts none. Rules are immutable and may be shared.
type Rules struct {
	wellKnown         []string // sorted, unique
	restrictedDomains []string // sorted, unique
	restrictedKeys    []string // sorted, unique
	aliases           map[string]string
	knownValues       map[string][]string // values sorted
}

// Join makes rules from the data of all contributors. A later contributor's alias or
// list of known values replaces an earlier one for the same key.
func Join(contributions ...Data) Rules {
	r := Rules{aliases: map[string]string{}, knownValues: map[string][]string{}}
	for _, d := range contributions {
		r.wellKnown = append(r.wellKnown, d.WellKnown...)
		r.restrictedDomains = append(r.restrictedDomains, d.RestrictedDomains...)
		r.restrictedKeys = append(r.restrictedKeys, d.RestrictedKeys...)
		maps.Copy(r.aliases, d.Aliases)
		for key, values := range d.KnownValues {
			r.knownValues[key] = slices.Sorted(slices.Values(values))
		}
	}
	r.wellKnown = sortedSet(r.wellKnown)
	r.restrictedDomains = sortedSet(r.restrictedDomains)
	r.restrictedKeys = sortedSet(r.restrictedKeys)
	return r
}

func sortedSet(values []string) []string {
	slices.Sort(values)
	return slices.Clip(slices.Compact(values))
}

// Normalize returns the key that an alias stands for, and other keys unchanged.
func (r Rules) Normalize(key string) string {
	if meant, ok := r.aliases[key]; ok {
		return meant
	}
	return key
}

// Aliases returns the keys that stand for others.
func (r Rules) Aliases() map[string]string { return maps.Clone(r.aliases) }

// IsWellKnown tells whether nodes get the label from the platform.
func (r Rules) IsWellKnown(key string) bool {
	_, found := slices.BinarySearch(r.wellKnown, key)
	return found
}

// IsRestricted tells whether users may not write the key. Well-known keys are never restricted.
func (r Rules) IsRestricted(key string) bool {
	if r.IsWellKnown(key) {
		return false
	}
	if _, found := slices.BinarySearch(r.restrictedKeys, key); found {
		return true
	}
	domain, _, hasDomain := strings.Cut(key, "/")
	return hasDomain && slices.ContainsFunc(r.restrictedDomains, func(restricted string) bool {
		return domain == restricted || strings.HasSuffix(domain, "."+restricted)
	})
}

// CheckAllowed explains, for a key that users may not write, why not and what to do instead.
func (r Rules) CheckAllowed(key string) error {
	if !r.IsRestricted(key) {
		return nil
	}
	return fmt.Errorf("using label %s is not allowed as it might interfere with the internal provisioning logic; "+
		"specify a well known label: %v, or a custom label that does not use a restricted domain: %v",
		key, r.wellKnown, r.restrictedDomains)
}

// KnownValues returns, sorted, all values that a key can have, and whether they are known at all.
func (r Rules) KnownValues(key string) ([]string, bool) {
	values, ok := r.knownValues[key]
	return slices.Clone(values), ok
}

// WellKnown returns the well-known keys, sorted.
func (r Rules) WellKnown() []string { return slices.Clone(r.wellKnown) }

// RestrictedDomains returns the restricted domains, sorted.
func (r Rules) RestrictedDomains() []string { return slices.Clone(r.restrictedDomains) }
