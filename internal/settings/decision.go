package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
		{Flag: "expander", Env: "EXPANDER", Plan: true, Own: true, Default: expand.Price, Usage: "which group grows if several could hold the same pods: a comma-separated chain of rules, each of which chooses among the groups that the rule before it left: price, priority, least-waste, most-pods, least-nodes, grpc, random",
			Value: Text(&s.Expander), Check: s.checkExpander},
		{Flag: "grpc-expander-url", Env: "GRPC_EXPANDER_URL", Own: true, Usage: "address (HOST:PORT) of the server that the rule grpc of --expander asks",
			Value: Text(&s.GRPCExpander.URL), Check: s.neededByGRPC(&s.GRPCExpander.URL)},
		{Flag: "grpc-expander-cert", Env: "GRPC_EXPANDER_CERT", Own: true, Usage: "file with the certificate of this server, or of the authority that signed it",
			Value: Text(&s.GRPCExpander.Cert), Check: s.neededByGRPC(&s.GRPCExpander.Cert)},
		own("balance-similar-node-groups", "false", "divide new nodes among similar groups, the smallest first", Boolean(&s.BalanceSimilarNodeGroups), nil),
		own("balancing-ignore-label", "", "a label in which similar groups may differ, besides zone, hostname and those of EKS, eksctl and kops; may be given several times", Repeated(&s.BalancingIgnoreLabels), s.checkBalancing),
		own("balancing-label", "", "groups are similar if they have the same value of this label, and nothing else is compared; may be given several times", Repeated(&s.Balance.Labels), nil),
		own("memory-difference-ratio", "0.015", "how much similar groups may differ in memory, as a fraction of the larger", thousandths(&s.Balance.Memory), nil),
		own("max-allocatable-difference-ratio", "0.05", "how much similar groups may differ in what pods can use (allocatable), as a fraction of the larger", thousandths(&s.Balance.Allocatable), nil),
		own("max-free-difference-ratio", "0.05", "how much similar groups may differ in what daemons leave of the allocatable, as a fraction of the larger", thousandths(&s.Balance.Free), nil),
		{Flag: "write-status-configmap", Env: "WRITE_STATUS_CONFIGMAP", Own: true, Default: "true", Usage: "write ConfigMap kube-system/cluster-autoscaler-status about these groups",
			Value: Boolean(&s.WriteStatusConfigMap)},
		own("scale-down-enabled", "true", "whether groups in mode cas shrink", Boolean(&down.Enabled), nil),
		own("scale-down-unready-enabled", "true", "whether nodes that are not Ready are removed", Boolean(&down.UnreadyEnabled), nil),
		own("scale-down-utilization-threshold", "0.5", "a node may be removed only if its pods request at most this fraction of its CPU and of its memory; a group's tag scaledownutilizationthreshold takes precedence", thousandths(&down.UtilizationThreshold), nil),
		own("scale-down-gpu-utilization-threshold", "0.5", "the same fraction of GPUs; on nodes with GPUs only these count; the tag is scaledowngpuutilizationthreshold", thousandths(&down.GPUUtilizationThreshold), nil),
		own("ignore-daemonsets-utilization", "false", "do not count the requests of DaemonSets' pods for these fractions; the tag is ignoredaemonsetsutilization", Boolean(&down.IgnoreDaemonSetsUtilization), nil),
		own("ignore-mirror-pods-utilization", "false", "do not count the requests of mirror pods for these fractions", Boolean(&down.IgnoreMirrorPodsUtilization), nil),
		period("scale-down-unneeded-time", "10m", "how long a node must have been unneeded before it is removed; the tag is scaledownunneededtime", &down.UnneededTime),
		period("scale-down-unready-time", "20m", "the same for a node that is not Ready; the tag is scaledownunreadytime", &down.UnreadyTime),
		period("scale-down-delay-after-add", "10m", "how long no node is removed after a group has grown", &down.DelayAfterAdd),
		period("scale-down-delay-after-delete", "0s", "how long no node is removed after the last removal", &down.DelayAfterDelete),
		period("scale-down-delay-after-failure", "3m", "how long no node is removed after the cloud refused to end an instance", &down.DelayAfterFailure),
		own("scale-down-delay-type-local", "false", "these delays apply only to the group that grew, shrank or failed", Boolean(&down.DelayTypeLocal), nil),
		own("max-scale-down-parallelism", "10", "how many nodes of all groups may be removed at the same time", Number(&down.MaxParallelism), nil),
		own("max-drain-parallelism", "1", "how many of these nodes may have pods that have to move", Number(&down.MaxDrainParallelism), nil),
		own("skip-nodes-with-system-pods", "true", "a pod of kube-system without a PodDisruptionBudget keeps its node from being removed", Boolean(&drain.SkipNodesWithSystemPods), nil),
		own("skip-nodes-with-local-storage", "true", "a pod with a hostPath or emptyDir volume keeps its node from being removed", Boolean(&drain.SkipNodesWithLocalStorage), nil),
		own("skip-nodes-with-custom-controller-pods", "true", "a pod keeps its node from being removed if its controller is gone or of a kind that is not Kubernetes' own", Boolean(&drain.SkipNodesWithCustomControllerPods), nil),
		own("min-replica-count", "0", "a pod of a ReplicaSet with fewer replicas keeps its node from being removed", Number(&drain.MinReplicaCount), nil),
		own("expendable-pods-priority-cutoff", "-10", "pods of a lower priority get no node of a group in mode cas, and keep none from being removed", priority(&drain.ExpendableBelow), nil),
		own("enable-provisioning-requests", "false", "answer ProvisioningRequests (autoscaling.x-k8s.io/v1) of the classes check-capacity and best-effort-atomic-scale-up, for pools and groups in every mode", Boolean(&s.ProvisioningRequests.Enabled), nil),
		period("provisioning-request-initial-backoff-time", "1m", "after which pause a ProvisioningRequest that got no room is looked at again; twice as long after each further time", &s.ProvisioningRequests.FirstBackoff),
		period("provisioning-request-max-backoff-time", "10m", "the longest such pause", &s.ProvisioningRequests.LongestBackoff),
		own("check-capacity-provisioning-request-max-batch-size", "10", "how many ProvisioningRequests without room, of both classes, one decision looks at", Number(&s.ProvisioningRequests.MaxBatch), s.checkBatch),
		own("check-capacity-processor-instance", "", "answer only ProvisioningRequests of the class check-capacity whose parameter processorInstance has this value; without it those without the parameter, and the other class", Text(&s.ProvisioningRequests.Instance), nil),
		period("max-node-provision-time", "15m", "how long an instance of a group, in any mode, may take to become a node; the tag is maxnodeprovisiontime", &s.MaxNodeProvisionTime),
		period("max-node-startup-time", "15m", "how long a node of a group, in any mode, may take to become Ready; until then its taints do not count; the tag is maxnodestartuptime", &s.MaxNodeStartupTime),
		own("startup-taint", "", "the key of a taint with which a node of a group, in any mode, is still starting: until it is gone, or for max-node-startup-time, it does not count, and a further node is expected without it; may be given several times", Repeated(&s.GroupTaints.Startup), nil),
		own("startup-taint-prefix", "", "the beginning of such keys, besides startup-taint.cluster-autoscaler.kubernetes.io/; may be given several times", Repeated(&s.GroupTaints.StartupPrefixes), nil),
		own("ignore-taint", "", "an older name of startup-taint", Repeated(&s.GroupTaints.Ignored), nil),
		own("status-taint", "", "the key of a taint, besides those that begin with status-taint.cluster-autoscaler.kubernetes.io/, without which a further node of a group is expected; may be given several times", Repeated(&s.GroupTaints.Status), nil),
		own("max-graceful-termination-sec", "600", "the longest grace period of a pod on a node that is removed, in seconds", Number(&s.GroupDrain.MaxGraceSeconds), s.checkGrace),
		own("drain-priority-config", "", "order of evictions and longest grace periods by priority, as PRIORITY:SECONDS,...: pods of the lowest priority leave first, pods that reach a higher one after these; instead of max-graceful-termination-sec", drainPriorities(&s.GroupDrain.Priorities), s.checkDrainPriorities),
		period("max-pod-eviction-time", "2m", "how long evictions from a node that is removed may be refused before the scale-down counts as failed (the drain goes on)", &s.GroupDrain.MaxEviction),
		own("cordon-node-before-terminating", "true", "also cordon a node that is removed, besides its taints", Boolean(&s.GroupDrain.Cordon), nil),
		period("node-deletion-delay-timeout", "2m", "how long the instance of a drained node is kept while the node has an annotation that begins with delay-deletion.cluster-autoscaler.kubernetes.io/", &s.GroupDrain.DeletionDelay),
		own("daemonset-eviction-for-empty-nodes", "false", "evict pods of DaemonSets from removed nodes without other pods; a pod's annotation cluster-autoscaler.kubernetes.io/enable-ds-eviction takes precedence", Boolean(&s.GroupDrain.DaemonsOfEmpty), nil),
		own("daemonset-eviction-for-occupied-nodes", "true", "evict pods of DaemonSets from removed nodes with other pods", Boolean(&s.GroupDrain.DaemonsOfOccupied), nil),
		period("blocking-system-pod-distruption-timeout", "1h", "how long after its creation a pod of kube-system keeps its node from being removed (the name is spelled as Cluster Autoscaler spells it)", &drain.BlockingSystemPodTimeout),
	}
}

