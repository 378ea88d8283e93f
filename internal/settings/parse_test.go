package settings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/snapshot"
)

// environment makes a look-up from a map.
func environment(variables map[string]string) LookupEnv {
	return func(name string) (string, bool) {
		text, ok := variables[name]
		return text, ok
	}
}

func mustParse(t *testing.T, args []string, variables map[string]string) (Settings, []Warning) {
	t.Helper()
	s, warnings, err := Parse(args, environment(variables))
	if err != nil {
		t.Fatalf("Parse(%q, %v): %v", args, variables, err)
	}
	s.ForPlans = nil // it repeats what was given
	return s, warnings
}

// TestSettingsForPlans checks which settings are passed on to plans, and that what is given here takes precedence over what a
// controller publishes, which takes precedence over the defaults.
func TestSettingsForPlans(t *testing.T) {
	t.Parallel()
	s, _, err := Parse([]string{"--node-price=0.02", "--metrics-port=1", "--kubeconfig=file", "--expander=price"}, environment(map[string]string{
		"FEATURE_GATES": "StaticCapacity=true", "PREFERENCE_POLICY": "Ignore", "GUIDE_MOVES": "maybe",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"node-price": "0.02", "feature-gates": "StaticCapacity=true", "preference-policy": "Ignore"}
	if diff := cmp.Diff(want, s.ForPlans); diff != "" {
		t.Errorf("for plans (-want +got):\n%s", diff)
	}
	given := WithPublished(environment(map[string]string{"PREFERENCE_POLICY": "Weigh"}), s.ForPlans)
	there, _, err := Parse([]string{"--node-price=0.05"}, given)
	if err != nil {
		t.Fatal(err)
	}
	if there.NodePrice.Float() != 0.05 || there.PreferencePolicy != PreferenceWeigh || !there.FeatureGates.StaticCapacity || there.MetricsPort != 8080 {
		t.Errorf("with published settings: %+v", there)
	}
}

// The defaults are those of the documented tables of Karpenter's settings.
func TestDefaults(t *testing.T) {
	t.Parallel()
	want := Settings{
		MetricsPort: 8080, HealthProbePort: 8081, MetricsSeries: 500, JournalBytes: 200_000_000,
		KubeClientQPS: 200, KubeClientBurst: 300,
		DisableControllerWarmup: true,
		LeaderElectionName:      "karpenter-leader-election",
		MemoryLimitBytes:        -1, CPURequestsMilli: 1000,
		LogLevel: "info", LogOutputPaths: []string{"stdout"}, LogErrorOutputPaths: []string{"stderr"},
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second,
		Mode: ModeActive, PreferencePolicy: "Respect", MinValuesPolicy: "Strict",
		NominatePods:      true,
		GuideMoves:        true,
		IgnoreDRARequests: true,
		FeatureGates:      FeatureGates{ReservedCapacity: true},
		Expander:          "price", WriteStatusConfigMap: true,
		ProvisioningRequests: ProvisioningRequests{FirstBackoff: time.Minute, LongestBackoff: 10 * time.Minute, MaxBatch: 10},
		MaxNodeProvisionTime: 15 * time.Minute, MaxNodeStartupTime: 15 * time.Minute,
		GroupDrain: GroupDrain{MaxGraceSeconds: 600, MaxEviction: 2 * time.Minute, Cordon: true, DeletionDelay: 2 * time.Minute, DaemonsOfOccupied: true},
		Balance:    snapshot.Balance{Memory: 15, Allocatable: 50, Free: 50},
		ScaleDown: snapshot.ScaleDown{ // as Cluster Autoscaler's documentation has it
			Enabled: true, UnreadyEnabled: true, UtilizationThreshold: 500, GPUUtilizationThreshold: 500,
			UnneededTime: 10 * time.Minute, UnreadyTime: 20 * time.Minute, MaxParallelism: 10, MaxDrainParallelism: 1,
			DelayAfterAdd: 10 * time.Minute, DelayAfterFailure: 3 * time.Minute,
			Drain: snapshot.DrainRules{SkipNodesWithSystemPods: true, SkipNodesWithLocalStorage: true, SkipNodesWithCustomControllerPods: true, BlockingSystemPodTimeout: time.Hour, ExpendableBelow: -10},
		},
	}
	got, warnings := mustParse(t, nil, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if len(warnings) > 0 {
		t.Errorf("defaults warn: %v", warnings)
	}
}

// each gives, for every option, a text other than its default and the change that it makes.
var each = map[string]struct {
	text   string
	change func(*Settings)
}{
	"kubeconfig": {"/tmp/kubeconfig", func(s *Settings) { s.Kubeconfig = "/tmp/kubeconfig" }},
	"mode": {"shadow", func(s *Settings) {
		s.Mode = ModeShadow
		s.LeaderElectionName = "tenon-shadow"
	}},
	"listen-address":                            {"0.0.0.0", func(s *Settings) { s.ListenAddress = "0.0.0.0" }},
	"metrics-port":                              {"9000", func(s *Settings) { s.MetricsPort = 9000 }},
	"health-probe-port":                         {"9001", func(s *Settings) { s.HealthProbePort = 9001 }},
	"enable-profiling":                          {"true", func(s *Settings) { s.EnableProfiling = true }},
	"kube-client-qps":                           {"17", func(s *Settings) { s.KubeClientQPS = 17 }},
	"kube-client-burst":                         {"18", func(s *Settings) { s.KubeClientBurst = 18 }},
	"disable-leader-election":                   {"true", func(s *Settings) { s.DisableLeaderElection = true }},
	"leader-election-name":                      {"my-lease", func(s *Settings) { s.LeaderElectionName = "my-lease" }},
	"leader-election-namespace":                 {"kube-system", func(s *Settings) { s.LeaderElectionNamespace = "kube-system" }},
	"disable-controller-warmup":                 {"false", func(s *Settings) { s.DisableControllerWarmup = false }},
	"metrics-series":                            {"1000", func(s *Settings) { s.MetricsSeries = 1000 }},
	"disable-cluster-state-observability":       {"true", func(s *Settings) { s.DisableClusterStateObservability = true }},
	"dashboard-listen":                          {"127.0.0.1:8082", func(s *Settings) { s.DashboardListen = "127.0.0.1:8082" }},
	"dashboard-token-file":                      {"/var/run/token", func(s *Settings) { s.DashboardTokenFile = "/var/run/token" }},
	"dashboard-links":                           {"Logs=https://logs.example/?q={pod}", func(s *Settings) { s.DashboardLinks = "Logs=https://logs.example/?q={pod}" }},
	"dashboard-prometheus":                      {"http://prometheus:9090", func(s *Settings) { s.DashboardPrometheus = "http://prometheus:9090" }},
	"journal-folder":                            {"/var/lib/tenon", func(s *Settings) { s.JournalFolder = "/var/lib/tenon" }},
	"journal-bytes":                             {"50000000", func(s *Settings) { s.JournalBytes = 50_000_000 }},
	"memory-limit":                              {"1073741824", func(s *Settings) { s.MemoryLimitBytes = 1 << 30 }},
	"cpu-requests":                              {"2500", func(s *Settings) { s.CPURequestsMilli = 2500 }},
	"log-level":                                 {"debug", func(s *Settings) { s.LogLevel = "debug" }},
	"log-output-paths":                          {"stdout, /tmp/log", func(s *Settings) { s.LogOutputPaths = []string{"stdout", "/tmp/log"} }},
	"log-error-output-paths":                    {"stdout", func(s *Settings) { s.LogErrorOutputPaths = []string{"stdout"} }},
	"karpenter-service":                         {"karpenter", func(s *Settings) { s.KarpenterService = "karpenter" }},
	"batch-max-duration":                        {"20s", func(s *Settings) { s.BatchMaxDuration = 20 * time.Second }},
	"batch-idle-duration":                       {"250ms", func(s *Settings) { s.BatchIdleDuration = 250 * time.Millisecond }},
	"preference-policy":                         {"Weigh", func(s *Settings) { s.PreferencePolicy = PreferenceWeigh }},
	"guide-moves":                               {"false", func(s *Settings) { s.GuideMoves = false }},
	"nominate-pods":                             {"false", func(s *Settings) { s.NominatePods = false }},
	"node-price":                                {"0.12", func(s *Settings) { s.NodePrice = 120_000 }},
	"min-values-policy":                         {"BestEffort", func(s *Settings) { s.MinValuesPolicy = MinValuesBestEffort }},
	"expander":                                  {"priority,price", func(s *Settings) { s.Expander = "priority,price" }},
	"grpc-expander-url":                         {"expander:7000", func(s *Settings) { s.GRPCExpander.URL = "expander:7000" }},
	"grpc-expander-cert":                        {"ca.crt", func(s *Settings) { s.GRPCExpander.Cert = "ca.crt" }},
	"write-status-configmap":                    {"false", func(s *Settings) { s.WriteStatusConfigMap = false }},
	"balance-similar-node-groups":               {"true", func(s *Settings) { s.BalanceSimilarNodeGroups = true }},
	"enable-provisioning-requests":              {"true", func(s *Settings) { s.ProvisioningRequests.Enabled = true }},
	"max-nodes-total":                           {"100", func(s *Settings) { s.Totals.Nodes = 100 }},
	"cores-total":                               {"8:400", func(s *Settings) { s.Totals.Cores = &Range{8, 400} }},
	"memory-total":                              {"16:1600", func(s *Settings) { s.Totals.Memory = &Range{16, 1600} }},
	"gpu-total":                                 {"nvidia.com/gpu:0:16", func(s *Settings) { s.Totals.GPUs = []Named{{"nvidia.com/gpu", Range{0, 16}}} }},
	"provisioning-request-initial-backoff-time": {"2m", func(s *Settings) { s.ProvisioningRequests.FirstBackoff = 2 * time.Minute }},
	"provisioning-request-max-backoff-time":     {"5m", func(s *Settings) { s.ProvisioningRequests.LongestBackoff = 5 * time.Minute }},
	"check-capacity-provisioning-request-max-batch-size": {"3", func(s *Settings) { s.ProvisioningRequests.MaxBatch = 3 }},
	"check-capacity-processor-instance":                  {"b", func(s *Settings) { s.ProvisioningRequests.Instance = "b" }},
	"max-node-provision-time":                            {"6m", func(s *Settings) { s.MaxNodeProvisionTime = 6 * time.Minute }},
	"max-node-startup-time":                              {"7m", func(s *Settings) { s.MaxNodeStartupTime = 7 * time.Minute }},
	"drain-priority-config":                              {"1000:30,0:600", func(s *Settings) { s.GroupDrain.Priorities = []DrainPriority{{0, 600}, {1000, 30}} }},
	"max-pod-eviction-time":                              {"1m", func(s *Settings) { s.GroupDrain.MaxEviction = time.Minute }},
	"max-graceful-termination-sec":                       {"30", func(s *Settings) { s.GroupDrain.MaxGraceSeconds = 30 }},
	"cordon-node-before-terminating":                     {"false", func(s *Settings) { s.GroupDrain.Cordon = false }},
	"node-deletion-delay-timeout":                        {"1m", func(s *Settings) { s.GroupDrain.DeletionDelay = time.Minute }},
	"daemonset-eviction-for-empty-nodes":                 {"true", func(s *Settings) { s.GroupDrain.DaemonsOfEmpty = true }},
	"daemonset-eviction-for-occupied-nodes":              {"false", func(s *Settings) { s.GroupDrain.DaemonsOfOccupied = false }},
	"startup-taint":                                      {"example.com/boot", func(s *Settings) { s.GroupTaints.Startup = []string{"example.com/boot"} }},
	"startup-taint-prefix":                               {"boot.example.com/", func(s *Settings) { s.GroupTaints.StartupPrefixes = []string{"boot.example.com/"} }},
	"ignore-taint":                                       {"example.com/boot", func(s *Settings) { s.GroupTaints.Ignored = []string{"example.com/boot"} }},
	"status-taint":                                       {"example.com/busy", func(s *Settings) { s.GroupTaints.Status = []string{"example.com/busy"} }},
	"balancing-ignore-label":                             {"team", func(s *Settings) { s.BalancingIgnoreLabels = []string{"team"} }},
	"balancing-label":                                    {"team", func(s *Settings) { s.Balance.Labels = []string{"team"} }},
	"memory-difference-ratio":                            {"0.2", func(s *Settings) { s.Balance.Memory = 200 }},
	"max-allocatable-difference-ratio":                   {"0.3", func(s *Settings) { s.Balance.Allocatable = 300 }},
	"max-free-difference-ratio":                          {"0.4", func(s *Settings) { s.Balance.Free = 400 }},
	"scale-down-enabled":                                 {"false", func(s *Settings) { s.ScaleDown.Enabled = false }},
	"scale-down-unready-enabled":                         {"false", func(s *Settings) { s.ScaleDown.UnreadyEnabled = false }},
	"scale-down-utilization-threshold":                   {"0.705", func(s *Settings) { s.ScaleDown.UtilizationThreshold = 705 }},
	"scale-down-gpu-utilization-threshold":               {"1", func(s *Settings) { s.ScaleDown.GPUUtilizationThreshold = 1000 }},
	"ignore-daemonsets-utilization":                      {"true", func(s *Settings) { s.ScaleDown.IgnoreDaemonSetsUtilization = true }},
	"ignore-mirror-pods-utilization":                     {"true", func(s *Settings) { s.ScaleDown.IgnoreMirrorPodsUtilization = true }},
	"scale-down-unneeded-time":                           {"3m", func(s *Settings) { s.ScaleDown.UnneededTime = 3 * time.Minute }},
	"scale-down-unready-time":                            {"4m", func(s *Settings) { s.ScaleDown.UnreadyTime = 4 * time.Minute }},
	"scale-down-delay-after-add":                         {"5m", func(s *Settings) { s.ScaleDown.DelayAfterAdd = 5 * time.Minute }},
	"scale-down-delay-after-delete":                      {"6m", func(s *Settings) { s.ScaleDown.DelayAfterDelete = 6 * time.Minute }},
	"scale-down-delay-after-failure":                     {"7m", func(s *Settings) { s.ScaleDown.DelayAfterFailure = 7 * time.Minute }},
	"scale-down-delay-type-local":                        {"true", func(s *Settings) { s.ScaleDown.DelayTypeLocal = true }},
	"max-scale-down-parallelism":                         {"8", func(s *Settings) { s.ScaleDown.MaxParallelism = 8 }},
	"max-drain-parallelism":                              {"9", func(s *Settings) { s.ScaleDown.MaxDrainParallelism = 9 }},
	"skip-nodes-with-system-pods":                        {"false", func(s *Settings) { s.ScaleDown.Drain.SkipNodesWithSystemPods = false }},
	"skip-nodes-with-local-storage":                      {"false", func(s *Settings) { s.ScaleDown.Drain.SkipNodesWithLocalStorage = false }},
	"skip-nodes-with-custom-controller-pods":             {"false", func(s *Settings) { s.ScaleDown.Drain.SkipNodesWithCustomControllerPods = false }},
	"expendable-pods-priority-cutoff":                    {"-100", func(s *Settings) { s.ScaleDown.Drain.ExpendableBelow = -100 }},
	"allowed-scheduler-names":                            {"a, b", func(s *Settings) { s.AllowedSchedulers = []string{"a", "b"} }},
	"min-replica-count":                                  {"3", func(s *Settings) { s.ScaleDown.Drain.MinReplicaCount = 3 }},
	"blocking-system-pod-distruption-timeout":            {"2h", func(s *Settings) { s.ScaleDown.Drain.BlockingSystemPodTimeout = 2 * time.Hour }},
	"ignore-dra-requests":                                {"false", func(s *Settings) { s.IgnoreDRARequests = false }},
	"feature-gates": {"NodeRepair=true, ReservedCapacity=false", func(s *Settings) {
		s.FeatureGates = FeatureGates{NodeRepair: true}
	}},
	"scheduler-config": {
		`{"podTopologySpread":{"defaultConstraints":[{"maxSkew":2,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway"}]}}`,
		func(s *Settings) { s.SchedulerConfig = zoneSpread(2) },
	},
}

func TestEveryOptionIsReadFromItsFlagAndItsEnvironmentVariable(t *testing.T) {
	t.Parallel()
	for _, o := range Options() {
		t.Run(o.Flag, func(t *testing.T) {
			t.Parallel()
			tc, ok := each[o.Flag]
			if !ok {
				t.Fatalf("no case for --%s: add one to the table", o.Flag)
			}
			want, _ := mustParse(t, nil, nil)
			tc.change(&want)
			byFlag, _ := mustParse(t, []string{"--" + o.Flag + "=" + tc.text}, nil)
			if diff := cmp.Diff(want, byFlag); diff != "" {
				t.Errorf("--%s=%s (-want +got):\n%s", o.Flag, tc.text, diff)
			}
			byEnv, _ := mustParse(t, nil, map[string]string{o.Env: tc.text})
			if diff := cmp.Diff(want, byEnv); diff != "" {
				t.Errorf("%s=%s (-want +got):\n%s", o.Env, tc.text, diff)
			}
			flagBeatsEnv, _ := mustParse(t, []string{"--" + o.Flag + "=" + tc.text}, map[string]string{o.Env: o.Default})
			if diff := cmp.Diff(want, flagBeatsEnv); diff != "" {
				t.Errorf("--%s=%s over %s=%s (-want +got):\n%s", o.Flag, tc.text, o.Env, o.Default, diff)
			}
		})
	}
	if len(each) != len(Options()) {
		t.Errorf("%d cases for %d options", len(each), len(Options()))
	}
}

func TestNamesFollowOneRule(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range Options() {
		if want := strings.ToUpper(strings.ReplaceAll(o.Flag, "-", "_")); o.Env != want {
			t.Errorf("--%s reads %s, want %s", o.Flag, o.Env, want)
		}
		if seen[o.Flag] {
			t.Errorf("--%s is listed twice", o.Flag)
		}
		seen[o.Flag] = true
	}
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		env  map[string]string
		want []string // parts of the message
	}{
		"a flag that is no number": {
			args: []string{"--metrics-port=http"},
			want: []string{`--metrics-port="http"`, "not a whole number", "METRICS_PORT"},
		},
		"a number too long for the machine": {
			args: []string{"--memory-limit=99999999999999999999"},
			want: []string{"--memory-limit", "that fits into 64 bits"},
		},
		"a boolean flag that is neither true nor false": {
			args: []string{"--enable-profiling=yes"},
			want: []string{`"yes" is not a valid value, must be true or false`},
		},
		"a boolean flag in capitals": {
			args: []string{"--enable-profiling=TRUE"},
			want: []string{`"TRUE" is not a valid value, must be true or false`},
		},
		"a duration without a unit":         {args: []string{"--batch-max-duration=10"}, want: []string{"--batch-max-duration", "10s or 1m30s"}},
		"a negative duration":               {env: map[string]string{"BATCH_IDLE_DURATION": "-1s"}, want: []string{`BATCH_IDLE_DURATION="-1s"`, "cannot be negative"}},
		"a port out of range":               {args: []string{"--metrics-port=70000"}, want: []string{"from 0 to 65535", "--metrics-port"}},
		"a negative port":                   {env: map[string]string{"HEALTH_PROBE_PORT": "-1"}, want: []string{`HEALTH_PROBE_PORT="-1"`, "from 0 to 65535"}},
		"one port for two servers":          {args: []string{"--metrics-port=8081"}, want: []string{"cannot share port 8081"}},
		"an address with a port":            {args: []string{"--listen-address=0.0.0.0:80"}, want: []string{"not an IP address", "LISTEN_ADDRESS"}},
		"an unknown log level":              {env: map[string]string{"LOG_LEVEL": "trace"}, want: []string{`LOG_LEVEL="trace"`, "one of debug, info, error"}},
		"an unknown preference policy":      {env: map[string]string{"PREFERENCE_POLICY": "Obey"}, want: []string{`PREFERENCE_POLICY="Obey"`, "one of Respect, Ignore, Weigh"}},
		"an empty preference policy":        {env: map[string]string{"PREFERENCE_POLICY": ""}, want: []string{`PREFERENCE_POLICY=""`}},
		"an unknown minValues policy":       {args: []string{"--min-values-policy=Lax"}, want: []string{"one of Strict, BestEffort"}},
		"a lease name with a space":         {args: []string{"--leader-election-name=a b"}, want: []string{"not a name for a Lease"}},
		"a feature gate without a value":    {env: map[string]string{"FEATURE_GATES": "NodeRepair"}, want: []string{`FEATURE_GATES="NodeRepair"`, "Name=true"}},
		"a feature gate that is maybe":      {args: []string{"--feature-gates=NodeRepair=maybe"}, want: []string{`"NodeRepair=maybe" is not of the form`}},
		"fewer series than metrics":         {args: []string{"--metrics-series=20"}, want: []string{"20 series are fewer than there are metrics", "at least 200, or 0"}},
		"a scheduler configuration, broken": {args: []string{"--scheduler-config={"}, want: []string{"parsing scheduler config", "SCHEDULER_CONFIG"}},
		"everything wrong is told at once": {
			args: []string{"--metrics-port=x", "--batch-idle-duration=-1s"},
			env:  map[string]string{"LOG_LEVEL": "loud"},
			want: []string{"--metrics-port", "--batch-idle-duration", "LOG_LEVEL"},
		},
		"an argument that is no flag": {args: []string{"now"}, want: []string{`unexpected argument "now"`}},
		"an unknown flag":             {args: []string{"--metric-port=1"}, want: []string{"unknown flag: --metric-port"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Parse(tc.args, environment(tc.env))
			if err == nil {
				t.Fatalf("Parse(%q, %v) accepts it", tc.args, tc.env)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
		})
	}
}

// The command line of a Cluster Autoscaler is read: what Tenon has counts, what it does not need is told, and what would keep it from
// something is refused unless it is the default.
func TestFlagsOfClusterAutoscaler(t *testing.T) {
	t.Parallel()
	s, warnings := mustParse(t, []string{
		"--v=4", "--stderrthreshold=info", "--cloud-provider=aws", "--skip-nodes-with-local-storage=false", "--expander=least-waste", "--scan-interval=30s",
		"--leader-elect", "--max-nodes-total=0", "--scale-down-unneeded-time=3m",
	}, nil)
	var told []string
	for _, w := range warnings {
		told = append(told, w.Flag)
	}
	slices.Sort(told)
	if got, want := strings.Join(told, " "), "cloud-provider leader-elect scan-interval stderrthreshold v"; got != want || s.ScaleDown.UnneededTime != 3*time.Minute {
		t.Errorf("told of %s, want %s; nodes go after %s", got, want, s.ScaleDown.UnneededTime)
	}
	for _, refused := range []string{"--cloud-config=/etc/cloud.ini", "--capacity-quotas-enabled"} {
		name, _, _ := strings.Cut(strings.TrimPrefix(refused, "--"), "=")
		if _, _, err := Parse([]string{refused}, environment(nil)); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "leave the flag out") {
			t.Errorf("%s: %v", refused, err)
		}
	}
}

// Settings that ask for what is not there say so, once, and change nothing else.
func TestWhatHasNoEffectSaysSo(t *testing.T) {
	t.Parallel()
	for env, text := range map[string]string{"IGNORE_DRA_REQUESTS": "false"} {
		_, warnings := mustParse(t, nil, map[string]string{env: text})
		if len(warnings) != 1 || warnings[0].Env != env || warnings[0].Text == "" {
			t.Errorf("%s=%s: warnings %v, want one about it", env, text, warnings)
		}
	}
	if _, warnings := mustParse(t, nil, nil); len(warnings) != 0 {
		t.Errorf("the defaults warn of %v", warnings)
	}
}

func TestUnreadableEnvironmentFallsBackAndSaysSo(t *testing.T) {
	t.Parallel()
	unreadable := map[string]string{"number": "many", "bytes": "1Gi", "true|false": "yes", "duration": "soon"}
	for _, o := range Options() {
		text, lenient := unreadable[o.Kind()]
		if !lenient {
			continue
		}
		t.Run(o.Env, func(t *testing.T) {
			t.Parallel()
			want, _ := mustParse(t, nil, nil)
			got, warnings := mustParse(t, nil, map[string]string{o.Env: text})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settings (-default +got):\n%s", diff)
			}
			if len(warnings) != 1 {
				t.Fatalf("warnings: %v, want one", warnings)
			}
			for _, part := range []string{o.Env, text, o.Default, "--" + o.Flag} {
				if !strings.Contains(warnings[0].String(), part) {
					t.Errorf("warning %q lacks %q", warnings[0], part)
				}
			}
		})
	}
}

func TestAnEmptyVariableIsAnAbsentOneWhereEmptyMeansNothing(t *testing.T) {
	t.Parallel()
	want, _ := mustParse(t, nil, nil)
	got, warnings := mustParse(t, nil, map[string]string{"METRICS_PORT": "", "ENABLE_PROFILING": "", "BATCH_MAX_DURATION": "", "FEATURE_GATES": ""})
	if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
		t.Errorf("warnings %v, settings (-default +got):\n%s", warnings, diff)
	}
	empty, _ := mustParse(t, nil, map[string]string{"LOG_LEVEL": ""})
	if empty.LogLevel != "" {
		t.Errorf("LOG_LEVEL= gives %q, want the empty level", empty.LogLevel)
	}
}

