package snapshot

import "time"

// ScaleDown is how nodes of a group go that is managed by the rules of Cluster Autoscaler.
type ScaleDown struct {
	Drain DrainRules `json:"drain"`
}

// DrainRules are the choices among Cluster Autoscaler's rules about pods, by the names of its flags.
type DrainRules struct {
	SkipNodesWithSystemPods           bool          `json:"skipNodesWithSystemPods,omitempty"`
	SkipNodesWithLocalStorage         bool          `json:"skipNodesWithLocalStorage,omitempty"`
	SkipNodesWithCustomControllerPods bool          `json:"skipNodesWithCustomControllerPods,omitempty"`
	MinReplicaCount                   int           `json:"minReplicaCount,omitempty"`
	BlockingSystemPodTimeout          time.Duration `json:"blockingSystemPodTimeout,omitempty"`
}

// DrainFacts are what Cluster Autoscaler's rules ask about a pod, beside what is known of every pod. The zero value is a pod
// that a ReplicaSet makes anew, and that these rules let go.
type DrainFacts struct {
	// Mirror pods come from a file on their node, Daemon pods from a DaemonSet.
	Mirror bool `json:"mirror,omitempty"`
	Daemon bool `json:"daemon,omitempty"`
	// Overdue is when a pod that is being deleted should have been gone for half a minute.
	Overdue time.Time `json:"overdue,omitzero"`
	// SafeToEvict is the value of the annotation of this name.
	SafeToEvict string `json:"safeToEvict,omitempty"`
	// Ended pods have run to their end.
	Ended bool `json:"ended,omitempty"`
	// Bare pods have no controller; Custom ones have one of a kind that Cluster Autoscaler does not know.
	Bare   bool `json:"bare,omitempty"`
	Custom bool `json:"custom,omitempty"`
	// Orphaned pods name a controller that is not there.
	Orphaned bool `json:"orphaned,omitempty"`
	// Counted says that Replicas, which the controller should have, is known and matters.
	Counted  bool `json:"counted,omitempty"`
	Replicas int  `json:"replicas,omitempty"`
	// System pods are in kube-system, and no PodDisruptionBudget selects them.
	System bool `json:"system,omitempty"`
	// Local pods have storage that is lost with their node.
	Local bool `json:"local,omitempty"`
}