func (s *Settings) checkExpander() error {
	_, err := expand.Parse(s.Expander)
	return err
}

// GRPCExpander is the server of the expander grpc: its address, and a file with the certificate by which it is known.
type GRPCExpander struct{ URL, Cert string }

// AsksServer reports whether the chain of expanders has grpc.
func (s Settings) AsksServer() bool { return slices.Contains(s.Expanders(), expand.GRPC) }

func (s *Settings) neededByGRPC(value *string) func() error {
	return func() error {
		if *value == "" && s.AsksServer() {
			return errors.New("the rule grpc of --expander needs it; give it, or leave the rule out")
		}
		return nil
	}
}

// GroupDrain is how nodes of groups in mode cas are drained and removed, by the names of Cluster Autoscaler's flags.
type GroupDrain struct {
	// MaxGraceSeconds bounds the grace period of evicted pods; 0 leaves them their own.
	MaxGraceSeconds int
	// Priorities, ascending, say in which order pods leave, and bound their grace periods instead.
	Priorities []DrainPriority
	// MaxEviction is how long evictions may be refused before a drain counts as failed; 0 means for ever.
	MaxEviction time.Duration
	// Cordon nodes that are removed.
	Cordon bool
	// DeletionDelay is how long annotations may keep the instance of a drained node.
	DeletionDelay time.Duration
	// DaemonsOfEmpty and DaemonsOfOccupied: pods of DaemonSets are evicted from nodes that had no other pods, or had some.
	DaemonsOfEmpty, DaemonsOfOccupied bool
}