// The environment's booleans follow strconv.ParseBool, as in Karpenter; flags do not.
func TestEnvironmentBooleansAreGenerous(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"1": true, "t": true, "TRUE": true, "true": true, "0": false, "F": false, "False": false} {
		got, warnings := mustParse(t, nil, map[string]string{"IGNORE_DRA_REQUESTS": text})
		warned := slices.ContainsFunc(warnings, func(w Warning) bool { return strings.Contains(w.Text, "is ignored") })
		if got.IgnoreDRARequests != want || warned {
			t.Errorf("IGNORE_DRA_REQUESTS=%s gives %t, warnings %v; want %t, and nothing ignored", text, got.IgnoreDRARequests, warnings, want)
		}
	}
}

func TestABooleanFlagAloneIsTrue(t *testing.T) {
	t.Parallel()
	got, _ := mustParse(t, []string{"--disable-leader-election", "--enable-profiling"}, nil)
	if !got.DisableLeaderElection || !got.EnableProfiling {
		t.Errorf("flags without a value: %+v", got)
	}
}

func FuzzParseNeverPanicsAndNeverForgetsAnError(f *testing.F) {
	for flag, tc := range each {
		f.Add(flag, tc.text)
	}
	f.Fuzz(func(t *testing.T, flag, text string) {
		s, _, err := Parse([]string{"--" + flag + "=" + text}, environment(nil))
		if err == nil && (s.MetricsPort < 0 || s.MetricsPort > 65535 || s.CPURequestsMilli <= 0) {
			t.Errorf("--%s=%q is accepted as %+v", flag, text, s)
		}
	})
}

