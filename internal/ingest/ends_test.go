package ingest_test

import "testing"

// Pods whose containers are never restarted end by themselves, with every kind of owner; of other
// pods it is unknown.
func TestPodsThatEnd(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]bool{"Never": true, "OnFailure": true, "Always": false, "": false} {
		s := build(t, fromCluster(t), leavesNode+podNamed("p", ofSet, bound+"restartPolicy: '"+policy+"'\n"))
		if s.Pods[0].Ends != want {
			t.Errorf("a pod with the restart policy %q ends: %t", policy, s.Pods[0].Ends)
		}
	}
}
