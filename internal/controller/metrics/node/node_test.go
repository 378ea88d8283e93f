package node_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/metrics/node"
	"tenon/internal/testing/harness"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func makeNode(r *harness.Harness, name, pool string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(r.Clock.Now().Add(-time.Minute)),
			Labels: map[string]string{karpenterv1.LabelNodePool: pool, karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass"): "default"},
		},
		Status: corev1.NodeStatus{Capacity: list("cpu", "4", "ephemeral-storage", "100"), Allocatable: list("cpu", "3500m", "ephemeral-storage", "80")},
	}
}

func pod(name, node, owner, cpu string) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: owner, Name: "o", Controller: &yes}}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: list("cpu", cpu), Limits: list("cpu", "2"),
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// What a node has, what its pods ask for, and what all nodes together are asked for.
func TestNodesAreMeasured(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	for _, o := range []*corev1.Pod{
		pod("a", "n", "ReplicaSet", "500m"), pod("d", "n", "DaemonSet", "200m"), pod("waits", "", "ReplicaSet", "3"),
	} {
		r.Must(r.API.Create(t.Context(), o))
	}
	done := pod("done", "n", "Job", "1")
	done.Status.Phase = corev1.PodSucceeded
	r.Must(r.API.Create(t.Context(), done))
	r.Must(r.API.Create(t.Context(), makeNode(r, "n", "pool")))
	c := node.New(r.Kit)[0]
	if got := r.Run(c, ""); got.After != 5*time.Second {
		t.Errorf("looks again after %s, want 5s", got.After)
	}
	m := r.Kit.Metrics
	collectors := []prometheus.Collector{
		m.NodesAllocatable, m.NodesSystemOverhead, m.NodesTotalPodRequests, m.NodesTotalPodLimits,
		m.NodesTotalDaemonRequests, m.NodesTotalDaemonLimits, m.NodesCurrentLifetimeSeconds, m.ClusterUtilizationPercent,
	}
	each := func(name, resource string, value any) string {
		return fmt.Sprintf("nodes_%s{managed=true node_name=n nodepool=pool resource_type=%s} %v", name, resource, value)
	}
	want := []string{
		"cluster_utilization_percent{resource_type=cpu} 20",
		"cluster_utilization_percent{resource_type=ephemeral_storage} 0",
		each("allocatable", "cpu", 3.5), each("allocatable", "ephemeral_storage", 80),
		"nodes_current_lifetime_seconds{managed=true node_name=n nodepool=pool} 60",
		each("system_overhead", "cpu", 0.5), each("system_overhead", "ephemeral_storage", 20),
		each("total_daemon_limits", "cpu", 2), each("total_daemon_limits", "pods", 1),
		each("total_daemon_requests", "cpu", 0.2), each("total_daemon_requests", "pods", 1),
		each("total_pod_limits", "cpu", 4), each("total_pod_limits", "pods", 2),
		each("total_pod_requests", "cpu", 0.7), each("total_pod_requests", "pods", 2),
	}
	if diff := cmp.Diff(want, r.Series("karpenter_", collectors...)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	var gone corev1.Node
	r.Get("n", &gone)
	r.Must(r.API.Delete(t.Context(), &gone))
	r.Run(c, "")
	if got := r.Series("karpenter_", collectors...); len(got) != 0 {
		t.Errorf("of a node that is gone: %q", got)
	}
}

// With many nodes the gauges are by pool, with sums, and the age of the oldest node.
func TestManyNodesAreAddedUp(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Kit.Settings.MetricsSeries = 200
	for i := range 30 {
		n := makeNode(r, fmt.Sprintf("n%02d", i), []string{"blue", "red"}[i%2])
		n.CreationTimestamp = metav1.NewTime(r.Clock.Now().Add(-time.Duration(i) * time.Second))
		r.Must(r.API.Create(t.Context(), n))
	}
	r.Run(node.New(r.Kit)[0], "")
	want := []string{
		"nodes_allocatable{managed=true nodepool=blue resource_type=cpu} 52.5",
		"nodes_allocatable{managed=true nodepool=blue resource_type=ephemeral_storage} 1200",
		"nodes_allocatable{managed=true nodepool=red resource_type=cpu} 52.5",
		"nodes_allocatable{managed=true nodepool=red resource_type=ephemeral_storage} 1200",
		"nodes_current_lifetime_seconds{managed=true nodepool=blue} 28",
		"nodes_current_lifetime_seconds{managed=true nodepool=red} 29",
	}
	if diff := cmp.Diff(want, r.Series("karpenter_", r.Kit.Metrics.NodesAllocatable, r.Kit.Metrics.NodesCurrentLifetimeSeconds)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// The gauges mark nodes of others as such.
func TestNodesOfOthers(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	n := makeNode(r, "n", "")
	n.Labels = nil
	r.Must(r.API.Create(t.Context(), n))
	r.Run(node.New(r.Kit)[0], "")
	if diff := cmp.Diff([]string{"nodes_current_lifetime_seconds{managed=false node_name=n} 60"}, r.Series("karpenter_", r.Kit.Metrics.NodesCurrentLifetimeSeconds)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// Metrics that are switched off cost no work.
func TestObservabilityCanBeOff(t *testing.T) {
	t.Parallel()
	kit := harness.New(t, memory.Options{}).Kit
	kit.Settings.DisableClusterStateObservability = true
	if got := node.New(kit); len(got) != 0 {
		t.Errorf("%d controllers", len(got))
	}
}
