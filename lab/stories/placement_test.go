package stories

import (
	"context"
	"maps"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// A team's pods get the team's machines once its agent is ready. Other pods are kept out, and an event says
// why.
func TestTeamPool(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "team.yaml")
	intruders := s.pending("intruder", 1)
	s.AwaitEvent(&intruders[0], "FailedScheduling", "networkNode")
	claims := s.awaitClaims(1)
	s.AwaitCondition(&claims[0], karpenterv1.ConditionInitialized, metav1.ConditionUnknown, "agent-starting")
	s.startAgent(claims[0].Status.NodeName)
	for _, pod := range s.Running("network-app", 3) {
		node := s.nodeOf(pod)
		if kind := node.Labels[v1.LabelInstanceTypeStable]; kind != "c5n.4xlarge" && kind != "c6in.4xlarge" {
			t.Errorf("%s is a %s", node.Name, kind)
		}
		if zone := node.Labels[v1.LabelTopologyZone]; zone != "us-west-2a" && zone != "us-west-2c" {
			t.Errorf("%s is in %s", node.Name, zone)
		}
		if node.Labels["phase"] != "test" {
			t.Errorf("%s has labels %v", node.Name, node.Labels)
		}
	}
	s.pending("intruder", 1)
}

// startAgent removes the start-up taint of a node, as the team's agent would.
func (s *story) startAgent(name string) {
	s.Helper()
	s.Eventually("the agent of "+name+" is ready", func(ctx context.Context) (bool, string) {
		node, err := s.Lab.Clients.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		var kept []v1.Taint
		for _, taint := range node.Spec.Taints {
			if taint.Key != "example.com/agent-starting" {
				kept = append(kept, taint)
			}
		}
		node.Spec.Taints = kept
		_, err = s.Lab.Clients.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err == nil, "update: it was changed by others"
	})
}

// A pod's requirements on its node are kept, and its preferences are if possible.
func TestNodeAffinity(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "pool.yaml", "affinity.yaml")
	labels := s.nodeOf(s.Running("picky", 1)[0]).Labels
	if zone := labels[v1.LabelTopologyZone]; zone == "us-west-2a" || zone == "us-west-2b" {
		t.Errorf("it runs in %s, which it excludes", zone)
	}
	switch labels[awsv1.LabelInstanceCPU] {
	case "1", "2", "4":
		t.Errorf("it runs on %s processors, want at least eight", labels[awsv1.LabelInstanceCPU])
	}
	if family := labels[awsv1.LabelInstanceFamily]; family != "m6i" {
		t.Errorf("it runs on %s, want the preferred m6i", family)
	}
	s.Running("dreamer", 1)
}

// Six pods with a maximal skew of one over three zones are two in each.
func TestZoneSpread(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "pool.yaml", "spread.yaml")
	got := s.spread(s.Running("spread", 6), v1.LabelTopologyZone)
	if want := map[string]int{"us-west-2a": 2, "us-west-2b": 2, "us-west-2c": 2}; !maps.Equal(got, want) {
		t.Errorf("pods by zone: %v, want %v", got, want)
	}
}

// Pods with anti-affinity to each other get a node each.
func TestPodAntiAffinity(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "pool.yaml", "apart.yaml")
	if got := s.spread(s.Running("apart", 3), v1.LabelHostname); len(got) != 3 {
		t.Errorf("pods by node: %v, want three nodes", got)
	}
}

// Pods that use the same host port get a node each.
func TestHostPorts(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "pool.yaml", "ports.yaml")
	if got := s.spread(s.Running("ports", 3), v1.LabelHostname); len(got) != 3 {
		t.Errorf("pods by node: %v, want three nodes", got)
	}
}

// A pod goes where its disk is, or where its disk can be made.
func TestVolumesInOneZone(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "pool.yaml", "volume.yaml")
	for app, want := range map[string]string{"old": "us-west-2c", "new": "us-west-2b"} {
		if zone := s.nodeOf(s.Running(app, 1)[0]).Labels[v1.LabelTopologyZone]; zone != want {
			t.Errorf("%s runs in %s, want %s", app, zone, want)
		}
	}
}

// A pool of both architectures gives each pod the one that it selects.
func TestArchitectures(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "pool.yaml", "architectures.yaml")
	for app, want := range map[string]string{"arm": "arm64", "intel": "amd64"} {
		if got := s.spread(s.Running(app, 2), v1.LabelArchStable); got[want] != 2 {
			t.Errorf("%s runs on %v, want %s", app, got, want)
		}
	}
}
