package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/lab/kubelet"
	"tenon/lab/labtest"
	"tenon/lab/machine"
)

func TestMachinesMadeByHandBecomeReady(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	form := form("by-hand")
	form.Zone = "zone-b"
	form.Taints = []v1.Taint{{Key: "team", Value: "x", Effect: v1.TaintEffectNoSchedule}}
	lab.Nodes(t, form, "by-hand-1")

	node, err := lab.Clients.CoreV1().Nodes().Get(t.Context(), "by-hand-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := node.Labels[v1.LabelTopologyZone] + " " + node.Labels[teamLabel]; got != "zone-b by-hand" {
		t.Errorf("labels say %q", got)
	}
	if got := node.Status.Capacity.Cpu().String(); got != "4" {
		t.Errorf("capacity is %s cores, want 4", got)
	}
	if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != "team" {
		t.Errorf("taints are %v, want the one of the form alone", node.Spec.Taints)
	}
	if lease, err := lab.Clients.CoordinationV1().Leases(v1.NamespaceNodeLease).Get(t.Context(), "by-hand-1", metav1.GetOptions{}); err != nil || lease.Spec.RenewTime == nil {
		t.Errorf("its lease is %v, %v", lease, err)
	}
}

func TestDeploymentRunsOnItsMachines(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	create(t, lab, namespace, deployment("web", 6))
	lab.AwaitPods(t, namespace, "app=web", 6, labtest.PodPending)

	lab.Nodes(t, form("web"), "web-1", "web-2")
	addresses := map[string]string{}
	for _, pod := range lab.AwaitPods(t, namespace, "app=web", 6, labtest.PodReady) {
		if pod.Spec.NodeName != "web-1" && pod.Spec.NodeName != "web-2" {
			t.Errorf("pod %s is on %s", pod.Name, pod.Spec.NodeName)
		}
		if other := addresses[pod.Status.PodIP]; other != "" || pod.Status.PodIP == "" {
			t.Errorf("pods %s and %s share the address %q", pod.Name, other, pod.Status.PodIP)
		}
		addresses[pod.Status.PodIP] = pod.Name
	}
}

func TestPodsEndGracefully(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	lab.Nodes(t, form("grace"), "grace-1")
	const takes = 3 * time.Second
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "slow-to-end", Labels: map[string]string{"app": "grace"},
			Annotations: map[string]string{kubelet.AnnotationStopAfter: takes.String()},
		},
		Spec: podSpec("grace", "example.com/web:1"),
	}
	create(t, lab, namespace, pod)
	lab.AwaitPods(t, namespace, "app=grace", 1, labtest.PodReady)

	asked := time.Now()
	if err := lab.Clients.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	lab.AwaitGone(t, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod.Name}})
	// Times in the API are whole seconds.
	if took := time.Since(asked); took < takes-time.Second || took > 30*time.Second {
		t.Errorf("it was gone after %s, want about %s", took, takes)
	}
}

func TestEvictionHonoursBudgets(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	lab.Nodes(t, form("guarded"), "guarded-1")
	create(t, lab, namespace, budget("guarded", 2))
	create(t, lab, namespace, deployment("guarded", 2))
	pods := lab.AwaitPods(t, namespace, "app=guarded", 2, labtest.PodReady)
	awaitAllowed(t, lab, namespace, 0)

	if err := evict(t, lab, namespace, pods[0].Name); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("eviction at the budget's limit: %v, want 429", err)
	}
	// A patch, not an update: the deployment's controller writes its status at the same time.
	three := []byte(`{"spec": {"replicas": 3}}`)
	if _, err := lab.Clients.AppsV1().Deployments(namespace).Patch(t.Context(), "guarded", types.MergePatchType, three, metav1.PatchOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	lab.AwaitPods(t, namespace, "app=guarded", 3, labtest.PodReady)
	awaitAllowed(t, lab, namespace, 1)
	if err := evict(t, lab, namespace, pods[0].Name); err != nil {
		t.Fatalf("eviction with one to spare: %v", err)
	}
	lab.AwaitGone(t, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pods[0].Name}})
}

