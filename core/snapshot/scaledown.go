package snapshot

import "time"

// ScaleDown is how nodes of a group go that is managed by the rules of Cluster Autoscaler, by the names of its flags.
type ScaleDown struct {
	Drain DrainRules `json:"drain"`
	// Enabled: nodes go at all. UnreadyEnabled: those go too that do not report that they are well.
	Enabled        bool `json:"enabled,omitempty"`
	UnreadyEnabled bool `json:"unreadyEnabled,omitempty"`
	// UtilizationThreshold is how much of a node pods may ask for if it is to go, in thousandths of what they can use.
	// GPUUtilizationThreshold counts for nodes with GPUs instead, and for these alone.
	UtilizationThreshold        int  `json:"utilizationThreshold,omitempty"`
	GPUUtilizationThreshold     int  `json:"gpuUtilizationThreshold,omitempty"`
	IgnoreDaemonSetsUtilization bool `json:"ignoreDaemonSetsUtilization,omitempty"`
	IgnoreMirrorPodsUtilization bool `json:"ignoreMirrorPodsUtilization,omitempty"`
	// UnneededTime is how long nothing must have needed a node; UnreadyTime counts for nodes that are not well.
	UnneededTime time.Duration `json:"unneededTime,omitempty"`
	UnreadyTime  time.Duration `json:"unreadyTime,omitempty"`
	// MaxParallelism is how many nodes of all such groups may be leaving at a time, and MaxDrainParallelism how many of
	// these may have pods.
	MaxParallelism      int `json:"maxParallelism,omitempty"`
	MaxDrainParallelism int `json:"maxDrainParallelism,omitempty"`
	// No node goes for these times after a group has grown, a node was taken away, or that has failed. DelayTypeLocal: they
	// count for the group alone in which it happened.
	DelayAfterAdd     time.Duration `json:"delayAfterAdd,omitempty"`
	DelayAfterDelete  time.Duration `json:"delayAfterDelete,omitempty"`
	DelayAfterFailure time.Duration `json:"delayAfterFailure,omitempty"`
	DelayTypeLocal    bool          `json:"delayTypeLocal,omitempty"`
	// Rests is until when these delays keep nodes of the group.
	Rests time.Time `json:"rests,omitzero"`
}

// Unneeded is how long nothing must have needed a node before it may go.
func (s *ScaleDown) Unneeded(n *Node) time.Duration {
	if n.Life.Unready {
		return s.UnreadyTime
	}
	return s.UnneededTime
}

// DrainRules are the choices among Cluster Autoscaler's rules about pods, by the names of its flags.
type DrainRules struct {
	SkipNodesWithSystemPods           bool          `json:"skipNodesWithSystemPods,omitempty"`
	SkipNodesWithLocalStorage         bool          `json:"skipNodesWithLocalStorage,omitempty"`
	SkipNodesWithCustomControllerPods bool          `json:"skipNodesWithCustomControllerPods,omitempty"`
	MinReplicaCount                   int           `json:"minReplicaCount,omitempty"`
	BlockingSystemPodTimeout          time.Duration `json:"blockingSystemPodTimeout,omitempty"`
	// ExpendableBelow is the priority from which on pods count. Those of a lower one get no node of the group, and hold none.
	ExpendableBelow int32 `json:"expendableBelow,omitempty"`
}

// DrainFacts are what Cluster Autoscaler's rules ask about a pod, beside what is known of every pod. The zero value is a pod
// that a ReplicaSet makes anew, and that these rules let go.
type DrainFacts struct {
	// Expendable pods have a priority below DrainRules.ExpendableBelow.
	Expendable bool `json:"expendable,omitempty"`
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
