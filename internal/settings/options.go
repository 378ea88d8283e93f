package settings

import (
	"slices"
	"time"

	"tenon/core/model"
)

// Group is a heading under which options are listed in help and in the reference page.
type Group string

// The groups, in the order in which people read them.
const (
	GroupProcess   Group = "Process"
	GroupDecisions Group = "Decisions"
	GroupAWS       Group = "AWS"
)

// Groups lists every group in reading order.
func Groups() []Group { return []Group{GroupProcess, GroupDecisions, GroupAWS} }

// Option is one setting: its names, default, and how its text is read and checked.
type Option struct {
	Flag    string // without dashes
	Env     string
	Default string
	Usage   string
	Group   Group
	// Own marks what Karpenter does not have, so that people who switch know what is new.
	Own bool

	value value
	check check
}

// Kind is what the option's text must be, in a word for help: text, number, duration, true|false, …
func (o Option) Kind() string { return o.value.kind }

// Options returns the table of all options, in reading order.
func Options() []Option {
	return slices.Concat(
		under(GroupProcess, processOptions()),
		under(GroupDecisions, decisionOptions()),
		under(GroupAWS, awsOptions()),
	)
}

func under(group Group, options []Option) []Option {
	for i := range options {
		options[i].Group = group
	}
	return options
}

func processOptions() []Option {
	return []Option{
		{Flag: "kubeconfig", Env: "KUBECONFIG", Own: true, Usage: "file that says which cluster to control; empty: the pod's service account, else ~/.kube/config",
			value: text(func(s *Settings) *string { return &s.Kubeconfig })},
		{Flag: "listen-address", Env: "LISTEN_ADDRESS", Own: true, Usage: "IP address on which metrics and probes are served; empty: every interface inside a cluster, 127.0.0.1 elsewhere",
			value: text(func(s *Settings) *string { return &s.ListenAddress }), check: listenAddress},
		{Flag: "metrics-port", Env: "METRICS_PORT", Default: "8080", Usage: "port of /metrics, and of /debug/pprof/ with --enable-profiling; 0: any free port",
			value: number(func(s *Settings) *int { return &s.MetricsPort }), check: port(func(s Settings) int { return s.MetricsPort })},
		{Flag: "health-probe-port", Env: "HEALTH_PROBE_PORT", Default: "8081", Usage: "port of /healthz and /readyz; 0: any free port",
			value: number(func(s *Settings) *int { return &s.HealthProbePort }), check: probePort},
		{Flag: "enable-profiling", Env: "ENABLE_PROFILING", Default: "false", Usage: "serve Go profiles on the metrics port",
			value: boolean(func(s *Settings) *bool { return &s.EnableProfiling })},
		{Flag: "kube-client-qps", Env: "KUBE_CLIENT_QPS", Default: "200", Usage: "requests a second to the API server, sustained",
			value: number(func(s *Settings) *int { return &s.KubeClientQPS })},
		{Flag: "kube-client-burst", Env: "KUBE_CLIENT_BURST", Default: "300", Usage: "requests to the API server that may be sent at once",
			value: number(func(s *Settings) *int { return &s.KubeClientBurst })},
		{Flag: "disable-leader-election", Env: "DISABLE_LEADER_ELECTION", Default: "false", Usage: "act without holding the Lease; only for a single replica",
			value: boolean(func(s *Settings) *bool { return &s.DisableLeaderElection })},
		{Flag: "leader-election-name", Env: "LEADER_ELECTION_NAME", Default: "karpenter-leader-election", Usage: "name of the Lease; Karpenter's own by default, so that the two never act together",
			value: text(func(s *Settings) *string { return &s.LeaderElectionName }), check: leaseName},
		{Flag: "leader-election-namespace", Env: "LEADER_ELECTION_NAMESPACE", Usage: "namespace of the Lease; empty: the pod's",
			value: text(func(s *Settings) *string { return &s.LeaderElectionNamespace })},
		{Flag: "disable-controller-warmup", Env: "DISABLE_CONTROLLER_WARMUP", Default: "true", Usage: "false: fill a standby's caches before it leads",
			value: boolean(func(s *Settings) *bool { return &s.DisableControllerWarmup })},
		{Flag: "disable-cluster-state-observability", Env: "DISABLE_CLUSTER_STATE_OBSERVABILITY", Default: "false", Usage: "drop the metrics of each pod, node and pool, and condition metrics and events",
			value: boolean(func(s *Settings) *bool { return &s.DisableClusterStateObservability })},
		{Flag: "metrics-series", Env: "METRICS_SERIES", Default: "500", Own: true, Usage: "most time series on /metrics: above it metrics are told with fewer labels and buckets; 0: all that Karpenter has, which grows with pods and nodes",
			value: number(func(s *Settings) *int { return &s.MetricsSeries }), check: seriesBound},
		{Flag: "memory-limit", Env: "MEMORY_LIMIT", Default: "-1", Usage: "container memory limit in bytes; garbage collection works harder from 90 % of it; -1: no limit",
			value: bytes(func(s *Settings) *int64 { return &s.MemoryLimitBytes })},
		{Flag: "cpu-requests", Env: "CPU_REQUESTS", Default: "1000", Usage: "container CPU request in millicores; concurrency grows with it",
			value: number(func(s *Settings) *int { return &s.CPURequestsMilli })},
		{Flag: "log-level", Env: "LOG_LEVEL", Default: "info", Usage: "debug, info or error",
			value: text(func(s *Settings) *string { return &s.LogLevel }), check: oneOf(func(s Settings) string { return s.LogLevel }, "debug", "info", "error", "")},
		{Flag: "log-output-paths", Env: "LOG_OUTPUT_PATHS", Default: "stdout", Usage: "where log lines go, comma separated: stdout, stderr or files",
			value: list(func(s *Settings) *[]string { return &s.LogOutputPaths })},
		{Flag: "log-error-output-paths", Env: "LOG_ERROR_OUTPUT_PATHS", Default: "stderr", Usage: "where the logger reports its own trouble, comma separated",
			value: list(func(s *Settings) *[]string { return &s.LogErrorOutputPaths })},
		{Flag: "karpenter-service", Env: "KARPENTER_SERVICE", Usage: "accepted for old charts, which named a webhook service here; nothing reads it",
			value: text(func(s *Settings) *string { return &s.KarpenterService })},
	}
}

