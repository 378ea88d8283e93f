package kubelet

import (
	"path"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// readiness returns how long after its start a container is ready, and whether it ever is. Programs answer their readiness probes from the
// start, but a pause image serves nothing and has no command to run, so its probes fail.
func readiness(p *v1.Pod, c v1.Container) (after time.Duration, ever bool) {
	after = durationOf(p.Annotations, AnnotationReadyAfter, 0)
	probe := c.ReadinessProbe
	if probe == nil {
		return after, true
	}
	more := max(probe.SuccessThreshold, 1) - 1 // probes that have to succeed after the first
	succeeds := time.Duration(probe.InitialDelaySeconds+more*probe.PeriodSeconds) * time.Second
	return max(after, succeeds), !pauses(c.Image)
}

// pauses reports whether the program of an image only keeps a pod's namespaces open, as that of registry.k8s.io/pause:3.10 does.
func pauses(image string) bool {
	name, _, _ := strings.Cut(path.Base(image), ":")
	name, _, _ = strings.Cut(name, "@")
	return name == "pause"
}
