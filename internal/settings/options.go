package settings

import (
	"slices"
)

// Group is a heading under which options are listed in help and in the reference page.
type Group string

// The groups of settings that every cloud has. A cloud's own are a group of its name.
const (
	GroupProcess   Group = "Process"
	GroupDecisions Group = "Decisions"
	GroupScaleDown Group = "Node groups in mode cas"
)

// Groups lists the groups of some options, in their order.
func Groups(options []Option) []Group {
	var groups []Group
	for _, o := range options {
		if !slices.Contains(groups, o.Group) {
			groups = append(groups, o.Group)
		}
	}
	return groups
}

// Option is one setting: its names, default, and how its text is read and checked. It writes to the
// value that it was made for.
type Option struct {
	Flag    string // without dashes
	Env     string
	Default string
	Usage   string
	Group   Group
	// Own marks what Karpenter does not have, so that people who switch know what is new.
	Own bool

	// Plan marks what a plan depends on, so that "tenon plan" takes it too.
	Plan bool

	Value Value
	// Check refuses a value that can be read but not be used. It may look at other settings, because
	// some are only wrong together; its error is one sentence and, after a semicolon, the remedy.
	Check func() error
	// Note is a warning about a value that can be used and has no effect; empty is none.
	Note func() string
}

// Kind is what the option's text must be, in a word for help: text, number, duration, true|false, …
func (o Option) Kind() string { return o.Value.kind }

// Options returns the table of all options, in reading order: those of every cloud, and a cloud's own.
func Options(own ...Option) []Option { return new(Settings).options(own) }

func (s *Settings) options(own []Option) []Option {
	return slices.Concat(
		Under(GroupProcess, s.processOptions()),
		Under(GroupDecisions, slices.Concat(s.decisionOptions(), s.totalOptions())),
		Under(GroupScaleDown, s.scaleDownOptions()),
		own,
	)
}

// flagKubeconfig says which cluster it is about.
const flagKubeconfig = "kubeconfig"

// defaultLease is Karpenter's.
const defaultLease = "karpenter-leader-election"

// Under puts options in a group.
func Under(group Group, options []Option) []Option {
	for i := range options {
		options[i].Group = group
	}
	return options
}

