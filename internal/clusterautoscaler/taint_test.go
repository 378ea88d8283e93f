package clusterautoscaler_test

import (
	"testing"

	"tenon/internal/clusterautoscaler"
)

// TestTaints: which keys are those of a node that starts, and which ones a further node is expected without, by flag and by prefix.
func TestTaints(t *testing.T) {
	t.Parallel()
	flags := clusterautoscaler.Taints{Startup: []string{"example.com/boot"}, StartupPrefixes: []string{"boot.example.com/"}, Ignored: []string{"example.com/old"}, Status: []string{"example.com/busy"}}
	for key, want := range map[string]struct{ starts, passes bool }{
		"example.com/boot":   {true, true},
		"example.com/boot2":  {},
		"boot.example.com/x": {true, true},
		"example.com/old":    {true, true},
		"example.com/busy":   {false, true},
		"startup-taint.cluster-autoscaler.kubernetes.io/net": {true, true},
		"ignore-taint.cluster-autoscaler.kubernetes.io/net":  {true, true},
		"status-taint.cluster-autoscaler.kubernetes.io/net":  {false, true},
		"example.com/dedicated":                              {},
	} {
		if starts, passes := flags.IsStartup(key), flags.Passes(key); starts != want.starts || passes != want.passes {
			t.Errorf("%s: starts %v, passes %v, want %+v", key, starts, passes, want)
		}
	}
}
