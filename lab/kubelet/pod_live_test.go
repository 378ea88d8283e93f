package kubelet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const runningConditions = "PodScheduled,PodReadyToStartContainers,Initialized,ContainersReady,Ready"

func TestPodsRunAfterTheStartDelayWithUniqueAddresses(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		for i := range 50 {
			w.createPod(boundPod(fmt.Sprintf("p%d", i), "n"))
		}
		w.createPod(boundPod("host", "n", func(p *v1.Pod) { p.Spec.HostNetwork = true }))
		w.pass(1900 * time.Millisecond)
		if got := describePod(w.pod("p0")); got != "Pending" {
			t.Errorf("before the start delay: %s", got)
		}
		w.pass(100 * time.Millisecond)
		seen := map[string]bool{}
		for i := range 50 {
			p := w.pod(fmt.Sprintf("p%d", i))
			if got, want := describePod(p), "Running main:running/0 "+runningConditions; got != want {
				t.Fatalf("pod %s = %q, want %q", p.Name, got, want)
			}
			if p.Status.PodIP == "" || seen[p.Status.PodIP] || p.Status.HostIP != addressOf(w.node("n")) {
				t.Errorf("pod %s: address %q, host %q", p.Name, p.Status.PodIP, p.Status.HostIP)
			}
			seen[p.Status.PodIP] = true
		}
		if got, want := w.pod("host").Status.PodIP, addressOf(w.node("n")); got != want {
			t.Errorf("host network pod has %s, its node %s", got, want)
		}
		if got := w.written("PATCH pods/status"); got != 51 {
			t.Errorf("%d status writes for 51 pods, want one each", got)
		}
	})
}

func TestSlowStartShowsContainerCreating(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n", annotated(AnnotationStartDelay, "30s")))
		w.pass(time.Second)
		if got, want := describePod(w.pod("p")), "Pending main:ContainerCreating/0 PodScheduled,Initialized"; got != want {
			t.Errorf("while it starts = %q, want %q", got, want)
		}
		w.pass(29 * time.Second)
		if got, want := describePod(w.pod("p")), "Running main:running/0 PodScheduled,Initialized,PodReadyToStartContainers,ContainersReady,Ready"; !sameWords(got, want) {
			t.Errorf("after the delay = %q, want %q", got, want)
		}
	})
}

// sameWords compares without order, because merging keeps the order of the first write.
func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, word := range strings.FieldsFunc(a, func(r rune) bool { return r == ' ' || r == ',' }) {
		count[word]++
	}
	for _, word := range strings.FieldsFunc(b, func(r rune) bool { return r == ' ' || r == ',' }) {
		count[word]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestJobPodsCompleteOrFail(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("default", "n", restarting(v1.RestartPolicyNever)))
		w.createPod(boundPod("timed", "n", restarting(v1.RestartPolicyNever), annotated(AnnotationRunFor, "1m")))
		w.createPod(boundPod("failing", "n", restarting(v1.RestartPolicyNever), annotated(AnnotationExitCode, "3")))
		w.pass(2 * time.Second)
		for _, name := range []string{"default", "timed", "failing"} {
			if got := describePod(w.pod(name)); !strings.HasPrefix(got, "Running main:running/0") {
				t.Errorf("%s = %s", name, got)
			}
		}
		w.pass(5 * time.Second)
		for name, want := range map[string]string{
			"default": "Succeeded main:exit0/0 PodScheduled,Initialized",
			"timed":   "Running main:running/0 " + runningConditions,
			"failing": "Failed main:exit3/0 PodScheduled,Initialized",
		} {
			if got := describePod(w.pod(name)); got != want {
				t.Errorf("%s after 5s = %q, want %q", name, got, want)
			}
		}
		w.pass(55 * time.Second)
		if got := describePod(w.pod("timed")); !strings.HasPrefix(got, "Succeeded") {
			t.Errorf("timed after 1m = %s", got)
		}
	})
}

func TestCrashingPodBacksOffExponentially(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n", image("registry/crash-always:1")))
		w.pass(2 * time.Second) // started
		// Each run lasts 2s; the pauses are none, 10s, 20s and 40s.
		for _, step := range []struct {
			after time.Duration
			want  string
		}{
			{1 * time.Second, "Running main:running/0"},
			{1 * time.Second, "Running main:running/1"},
			{2 * time.Second, "Running main:CrashLoopBackOff/1"},
			{10 * time.Second, "Running main:running/2"},
			{2 * time.Second, "Running main:CrashLoopBackOff/2"},
			{19 * time.Second, "Running main:CrashLoopBackOff/2"},
			{1 * time.Second, "Running main:running/3"},
			{2 * time.Second, "Running main:CrashLoopBackOff/3"},
			{40 * time.Second, "Running main:running/4"},
		} {
			w.pass(step.after)
			if got := describePod(w.pod("p")); !strings.HasPrefix(got, step.want) {
				t.Fatalf("got %q, want %q", got, step.want)
			}
		}
		w.pass(2 * time.Second)
		p := w.pod("p")
		ready := findCondition(p.Status.Conditions, v1.PodReady)
		if ready.Status != v1.ConditionFalse || ready.Reason != "ContainersNotReady" {
			t.Errorf("Ready between the runs = %+v", ready)
		}
		if last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 1 {
			t.Errorf("last state = %+v", last)
		}
	})
}

