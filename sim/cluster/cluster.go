// Package cluster plays everything of a Kubernetes cluster that is not the product: the
// scheduler, the kubelets, and the controllers of workloads, budgets, taints and garbage.
// Each is a reconcile.Controller like the product's, so one machinery steps them all; what
// they model, and what they leave out, is in sim/README.md.
//
// The package must not know the product's controllers.
package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is what its parts work with.
type Cluster struct {
	// Client reads without lag.
	Client client.Client
	Clock  clock.PassiveClock
}

func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(of))
}

// Ready reports whether a pod says that it can serve.
func Ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
