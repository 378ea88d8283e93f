package kubelet

import (
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Annotations that users set. A value that cannot be parsed counts as absent,
// since a kubelet cannot report it.
const (
	// AnnotationSimulated marks a Node, made by hand or by Launch, as one that we simulate.
	AnnotationSimulated = "lab.tenon.dev/simulated"
	// AnnotationKwokNode is the annotation that users of KWOK put on their Nodes; the value "fake" counts
	// as ours.
	AnnotationKwokNode = "kwok.x-k8s.io/node"
	// AnnotationFault on a Node breaks it while it is set; see ParseFault.
	AnnotationFault = "lab.tenon.dev/fault"
	// AnnotationConditions on a Node lists conditions that it reports instead of healthy ones while the
	// annotation is set; see ParseIllnesses.
	AnnotationConditions = "lab.tenon.dev/conditions"
	// AnnotationReadyAfter on a Node is how long after its creation it is Ready;
	// on a pod, how long after its start each container is ready.
	AnnotationReadyAfter = "lab.tenon.dev/ready-after"
	// AnnotationVolumeLimit on a Node is how many volumes its CSINode allows.
	AnnotationVolumeLimit = "lab.tenon.dev/volume-limit"

	// AnnotationStartDelay on a pod is how long pulling and starting takes.
	AnnotationStartDelay = "lab.tenon.dev/start-delay"
	// AnnotationRunFor on a pod ends each main container after this long.
	AnnotationRunFor = "lab.tenon.dev/run-for"
	// AnnotationExitCode on a pod is the exit code of a container that ends on its own.
	AnnotationExitCode = "lab.tenon.dev/exit-code"
	// AnnotationStopAfter on a pod is how long its processes take to stop when asked to. Processes that
	// still run at the end of the grace period are killed.
	AnnotationStopAfter = "lab.tenon.dev/stop-after"
)

// annotationPrefix is the prefix of those annotations of pods that the cache keeps.
const annotationPrefix = "lab.tenon.dev/"

// Simulated reports whether we simulate a Node.
func Simulated(n *v1.Node) bool {
	return n.Annotations[AnnotationSimulated] == "true" || n.Annotations[AnnotationKwokNode] == "fake"
}

func durationOf(annotations map[string]string, name string, otherwise time.Duration) time.Duration {
	d, err := time.ParseDuration(annotations[name])
	if err != nil || d < 0 {
		return otherwise
	}
	return d
}

func int32Of(annotations map[string]string, name string, otherwise int32) int32 {
	n, err := strconv.ParseInt(annotations[name], 10, 32)
	if err != nil {
		return otherwise
	}
	return int32(n)
}
