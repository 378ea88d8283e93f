package clusterautoscaler

import (
	"slices"
	"strings"
)

// Taints name the taints that nodes of groups have for a while: a further node is expected without them.
type Taints struct {
	// Startup and StartupPrefixes are keys, and beginnings of keys, of taints of a node that starts. Ignored is an older name for
	// Startup.
	Startup, StartupPrefixes, Ignored []string
	// Status are keys of taints that say something about a node in service.
	Status []string
}

// Beginnings of keys that have the meaning without a flag.
var (
	startupPrefixes = []string{"startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/"}
	statusPrefixes  = []string{"status-taint.cluster-autoscaler.kubernetes.io/"}
)

// IsStartup reports whether a node with a taint of this key is still starting.
func (t *Taints) IsStartup(key string) bool {
	return slices.Contains(t.Startup, key) || slices.Contains(t.Ignored, key) || begins(key, startupPrefixes) || begins(key, t.StartupPrefixes)
}

// Passes reports whether a further node is expected without a taint of this key.
func (t *Taints) Passes(key string) bool {
	return t.IsStartup(key) || slices.Contains(t.Status, key) || begins(key, statusPrefixes)
}

func begins(key string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}
