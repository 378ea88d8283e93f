package clusterautoscaler_test

import (
	"slices"
	"testing"

	"tenon/internal/clusterautoscaler"
)

// Groups may differ in the names that managed node groups and eksctl give them, but not in what their nodes are.
func TestIgnoredLabels(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]bool{
		"nodegroup-name": true, "eks.amazonaws.com/nodegroup": true, "alpha.eksctl.io/nodegroup-name": true, "topology.kubernetes.io/zone": true,
		"cluster-name": false, "eks.amazonaws.com/capacityType": false, "node.kubernetes.io/instance-type": false,
	} {
		if got := slices.Contains(clusterautoscaler.IgnoredLabels(), label); got != want {
			t.Errorf("%s is ignored: %t, want %t", label, got, want)
		}
	}
}