func decisionOptions() []Option {
	return []Option{
		{Flag: "batch-max-duration", Env: "BATCH_MAX_DURATION", Default: "10s", Usage: "longest time to gather pending pods before deciding",
			value: duration(func(s *Settings) *time.Duration { return &s.BatchMaxDuration }), check: notNegative(func(s Settings) time.Duration { return s.BatchMaxDuration })},
		{Flag: "batch-idle-duration", Env: "BATCH_IDLE_DURATION", Default: "1s", Usage: "decide when no new pending pod came for so long",
			value: duration(func(s *Settings) *time.Duration { return &s.BatchIdleDuration }), check: notNegative(func(s Settings) time.Duration { return s.BatchIdleDuration })},
		{Flag: "preference-policy", Env: "PREFERENCE_POLICY", Default: string(PreferenceRespect), Usage: "what pods' preferences count: Respect (as rules while possible), Ignore, or Weigh (Tenon's own: honoured when nearly free)",
			value: text(func(s *Settings) *PreferencePolicy { return &s.PreferencePolicy }),
			check: oneOf(func(s Settings) PreferencePolicy { return s.PreferencePolicy }, PreferenceRespect, PreferenceIgnore, PreferenceWeigh)},
		{Flag: "min-values-policy", Env: "MIN_VALUES_POLICY", Default: string(MinValuesStrict), Usage: "what minValues count when they cannot be met: Strict or BestEffort",
			value: text(func(s *Settings) *MinValuesPolicy { return &s.MinValuesPolicy }),
			check: oneOf(func(s Settings) MinValuesPolicy { return s.MinValuesPolicy }, MinValuesStrict, MinValuesBestEffort)},
		{Flag: "node-price", Env: "NODE_PRICE", Default: "0", Own: true, Usage: "what each node costs beyond its machine (licences, agents, addresses), in dollars an hour; a pool's annotation tenon.sh/node-price goes before it",
			value: price(func(s *Settings) *model.Money { return &s.NodePrice })},
		{Flag: "nominate-pods", Env: "NOMINATE_PODS", Default: "true", Own: true, Usage: "tell kube-scheduler in status.nominatedNodeName on which node a pod was planned; needs the right to patch pods/status",
			value: boolean(func(s *Settings) *bool { return &s.NominatePods })},
		{Flag: "ignore-dra-requests", Env: "IGNORE_DRA_REQUESTS", Default: "true", Usage: "leave pods with dynamic resource claims alone; false is accepted with a warning and changes nothing",
			value: boolean(func(s *Settings) *bool { return &s.IgnoreDRARequests })},
		{Flag: "feature-gates", Env: "FEATURE_GATES", Default: gateDefaults(featureGates), Usage: "switches as Name=true,Name=false; the ones not named keep their default",
			value: gates(featureGates, func(s *Settings) *FeatureGates { return &s.FeatureGates })},
		{Flag: "scheduler-config", Env: "SCHEDULER_CONFIG", Usage: "YAML or JSON with podTopologySpread.defaultConstraints, for pods that have no spread of their own",
			value: document(func(s *Settings) *SchedulerConfig { return &s.SchedulerConfig })},
	}
}

