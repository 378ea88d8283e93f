package podpolicy

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/telemetry"
)

// Protection is what a pod's annotation do-not-disrupt says, or Cluster Autoscaler's safe-to-evict. The zero value is none.
type Protection struct {
	// Forever is the value "true", or safe-to-evict "false". It is Unsafe if safe-to-evict alone says so.
	Forever bool
	Unsafe  bool
	// For is a positive duration, counted from the start of the pod.
	For time.Duration
	// Start is when the kubelet took the pod; zero if it has not.
	Start time.Time
	// Wrong says what is wrong with a value that protects nothing.
	Wrong string
}

// AnnotationSafeToEvict is Cluster Autoscaler's. The value "false" protects a pod as do-not-disrupt "true" does, on all
// nodes; other values lift what only Cluster Autoscaler lays down.
const AnnotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"

// ProtectionOf reads a pod's annotations. Of two that contradict each other the one that protects holds.
func ProtectionOf(pod *corev1.Pod) Protection {
	text, said := pod.Annotations[karpenterv1.AnnotationDoNotDisrupt]
	if pod.Annotations[AnnotationSafeToEvict] == "false" {
		return Protection{Forever: true, Unsafe: text != "true"}
	}
	if !said || text == "true" {
		return Protection{Forever: said}
	}
	duration, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return Protection{Wrong: fmt.Sprintf("failed to parse %q as a duration: %s", text, err)}
	case duration <= 0:
		return Protection{Wrong: fmt.Sprintf("duration %q must be positive", text)}
	}
	p := Protection{For: duration}
	if pod.Status.StartTime != nil {
		p.Start = pod.Status.StartTime.Time
	}
	return p
}

// Holds reports whether the pod is protected now. One that has not started is protected:
// its time has not begun to run.
func (p Protection) Holds(now time.Time) bool {
	until, ends := p.Until()
	return p.Forever || p.For > 0 && (!ends || now.Before(until))
}

// Until is when the protection ends by itself, if that is known.
func (p Protection) Until() (time.Time, bool) {
	if p.For == 0 || p.Start.IsZero() {
		return time.Time{}, false
	}
	return p.Start.Add(p.For), true
}

// Events are what people should know of a pod's protection while its node is to go.
func (p Protection) Events(pod *corev1.Pod, now time.Time) []telemetry.Event {
	until, ends := p.Until()
	switch {
	case p.Holds(now) && pod.Annotations[AnnotationSafeToEvict] == "true":
		text := fmt.Sprintf("%s says that the pod may be evicted, and %s that it may not: it is not evicted", AnnotationSafeToEvict, karpenterv1.AnnotationDoNotDisrupt)
		return []telemetry.Event{telemetry.Warning(pod, "ContradictingAnnotations", text, string(pod.UID))}
	case p.Wrong != "":
		text := fmt.Sprintf("Invalid %s annotation: %s, ignoring annotation", karpenterv1.AnnotationDoNotDisrupt, p.Wrong)
		return []telemetry.Event{telemetry.Warning(pod, "InvalidDoNotDisruptAnnotation", text, string(pod.UID), p.Wrong)}
	case !ends:
		return nil
	case now.Before(until):
		at := until.UTC().Format(time.RFC3339)
		text := fmt.Sprintf("The %s grace period will elapse at %s", karpenterv1.AnnotationDoNotDisrupt, at)
		return []telemetry.Event{telemetry.Normal(pod, "DoNotDisruptUntil", text, string(pod.UID), at)}
	}
	text := fmt.Sprintf("The %s grace period has elapsed, pod is now disruptable", karpenterv1.AnnotationDoNotDisrupt)
	return []telemetry.Event{telemetry.Normal(pod, "DoNotDisruptGracePeriodElapsed", text, string(pod.UID))}
}