func awaitAllowed(t *testing.T, lab *labtest.Lab, namespace string, want int32) {
	t.Helper()
	lab.Eventually(t, fmt.Sprintf("the budget allows %d", want), func(ctx context.Context) (bool, string) {
		now, err := lab.Clients.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, "guarded", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		observed := now.Status.ObservedGeneration == now.Generation && now.Status.ExpectedPods >= 2
		return observed && now.Status.DisruptionsAllowed == want && now.Status.CurrentHealthy == 2+want, fmt.Sprintf("%+v", now.Status)
	})
}

func evict(t *testing.T, lab *labtest.Lab, namespace, pod string) error {
	t.Helper()
	return lab.Clients.PolicyV1().Evictions(namespace).Evict(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod},
	})
}

func TestJobsComplete(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	lab.Nodes(t, form("batch"), "batch-1")
	create(t, lab, namespace, job("batch", map[string]string{kubelet.AnnotationRunFor: "1s"}))
	lab.Eventually(t, "the job is complete", func(ctx context.Context) (bool, string) {
		now, err := lab.Clients.BatchV1().Jobs(namespace).Get(ctx, "batch", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return now.Status.Succeeded == 1 && now.Status.CompletionTime != nil, fmt.Sprintf("%+v", now.Status)
	})
	lab.AwaitPods(t, namespace, "app=batch", 1, labtest.PodSucceeded)
}

func TestAnImageNamedCrashCrashes(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	lab.Nodes(t, form("crash"), "crash-1")
	create(t, lab, namespace, &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "crash", Labels: map[string]string{"app": "crash"}},
		Spec:       podSpec("crash", "example.com/crash:1"),
	})
	lab.AwaitPods(t, namespace, "app=crash", 1, labtest.PodCondition{Name: "in a crash loop", Holds: func(pod *v1.Pod) bool {
		for _, status := range pod.Status.ContainerStatuses {
			if status.RestartCount > 0 && status.State.Waiting != nil && status.State.Waiting.Reason == "CrashLoopBackOff" {
				return true
			}
		}
		return false
	}})
}

func TestPodsOfADeletedMachineRunElsewhere(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	lab.Nodes(t, form("moving"), "moving-1")
	create(t, lab, namespace, deployment("moving", 2))
	lab.AwaitPods(t, namespace, "app=moving", 2, labtest.PodReady)

	lab.Nodes(t, form("moving"), "moving-2")
	if err := machine.Delete(t.Context(), lab.Clients, []string{"moving-1"}); err != nil {
		t.Fatal(err)
	}
	lab.AwaitPods(t, namespace, "app=moving", 2, labtest.PodCondition{Name: "ready on the other machine", Holds: func(pod *v1.Pod) bool {
		return pod.Spec.NodeName == "moving-2" && labtest.PodReady.Holds(pod)
	}})
}

func TestASilentMachineIsNotReady(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	silent := form("silent")
	lab.Nodes(t, form("talking"), "talking-1", "talking-2") // where most nodes are silent, none is given up
	lab.Nodes(t, silent, "silent-1")
	patch := []byte(fmt.Sprintf(`{"metadata":{"annotations":{%q:"silent"}}}`, kubelet.AnnotationFault))
	if _, err := lab.Clients.CoreV1().Nodes().Patch(t.Context(), "silent-1", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the node is tainted as unreachable", func(ctx context.Context) (bool, string) {
		node, err := lab.Clients.CoreV1().Nodes().Get(ctx, "silent-1", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key == v1.TaintNodeUnreachable && taint.Effect == v1.TaintEffectNoExecute {
				return true, ""
			}
		}
		return false, fmt.Sprintf("taints %v, conditions %+v", node.Spec.Taints, node.Status.Conditions)
	})
}