func (s *Settings) processOptions() []Option {
	return []Option{
		{Flag: flagKubeconfig, Env: "KUBECONFIG", Plan: true, Own: true, Usage: "file that says which cluster to control; empty: the pod's service account, else ~/.kube/config",
			Value: Text(&s.Kubeconfig)},
		{Flag: "mode", Env: "MODE", Default: string(ModeActive), Own: true, Usage: "active, or shadow: decide beside another autoscaler, report what would have been done, and write only a Lease of its own",
			Value: Text(&s.Mode), Check: oneOf(&s.Mode, ModeActive, ModeShadow)},
		{Flag: "listen-address", Env: "LISTEN_ADDRESS", Own: true, Usage: "IP address on which metrics and probes are served; empty: every interface inside a cluster, 127.0.0.1 elsewhere",
			Value: Text(&s.ListenAddress), Check: s.checkListenAddress},
		{Flag: "metrics-port", Env: "METRICS_PORT", Default: "8080", Usage: "port of /metrics, and of /debug/pprof/ with --enable-profiling; 0: any free port",
			Value: Number(&s.MetricsPort), Check: port(&s.MetricsPort)},
		{Flag: "health-probe-port", Env: "HEALTH_PROBE_PORT", Default: "8081", Usage: "port of /healthz and /readyz; 0: any free port",
			Value: Number(&s.HealthProbePort), Check: s.checkProbePort},
		{Flag: "enable-profiling", Env: "ENABLE_PROFILING", Default: "false", Usage: "serve Go profiles on the metrics port",
			Value: Boolean(&s.EnableProfiling)},
		{Flag: "dashboard-listen", Env: "DASHBOARD_LISTEN", Own: true, Usage: "address and port on which the dashboard is served, such as 127.0.0.1:8082, which kubectl port-forward reaches; empty: it is not served",
			Value: Text(&s.DashboardListen)},
		{Flag: "dashboard-token-file", Env: "DASHBOARD_TOKEN_FILE", Own: true, Usage: "file with the token that the dashboard asks for; needed if other machines reach its address",
			Value: Text(&s.DashboardTokenFile)},
		{Flag: "dashboard-links", Env: "DASHBOARD_LINKS", Own: true, Usage: "links from the dashboard to other tools, as NAME=ADDRESS with spaces between them, such as Grafana=https://grafana.example/d/node?var-node={node}",
			Value: Text(&s.DashboardLinks)},
		{Flag: "dashboard-prometheus", Env: "DASHBOARD_PROMETHEUS", Own: true, Usage: "address of the Prometheus server that has the controller's metrics, for the dashboard's price over a day, a week and a month",
			Value: Text(&s.DashboardPrometheus)},
		{Flag: "kube-client-qps", Env: "KUBE_CLIENT_QPS", Default: "200", Usage: "requests a second to the API server, sustained",
			Value: Number(&s.KubeClientQPS)},
		{Flag: "kube-client-burst", Env: "KUBE_CLIENT_BURST", Default: "300", Usage: "requests to the API server that may be sent at once",
			Value: Number(&s.KubeClientBurst)},
		{Flag: "disable-leader-election", Env: "DISABLE_LEADER_ELECTION", Default: "false", Usage: "act without holding the Lease; only for a single replica",
			Value: Boolean(&s.DisableLeaderElection)},
		{Flag: "leader-election-name", Env: "LEADER_ELECTION_NAME", Default: defaultLease, Usage: "name of the Lease; Karpenter's own by default, so that the two never act together; in shadow mode " + shadowLease,
			Value: Text(&s.LeaderElectionName), Check: s.checkLeaseName},
		{Flag: "leader-election-namespace", Env: "LEADER_ELECTION_NAMESPACE", Usage: "namespace of the Lease; empty: the pod's",
			Value: Text(&s.LeaderElectionNamespace)},
		{Flag: "disable-controller-warmup", Env: "DISABLE_CONTROLLER_WARMUP", Default: "true", Usage: "false: fill a standby's caches before it leads",
			Value: Boolean(&s.DisableControllerWarmup)},
		{Flag: "disable-cluster-state-observability", Env: "DISABLE_CLUSTER_STATE_OBSERVABILITY", Default: "false", Usage: "drop the metrics of each pod, node and pool, and condition metrics and events",
			Value: Boolean(&s.DisableClusterStateObservability)},
		{Flag: "metrics-series", Env: "METRICS_SERIES", Default: "500", Own: true, Usage: "most time series on /metrics: above it metrics have fewer labels and buckets; 0: all that Karpenter has, which grows with pods and nodes",
			Value: Number(&s.MetricsSeries), Check: s.checkSeries},
		{Flag: "memory-limit", Env: "MEMORY_LIMIT", Default: "-1", Usage: "container memory limit in bytes; garbage collection works harder from 90 % of it; -1: no limit",
			Value: Bytes(&s.MemoryLimitBytes)},
		{Flag: "cpu-requests", Env: "CPU_REQUESTS", Default: "1000", Usage: "container CPU request in millicores; concurrency grows with it",
			Value: Number(&s.CPURequestsMilli)},
		{Flag: "journal-folder", Env: "JOURNAL_FOLDER", Own: true, Usage: "folder on a volume where decisions and their outcomes are recorded; empty: in memory (8 MiB), emptied at each start",
			Value: Text(&s.JournalFolder)},
		{Flag: "journal-bytes", Env: "JOURNAL_BYTES", Default: "200000000", Own: true, Usage: "how large that record may become; the oldest entries are removed first; half is for snapshots, from which decisions can be made again; 0: no record",
			Value: Bytes(&s.JournalBytes), Check: s.checkJournal},
		{Flag: "log-level", Env: "LOG_LEVEL", Default: "info", Usage: "debug, info or error",
			Value: Text(&s.LogLevel), Check: oneOf(&s.LogLevel, "debug", "info", "error", "")},
		{Flag: "log-output-paths", Env: "LOG_OUTPUT_PATHS", Default: "stdout", Usage: "where log lines go, comma separated: stdout, stderr or files",
			Value: List(&s.LogOutputPaths)},
		{Flag: "log-error-output-paths", Env: "LOG_ERROR_OUTPUT_PATHS", Default: "stderr", Usage: "where the logger reports its own trouble, comma separated",
			Value: List(&s.LogErrorOutputPaths)},
		{Flag: "karpenter-service", Env: "KARPENTER_SERVICE", Usage: "accepted for old charts, which named a webhook service here; nothing reads it",
			Value: Text(&s.KarpenterService)},
	}
}