func awsOptions() []Option {
	return []Option{
		{Flag: "cluster-name", Env: "CLUSTER_NAME", Usage: "name of the cluster; required by the AWS provider",
			value: text(func(s *Settings) *string { return &s.AWS.ClusterName })},
		{Flag: "cluster-endpoint", Env: "CLUSTER_ENDPOINT", Usage: "URL that new nodes use to reach the API server; empty: discovered",
			value: text(func(s *Settings) *string { return &s.AWS.ClusterEndpoint }), check: clusterEndpoint},
		{Flag: "cluster-ca-bundle", Env: "CLUSTER_CA_BUNDLE", Usage: "base64 certificate bundle for new nodes; empty: taken from the connection to the cluster",
			value: text(func(s *Settings) *string { return &s.AWS.ClusterCABundle })},
		{Flag: "isolated-vpc", Env: "ISOLATED_VPC", Default: "false", Usage: "the VPC has no way to AWS endpoints without a private link: no price look-ups, no instance profile clean-up",
			value: boolean(func(s *Settings) *bool { return &s.AWS.IsolatedVPC })},
		{Flag: "eks-control-plane", Env: "EKS_CONTROL_PLANE", Default: "false", Usage: "ask EKS for the cluster's version",
			value: boolean(func(s *Settings) *bool { return &s.AWS.EKSControlPlane })},
		{Flag: "vm-memory-overhead-percent", Env: "VM_MEMORY_OVERHEAD_PERCENT", Default: "0.075", Usage: "part of an instance's memory that its nodes do not see, as a fraction",
			value: fraction(func(s *Settings) *float64 { return &s.AWS.VMMemoryOverheadPercent }), check: memoryOverhead},
		{Flag: "interruption-queue", Env: "INTERRUPTION_QUEUE", Usage: "name of the SQS queue with interruption notices; empty: none",
			value: text(func(s *Settings) *string { return &s.AWS.InterruptionQueue })},
		{Flag: "reserved-enis", Env: "RESERVED_ENIS", Default: "0", Usage: "network interfaces that pods cannot use",
			value: number(func(s *Settings) *int { return &s.AWS.ReservedENIs }), check: reservedENIs},
		{Flag: "disable-dry-run", Env: "DISABLE_DRY_RUN", Default: "false", Usage: "do not try out a node class with dry-run calls",
			value: boolean(func(s *Settings) *bool { return &s.AWS.DisableDryRun })},
		{Flag: "enable-zonal-shift", Env: "ENABLE_ZONAL_SHIFT", Default: "false", Usage: "keep out of zones that a zonal shift leads away from",
			value: boolean(func(s *Settings) *bool { return &s.AWS.EnableZonalShift })},
		{Flag: "ami-refresh-interval", Env: "AMI_REFRESH_INTERVAL", Default: "1m", Usage: "how often images are looked up; at least 1m",
			value: duration(func(s *Settings) *time.Duration { return &s.AWS.AMIRefreshInterval }),
			check: refreshInterval("ami-refresh-interval", func(s Settings) time.Duration { return s.AWS.AMIRefreshInterval })},
		{Flag: "subnet-refresh-interval", Env: "SUBNET_REFRESH_INTERVAL", Default: "1m", Usage: "how often subnets are looked up; at least 1m",
			value: duration(func(s *Settings) *time.Duration { return &s.AWS.SubnetRefreshInterval }),
			check: refreshInterval("subnet-refresh-interval", func(s Settings) time.Duration { return s.AWS.SubnetRefreshInterval })},
		{Flag: "aws-feature-gates", Env: "AWS_FEATURE_GATES", Default: gateDefaults(awsFeatureGates), Usage: "switches of the AWS provider, as for --feature-gates",
			value: gates(awsFeatureGates, func(s *Settings) *AWSFeatureGates { return &s.AWS.FeatureGates })},
	}
}
