package settings

import (
	"errors"
	"slices"
	"strings"
	"time"

	"tenon/core/expand"
	"tenon/core/snapshot"
	"tenon/internal/clusterautoscaler"
)

// scaleDownOptions have the names and defaults of Cluster Autoscaler.
func (s *Settings) scaleDownOptions() []Option {
	down, drain := &s.ScaleDown, &s.ScaleDown.Drain
	own := func(flag, fallback, usage string, value Value, check func() error) Option {
		return Option{Flag: flag, Env: strings.ToUpper(strings.ReplaceAll(flag, "-", "_")), Plan: true, Own: true, Default: fallback, Usage: usage, Value: value, Check: check}
	}
	period := func(flag, fallback, usage string, field *time.Duration) Option {
		return own(flag, fallback, usage, Duration(field), notNegative(field))
	}
	return []Option{
		{Flag: "expander", Env: "EXPANDER", Plan: true, Own: true, Default: expand.Price, Usage: "which of several groups that could hold the same pods grows, as a chain with commas between, of which each decides among what the one before left: price, priority, least-waste, most-pods, least-nodes, random",
			Value: Text(&s.Expander), Check: s.checkExpander},
		own("balance-similar-node-groups", "false", "hand new nodes out among groups that are alike, the smallest first", Boolean(&s.BalanceSimilarNodeGroups), nil),
		own("balancing-ignore-label", "", "a label in which groups may differ that are alike, besides zone, hostname and those of EKS, eksctl and kops; may be given several times", Repeated(&s.BalancingIgnoreLabels), s.checkBalancing),
		own("balancing-label", "", "groups are alike that have the same value of this label, and nothing else counts; may be given several times", Repeated(&s.Balance.Labels), nil),
		own("memory-difference-ratio", "0.015", "how much groups may differ in memory that are alike, as a fraction of the larger", thousandths(&s.Balance.Memory), nil),
		own("max-allocatable-difference-ratio", "0.05", "the same of what pods can use", thousandths(&s.Balance.Allocatable), nil),
		own("max-free-difference-ratio", "0.05", "the same of what daemons leave of that", thousandths(&s.Balance.Free), nil),
		{Flag: "write-status-configmap", Env: "WRITE_STATUS_CONFIGMAP", Own: true, Default: "true", Usage: "write ConfigMap kube-system/cluster-autoscaler-status about these groups",
			Value: Boolean(&s.WriteStatusConfigMap)},
		own("scale-down-enabled", "true", "whether groups in mode cas shrink", Boolean(&down.Enabled), nil),
		own("scale-down-unready-enabled", "true", "whether nodes go that are not Ready", Boolean(&down.UnreadyEnabled), nil),
		own("scale-down-utilization-threshold", "0.5", "how much of a node's CPU, and of its memory, pods may ask for if the node is to go, as a fraction; a group's tag scaledownutilizationthreshold goes before it", thousandths(&down.UtilizationThreshold), nil),
		own("scale-down-gpu-utilization-threshold", "0.5", "the same of GPUs, which alone count on nodes with GPUs; the tag is scaledowngpuutilizationthreshold", thousandths(&down.GPUUtilizationThreshold), nil),
		own("ignore-daemonsets-utilization", "false", "leave pods of DaemonSets out of that; the tag is ignoredaemonsetsutilization", Boolean(&down.IgnoreDaemonSetsUtilization), nil),
		own("ignore-mirror-pods-utilization", "false", "leave mirror pods out of that", Boolean(&down.IgnoreMirrorPodsUtilization), nil),
		period("scale-down-unneeded-time", "10m", "how long nothing must have needed a node before it goes; the tag is scaledownunneededtime", &down.UnneededTime),
		period("scale-down-unready-time", "20m", "the same of a node that is not Ready; the tag is scaledownunreadytime", &down.UnreadyTime),
		period("scale-down-delay-after-add", "10m", "no node goes for so long after a group has grown", &down.DelayAfterAdd),
		period("scale-down-delay-after-delete", "0s", "no node goes for so long after the last one", &down.DelayAfterDelete),
		period("scale-down-delay-after-failure", "3m", "no node goes for so long after the cloud refused to end an instance", &down.DelayAfterFailure),
		own("scale-down-delay-type-local", "false", "these delays count for the group alone where it happened", Boolean(&down.DelayTypeLocal), nil),
		own("max-scale-down-parallelism", "10", "how many nodes of all groups may be leaving at a time", Number(&down.MaxParallelism), nil),
		own("max-drain-parallelism", "1", "how many of them may have pods that move", Number(&down.MaxDrainParallelism), nil),
		own("skip-nodes-with-system-pods", "true", "a pod of kube-system without a PodDisruptionBudget holds its node", Boolean(&drain.SkipNodesWithSystemPods), nil),
		own("skip-nodes-with-local-storage", "true", "a pod with a hostPath or emptyDir volume holds its node", Boolean(&drain.SkipNodesWithLocalStorage), nil),
		own("skip-nodes-with-custom-controller-pods", "true", "a pod whose controller is of a kind of your own, or is gone, holds its node", Boolean(&drain.SkipNodesWithCustomControllerPods), nil),
		own("min-replica-count", "0", "a pod of a ReplicaSet with fewer replicas holds its node", Number(&drain.MinReplicaCount), nil),
		period("max-node-provision-time", "15m", "how long an instance of a group, in any mode, may take to become a node; the tag is maxnodeprovisiontime", &s.MaxNodeProvisionTime),
		period("max-node-startup-time", "15m", "how long a node of a group, in any mode, may take to become Ready, until when its taints do not count; the tag is maxnodestartuptime", &s.MaxNodeStartupTime),
		own("max-graceful-termination-sec", "600", "how many seconds a pod gets at most to end on a node that goes", Number(&s.GroupDrain.MaxGraceSeconds), s.checkGrace),
		own("cordon-node-before-terminating", "true", "a node that goes is cordoned beside its taints", Boolean(&s.GroupDrain.Cordon), nil),
		period("node-deletion-delay-timeout", "2m", "how long the instance of a drained node is kept while the node has an annotation that begins with delay-deletion.cluster-autoscaler.kubernetes.io/", &s.GroupDrain.DeletionDelay),
		own("daemonset-eviction-for-empty-nodes", "false", "pods of DaemonSets are evicted from nodes that go without other pods; a pod's annotation cluster-autoscaler.kubernetes.io/enable-ds-eviction goes before it", Boolean(&s.GroupDrain.DaemonsOfEmpty), nil),
		own("daemonset-eviction-for-occupied-nodes", "true", "the same of nodes that go with other pods", Boolean(&s.GroupDrain.DaemonsOfOccupied), nil),
		period("blocking-system-pod-distruption-timeout", "1h", "for how long after it was made a pod of kube-system holds its node (the name is spelled as Cluster Autoscaler spells it)", &drain.BlockingSystemPodTimeout),
	}
}