func (s *Settings) decisionOptions() []Option {
	return []Option{
		{Flag: "batch-max-duration", Env: "BATCH_MAX_DURATION", Default: "10s", Usage: "longest time to gather pending pods before deciding",
			Value: Duration(&s.BatchMaxDuration), Check: notNegative(&s.BatchMaxDuration)},
		{Flag: "batch-idle-duration", Env: "BATCH_IDLE_DURATION", Default: "1s", Usage: "how long no new pending pod must have come before deciding",
			Value: Duration(&s.BatchIdleDuration), Check: notNegative(&s.BatchIdleDuration)},
		{Flag: "preference-policy", Env: "PREFERENCE_POLICY", Plan: true, Default: string(PreferenceRespect), Usage: "how pods' preferences count: Respect (as rules while possible), Ignore, or Weigh (Tenon's own: honoured when nearly free)",
			Value: Text(&s.PreferencePolicy),
			Check: oneOf(&s.PreferencePolicy, PreferenceRespect, PreferenceIgnore, PreferenceWeigh)},
		{Flag: "min-values-policy", Env: "MIN_VALUES_POLICY", Plan: true, Default: string(MinValuesStrict), Usage: "what happens if minValues cannot be met: Strict (no such node is bought) or BestEffort (with fewer values)",
			Value: Text(&s.MinValuesPolicy),
			Check: oneOf(&s.MinValuesPolicy, MinValuesStrict, MinValuesBestEffort)},
		{Flag: "node-price", Env: "NODE_PRICE", Plan: true, Default: "0", Own: true, Usage: "what each node costs beyond its machine (licences, agents, addresses), in dollars an hour; a pool's annotation tenon.sh/node-price takes precedence",
			Value: Price(&s.NodePrice)},
		{Flag: "nominate-pods", Env: "NOMINATE_PODS", Default: "true", Own: true, Usage: "tell kube-scheduler in status.nominatedNodeName on which node a pod was planned; needs the right to patch pods/status",
			Value: Boolean(&s.NominatePods)},
		{Flag: "guide-moves", Env: "GUIDE_MOVES", Plan: true, Default: "true", Own: true, Usage: "while pods move, taint nodes for a few seconds with tenon.sh/not-receiving:PreferNoSchedule, so that kube-scheduler puts the pods where they were planned",
			Value: Boolean(&s.GuideMoves)},
		{Flag: "ignore-dra-requests", Env: "IGNORE_DRA_REQUESTS", Default: "true", Usage: "ignore pods with dynamic resource claims; false is accepted with a warning and changes nothing",
			Value: Boolean(&s.IgnoreDRARequests), Note: s.noDRA},
		{Flag: "feature-gates", Env: "FEATURE_GATES", Plan: true, Default: GateDefaults(featureGates), Usage: "switches as Name=true,Name=false; the ones not named keep their default",
			Value: Gates(featureGates, &s.FeatureGates)},
		{Flag: "scheduler-config", Env: "SCHEDULER_CONFIG", Plan: true, Usage: "YAML or JSON with podTopologySpread.defaultConstraints, for pods that have no spread of their own",
			Value: document(&s.SchedulerConfig)},
	}
}

// noDRA says that the setting asks for something that Tenon does not have.
func (s *Settings) noDRA() string {
	if s.IgnoreDRARequests {
		return ""
	}
	return "no nodes are bought for pods with dynamic resource claims, also with ignore-dra-requests=false"
}