// A price is refused wherever it stands: left out with a warning, it would buy other nodes.
func TestAPriceOfNodesThatIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0,12", "-1", "2000000", ""} {
		_, _, err := Parse([]string{"--node-price=" + text}, environment(nil))
		if err == nil || !strings.Contains(err.Error(), "invalid setting --node-price=") || !strings.Contains(err.Error(), "use a number of dollars an hour such as 0.12") {
			t.Errorf("flag %q: %v", text, err)
		}
	}
	_, _, err := Parse(nil, environment(map[string]string{"NODE_PRICE": "a lot"}))
	if err == nil || !strings.Contains(err.Error(), `invalid setting NODE_PRICE="a lot": is not a price; use a number`) {
		t.Errorf("environment: %v", err)
	}
}

// A repeated flag keeps every value that it is given, and the environment has one a line.
func TestRepeatedFlags(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
	}{
		"flags":       {args: []string{"--many=a=1,b", "--many", " c "}},
		"environment": {env: map[string]string{"MANY": "a=1,b\n\nc\n"}},
		"both":        {args: []string{"--many=a=1,b", "--many=c"}, env: map[string]string{"MANY": "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			lookup := func(name string) (string, bool) { text, found := tc.env[name]; return text, found }
			_, _, err := Parse(tc.args, lookup, Option{Flag: "many", Env: "MANY", Value: Repeated(&got)})
			if diff := cmp.Diff([]string{"a=1,b", "c"}, got); err != nil || diff != "" {
				t.Errorf("error %v, values (-want +got):\n%s", err, diff)
			}
		})
	}
}