func (s *Settings) checkExpander() error {
	_, err := expand.Parse(s.Expander)
	return err
}

// GroupDrain is how nodes of groups in mode cas are taken down, by the names of Cluster Autoscaler's flags.
type GroupDrain struct {
	// MaxGraceSeconds bounds the grace of pods that are evicted; 0 leaves them their own.
	MaxGraceSeconds int
	// Cordon nodes that go.
	Cordon bool
	// DeletionDelay is how long annotations may keep the instance of a drained node.
	DeletionDelay time.Duration
	// DaemonsOfEmpty and DaemonsOfOccupied: pods of DaemonSets are evicted from nodes that had no other pods, or had some.
	DaemonsOfEmpty, DaemonsOfOccupied bool
}

func (s *Settings) checkGrace() error {
	if s.GroupDrain.MaxGraceSeconds < 0 {
		return errors.New("it cannot be negative; 0 leaves pods the grace that they ask for")
	}
	return nil
}

func (s *Settings) checkBalancing() error {
	if len(s.BalancingIgnoreLabels) > 0 && len(s.Balance.Labels) > 0 {
		return errors.New("it contradicts balancing-label, which says alone what counts; leave one of them out")
	}
	return nil
}

// balance is how nodes are handed out among groups that are alike; nil if they are not.
func (s Settings) balance() *snapshot.Balance {
	if !s.BalanceSimilarNodeGroups {
		return nil
	}
	out := s.Balance
	if len(out.Labels) == 0 {
		out.Ignored = slices.Concat(clusterautoscaler.IgnoredLabels(), s.BalancingIgnoreLabels)
	}
	return &out
}

// Decision is the part of the settings that decisions depend on.
func (s Settings) Decision() snapshot.Settings {
	return snapshot.Settings{
		Preferences:       snapshot.Preferences(s.PreferencePolicy),
		BestEffortMinimum: s.MinValuesPolicy == MinValuesBestEffort,
		ReservedCapacity:  s.FeatureGates.ReservedCapacity,
		SpotToSpot:        s.FeatureGates.SpotToSpotConsolidation,
		Expanders:         s.Expanders(),
		Balance:           s.balance(),
	}
}

// Expanders are those of the chain; none if it is the price alone, as without groups.
func (s Settings) Expanders() []string {
	if s.Expander == expand.Price {
		return nil
	}
	chain, _ := expand.Parse(s.Expander) // it was checked
	return chain
}
