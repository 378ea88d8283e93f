package settings

import "tenon/core/snapshot"

// scaleDownOptions have the names and defaults of Cluster Autoscaler.
func (s *Settings) scaleDownOptions() []Option {
	drain := &s.ScaleDown.Drain
	return []Option{
		{Flag: "skip-nodes-with-system-pods", Env: "SKIP_NODES_WITH_SYSTEM_PODS", Plan: true, Own: true, Default: "true", Usage: "a pod of kube-system without a PodDisruptionBudget holds its node",
			Value: Boolean(&drain.SkipNodesWithSystemPods)},
		{Flag: "skip-nodes-with-local-storage", Env: "SKIP_NODES_WITH_LOCAL_STORAGE", Plan: true, Own: true, Default: "true", Usage: "a pod with a hostPath or emptyDir volume holds its node",
			Value: Boolean(&drain.SkipNodesWithLocalStorage)},
		{Flag: "skip-nodes-with-custom-controller-pods", Env: "SKIP_NODES_WITH_CUSTOM_CONTROLLER_PODS", Plan: true, Own: true, Default: "true", Usage: "a pod whose controller is of a kind of your own, or is gone, holds its node",
			Value: Boolean(&drain.SkipNodesWithCustomControllerPods)},
		{Flag: "min-replica-count", Env: "MIN_REPLICA_COUNT", Plan: true, Own: true, Default: "0", Usage: "a pod of a ReplicaSet with fewer replicas holds its node",
			Value: Number(&drain.MinReplicaCount)},
		{Flag: "blocking-system-pod-distruption-timeout", Env: "BLOCKING_SYSTEM_POD_DISTRUPTION_TIMEOUT", Plan: true, Own: true, Default: "1h", Usage: "for how long after it was made a pod of kube-system holds its node (the name is spelled as Cluster Autoscaler spells it)",
			Value: Duration(&drain.BlockingSystemPodTimeout), Check: notNegative(&drain.BlockingSystemPodTimeout)},
	}
}

// Decision is the part of the settings that decisions depend on.
func (s Settings) Decision() snapshot.Settings {
	return snapshot.Settings{
		Preferences:       snapshot.Preferences(s.PreferencePolicy),
		BestEffortMinimum: s.MinValuesPolicy == MinValuesBestEffort,
		ReservedCapacity:  s.FeatureGates.ReservedCapacity,
		SpotToSpot:        s.FeatureGates.SpotToSpotConsolidation,
	}
}
