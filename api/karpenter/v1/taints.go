package v1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// TaintDisrupted is on a node that is about to be disrupted or is terminating.
func TaintDisrupted() corev1.Taint {
	return corev1.Taint{Key: Group + "/disrupted", Effect: corev1.TaintEffectNoSchedule}
}

// TaintUnregistered is put on a node by its bootstrap and taken off at registration, so that no
// pod runs there before the node has its labels and taints.
func TaintUnregistered() corev1.Taint {
	return corev1.Taint{Key: Group + "/unregistered", Effect: corev1.TaintEffectNoExecute}
}

// readinessDomain is the domain of the taints of readiness gates.
const readinessDomain = "readiness.k8s.io/"

// IsEphemeral tells whether a taint is known to be removed while a node starts. Decisions ignore such a taint,
// and the node counts as initialized only once the taint is gone.
func IsEphemeral(taint corev1.Taint) bool {
	if strings.HasPrefix(taint.Key, readinessDomain) {
		return true
	}
	unregistered := TaintUnregistered()
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule:
		return taint.Key == corev1.TaintNodeNotReady ||
			taint.Key == corev1.TaintNodeUnreachable ||
			taint.Key == "node.cloudprovider.kubernetes.io/uninitialized"
	case corev1.TaintEffectNoExecute:
		return taint.Key == corev1.TaintNodeNotReady || taint.Key == unregistered.Key
	default:
		return false
	}
}
