package kubelet

import (
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podConditions returns the conditions that a kubelet owns, in the order in which they become true, for a
// status whose phase and containers are set. A condition that does not change keeps its transition time;
// conditions of other writers are omitted.
func podConditions(p *v1.Pod, s *v1.PodStatus, now time.Time) []v1.PodCondition {
	scheduled := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue}
	sandbox := v1.PodCondition{Type: v1.PodReadyToStartContainers, Status: v1.ConditionFalse}
	initialized := v1.PodCondition{Type: v1.PodInitialized, Status: v1.ConditionTrue}
	if s.Phase == v1.PodRunning {
		sandbox.Status = v1.ConditionTrue
	}
	if s.Phase == v1.PodSucceeded {
		initialized.Reason = "PodCompleted"
	}
	if waiting := uninitialised(s); len(waiting) > 0 {
		initialized.Status = v1.ConditionFalse
		initialized.Reason = "ContainersNotInitialized"
		initialized.Message = "containers with incomplete status: [" + strings.Join(waiting, " ") + "]"
	}
	containers := readyCondition(v1.ContainersReady, s)
	ready := readyCondition(v1.PodReady, s)
	if gate := closedGate(p); gate != "" && ready.Status == v1.ConditionTrue {
		ready.Status, ready.Reason = v1.ConditionFalse, "ReadinessGatesNotReady"
		ready.Message = "readiness gate " + gate + " is not True yet"
	}
	conditions := []v1.PodCondition{scheduled, sandbox, initialized, containers, ready}
	for i := range conditions {
		stamp(p, &conditions[i], now)
	}
	return conditions
}

// uninitialised returns the init containers that have yet to finish or, for sidecars, to start.
func uninitialised(s *v1.PodStatus) []string {
	var names []string
	for _, c := range s.InitContainerStatuses {
		if c.State.Waiting != nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// readyCondition returns a condition that is true once all main containers are ready.
func readyCondition(kind v1.PodConditionType, s *v1.PodStatus) v1.PodCondition {
	c := v1.PodCondition{Type: kind, Status: v1.ConditionFalse}
	switch s.Phase {
	case v1.PodSucceeded:
		c.Reason = "PodCompleted"
		return c
	case v1.PodFailed:
		c.Reason = "PodFailed"
		return c
	}
	var unready []string
	for _, container := range s.ContainerStatuses {
		if !container.Ready {
			unready = append(unready, container.Name)
		}
	}
	if len(unready) > 0 {
		c.Reason = "ContainersNotReady"
		c.Message = "containers with unready status: [" + strings.Join(unready, " ") + "]"
		return c
	}
	c.Status = v1.ConditionTrue
	return c
}

// closedGate returns the first readiness gate that is not True.
func closedGate(p *v1.Pod) string {
	for _, gate := range p.Spec.ReadinessGates {
		if c := findCondition(p.Status.Conditions, gate.ConditionType); c == nil || c.Status != v1.ConditionTrue {
			return string(gate.ConditionType)
		}
	}
	return ""
}

// stamp sets the transition time, which changes only with the status.
func stamp(p *v1.Pod, c *v1.PodCondition, now time.Time) {
	c.ObservedGeneration = p.Generation
	c.LastTransitionTime = metav1.NewTime(now)
	if old := findCondition(p.Status.Conditions, c.Type); old != nil && old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
}

func findCondition(conditions []v1.PodCondition, kind v1.PodConditionType) *v1.PodCondition {
	if i := slices.IndexFunc(conditions, func(c v1.PodCondition) bool { return c.Type == kind }); i >= 0 {
		return &conditions[i]
	}
	return nil
}

// sameConditions reports whether writing the wanted conditions would change nothing that matters.
func sameConditions(have, want []v1.PodCondition) bool {
	for _, w := range want {
		if h := findCondition(have, w.Type); h == nil || h.Status != w.Status || h.Reason != w.Reason {
			return false
		}
	}
	return true
}

// containerID names one run of one container.
func containerID(owner, name string, restarts int32) string {
	var b strings.Builder
	b.Grow(len(owner) + len(name) + 16)
	b.WriteString("sim://")
	b.WriteString(owner)
	b.WriteByte('/')
	b.WriteString(name)
	if restarts > 0 {
		b.WriteByte('/')
		b.WriteString(strconv.Itoa(int(restarts)))
	}
	return b.String()
}