func (s *Settings) checkBatch() error {
	if s.ProvisioningRequests.MaxBatch < 1 {
		return errors.New("it must be at least 1")
	}
	return nil
}

func (s *Settings) checkGrace() error {
	if s.GroupDrain.MaxGraceSeconds < 0 {
		return errors.New("it cannot be negative; 0 leaves pods the grace period that they ask for")
	}
	return nil
}

// DrainPriority bounds the grace period of pods that have at least this priority, and less than the next one.
type DrainPriority struct {
	Priority     int32
	GraceSeconds int64
}

// drainPriorities reads pairs PRIORITY:SECONDS, separated by commas, and sorts them.
func drainPriorities(field *[]DrainPriority) Value {
	return plain("list", field, func(_ origin, text string) ([]DrainPriority, error) {
		var out []DrainPriority
		for pair := range strings.SplitSeq(text, ",") {
			if text == "" {
				break
			}
			priority, seconds, _ := strings.Cut(strings.TrimSpace(pair), ":")
			p, err := strconv.ParseInt(priority, 10, 32)
			grace, wrong := strconv.ParseUint(seconds, 10, 31)
			if err != nil || wrong != nil {
				return nil, fmt.Errorf("%q is no pair PRIORITY:SECONDS; use pairs such as 0:600,1000:60", pair)
			}
			out = append(out, DrainPriority{int32(p), int64(grace)})
		}
		slices.SortFunc(out, func(a, b DrainPriority) int { return cmp.Compare(a.Priority, b.Priority) })
		return out, nil
	})
}

// usualGraceSeconds is the default of max-graceful-termination-sec.
const usualGraceSeconds = 600

func (s *Settings) checkDrainPriorities() error {
	list := s.GroupDrain.Priorities
	for i := range list {
		if i > 0 && list[i].Priority == list[i-1].Priority {
			return fmt.Errorf("priority %d is given twice; leave one of them out", list[i].Priority)
		}
	}
	if len(list) > 0 && s.GroupDrain.MaxGraceSeconds != usualGraceSeconds {
		return errors.New("it contradicts max-graceful-termination-sec; leave one of them out")
	}
	return nil
}

func (s *Settings) checkBalancing() error {
	if len(s.BalancingIgnoreLabels) > 0 && len(s.Balance.Labels) > 0 {
		return errors.New("it contradicts balancing-label, with which only that label is compared; leave one of them out")
	}
	return nil
}

// balance is how new nodes are divided among similar groups; nil if they are not.
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
		GuideMoves:        s.GuideMoves,
		Expanders:         s.Expanders(),
		Balance:           s.balance(),
		Limits:            s.Totals.Limits(),
		Floors:            s.Totals.Floors(),
	}
}

// Expanders are the rules of the chain; none if the only rule is the price, as without groups.
func (s Settings) Expanders() []string {
	if s.Expander == expand.Price {
		return nil
	}
	chain, _ := expand.Parse(s.Expander) // it was checked
	return chain
}