func TestDeletedPodStopsWithinItsGrace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stopAfter string
		stillAt   time.Duration
		goneAfter time.Duration
	}{
		"a process that stops in time": {"10s", 9 * time.Second, time.Second},
		"a slow process is killed":     {"5m", 29 * time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live(t, func(w *world) {
				w.readyNode("n")
				w.createPod(boundPod("p", "n", annotated(AnnotationStopAfter, tc.stopAfter)))
				w.pass(10 * time.Second)
				w.deletePod("p")
				w.pass(tc.stillAt)
				if got := describePod(w.pod("p")); !strings.HasPrefix(got, "Running") {
					t.Errorf("after %s: %s", tc.stillAt, got)
				}
				w.pass(tc.goneAfter)
				if p := w.pod("p"); p != nil {
					t.Errorf("after %s more: %s", tc.goneAfter, describePod(p))
				}
				if got := len(w.fleet.memory.sandboxes) + len(w.fleet.memory.podAddresses.taken); got != 0 {
					t.Errorf("%d sandboxes and addresses are still held", got)
				}
			})
		})
	}
}

func TestStoppedPodWithAFinalizerCausesNoMoreWrites(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n", finalizer("example.com/hold"), restarting(v1.RestartPolicyNever), annotated(AnnotationRunFor, "1h")))
		w.pass(10 * time.Second)
		w.deletePod("p")
		w.pass(time.Hour)
		if got := describePod(w.pod("p")); !strings.HasPrefix(got, "Failed main:exit143") {
			t.Errorf("interrupted job's pod = %s", got)
		}
		if statuses, deletions := w.written("PATCH pods/status"), w.written("DELETE pods"); statuses != 2 || deletions != 2 {
			t.Errorf("%d status writes, %d deletions; want 2 (start, end) and 2 (the user's, ours)", statuses, deletions)
		}
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := w.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		if p := w.pod("p"); p != nil {
			t.Errorf("without its finalizer it is still there: %s", describePod(p))
		}
	})
}

func TestConditionsOfOthersStay(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n", finalizer("example.com/hold"), func(p *v1.Pod) {
			p.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "example.com/registered"}}
		}))
		w.pass(10 * time.Second)
		if c := findCondition(w.pod("p").Status.Conditions, v1.PodReady); c.Status != v1.ConditionFalse || c.Reason != "ReadinessGatesNotReady" {
			t.Errorf("Ready behind a closed gate = %+v", c)
		}
		patch := []byte(`{"status":{"conditions":[{"type":"example.com/registered","status":"True"},{"type":"DisruptionTarget","status":"True"}]}}`)
		if _, err := w.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		ready := findCondition(w.pod("p").Status.Conditions, v1.PodReady)
		if ready.Status != v1.ConditionTrue || ready.Reason != "" || ready.Message != "" {
			t.Errorf("Ready behind an open gate = %+v", ready)
		}
		w.deletePod("p")
		w.pass(time.Minute)
		if findCondition(w.pod("p").Status.Conditions, v1.DisruptionTarget) == nil {
			t.Errorf("DisruptionTarget is lost: %s", describePod(w.pod("p")))
		}
	})
}

func TestInitContainersAndSidecars(t *testing.T) {
	t.Parallel()
	always := v1.ContainerRestartPolicyAlways
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n", restarting(v1.RestartPolicyOnFailure), func(p *v1.Pod) {
			p.Spec.InitContainers = []v1.Container{
				{Name: "setup", Image: "setup:1"},
				{Name: "proxy", Image: "proxy:1", RestartPolicy: &always},
			}
		}))
		w.pass(3 * time.Second)
		init := w.pod("p").Status.InitContainerStatuses
		if init[0].State.Terminated == nil || !init[0].Ready || init[1].State.Running == nil {
			t.Errorf("while it runs: %s, %s", describeContainer(init[0]), describeContainer(init[1]))
		}
		w.pass(5 * time.Second)
		p := w.pod("p")
		if p.Status.Phase != v1.PodSucceeded || p.Status.InitContainerStatuses[1].State.Terminated == nil {
			t.Errorf("at the end: %s, sidecar %s", describePod(p), describeContainer(p.Status.InitContainerStatuses[1]))
		}
	})
}

func TestPodsOfADeletedNodeGo(t *testing.T) {
	t.Parallel()
	live(t, func(w *world) {
		w.readyNode("n")
		w.createPod(boundPod("p", "n"))
		w.createPod(boundPod("held", "n", finalizer("example.com/hold")))
		w.pass(10 * time.Second)
		if err := w.client.CoreV1().Nodes().Delete(context.Background(), "n", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.createPod(boundPod("late", "n"))
		w.pass(time.Second)
		if p, late := w.pod("p"), w.pod("late"); p != nil || late != nil {
			t.Errorf("pods of a deleted node: %s, %s", describePod(p), describePod(late))
		}
		w.pass(time.Hour)
		if got := describePod(w.pod("held")); !strings.HasPrefix(got, "Failed") {
			t.Errorf("pod with a finalizer = %s", got)
		}
	})
}
