// Package settings turns flags and environment variables into one value, Settings, that the rest
// of the process is built from. It is pure: arguments and a look-up function go in; settings,
// warnings and one error that names everything wrong come out. It must not read the process's
// environment, files or the network itself, and it must not log.
//
// Names, defaults and meanings are those that Karpenter's users already have in their charts.
// What Tenon adds is marked as its own in the table (see options).
package settings

import (
	"time"

	"tenon/core/model"
	"tenon/core/snapshot"
	"tenon/internal/clusterautoscaler"
)

// Settings is everything an operator can tell the controller of any cloud. What a cloud has besides
// is a value of its own, which the cloud's options write to.
type Settings struct {
	// Kubeconfig names the file that says which cluster to talk to; empty means the pod's own.
	Kubeconfig string
	// ListenAddress is where metrics and probes are served; empty means every interface inside a
	// cluster and loopback elsewhere.
	ListenAddress string

	// Mode says whether decisions are carried out.
	Mode Mode

	KarpenterService string
	MetricsPort      int
	HealthProbePort  int
	EnableProfiling  bool
	// DashboardListen is the address and port of the dashboard, empty for none; DashboardTokenFile has the
	// token that it asks for. DashboardLinks lead to other tools, each as NAME=ADDRESS, with spaces between them, and
	// DashboardPrometheus is the address of a Prometheus server.
	DashboardListen     string
	DashboardTokenFile  string
	DashboardLinks      string
	DashboardPrometheus string

	KubeClientQPS   int
	KubeClientBurst int

	DisableControllerWarmup          bool
	DisableLeaderElection            bool
	DisableClusterStateObservability bool
	MetricsSeries                    int
	LeaderElectionName               string
	LeaderElectionNamespace          string
	MemoryLimitBytes                 int64
	CPURequestsMilli                 int
	// JournalFolder is where decisions are recorded, empty for memory; JournalBytes is how much.
	JournalFolder       string
	JournalBytes        int64
	LogLevel            string
	LogOutputPaths      []string
	LogErrorOutputPaths []string
	BatchMaxDuration    time.Duration
	BatchIdleDuration   time.Duration
	PreferencePolicy    PreferencePolicy
	MinValuesPolicy     MinValuesPolicy
	// NodePrice is what each node costs an hour beyond its machine, where its pool does not say it.
	NodePrice model.Money
	// NominatePods has the scheduler told where pods were planned.
	NominatePods bool
	// GuideMoves has nodes marked while pods move, so that the scheduler puts the pods where they were planned.
	GuideMoves        bool
	IgnoreDRARequests bool
	FeatureGates      FeatureGates
	SchedulerConfig   SchedulerConfig
	// Expander says which group in mode cas grows; see package expand.
	Expander     string
	GRPCExpander GRPCExpander
	// BalanceSimilarNodeGroups hands nodes out among groups in mode cas that are alike, as Balance has it. BalancingIgnoreLabels
	// are besides those that are always ignored.
	BalanceSimilarNodeGroups bool
	BalancingIgnoreLabels    []string
	Balance                  snapshot.Balance
	// WriteStatusConfigMap has the status written as Cluster Autoscaler does.
	WriteStatusConfigMap bool
	// ProvisioningRequests says which of them are answered, and how.
	ProvisioningRequests ProvisioningRequests
	// AllowedSchedulers are those of which pods get new nodes; none means all.
	AllowedSchedulers []string
	// Totals are limits on all nodes.
	Totals Totals
	// GroupTaints are those that nodes of groups have for a while.
	GroupTaints clusterautoscaler.Taints
	// MaxNodeProvisionTime is how long an instance of a group may take to become a node, and MaxNodeStartupTime how long a node to
	// become Ready.
	MaxNodeProvisionTime time.Duration
	MaxNodeStartupTime   time.Duration
	// GroupDrain is how nodes of groups in mode cas are taken down.
	GroupDrain GroupDrain
	// ScaleDown is how nodes of groups in mode cas go.
	ScaleDown snapshot.ScaleDown
	// ForPlans are the texts of the settings on which plans depend, by flag, where they are not the defaults.
	ForPlans map[string]string
}

// ProvisioningRequests says which ProvisioningRequests are answered, and how.
type ProvisioningRequests struct {
	// Enabled has them answered; Instance is this program's name if several answer requests of one cluster.
	Enabled  bool
	Instance string
	// FirstBackoff and LongestBackoff are the pauses after which a request that got no room is looked at again.
	FirstBackoff, LongestBackoff time.Duration
	// MaxBatch is how many requests without room one decision looks at.
	MaxBatch int
}

// Mode says whether decisions are carried out.
type Mode string

// The modes.
const (
	// ModeActive carries decisions out.
	ModeActive Mode = "active"
	// ModeShadow decides beside another autoscaler, and writes only its own Lease.
	ModeShadow Mode = "shadow"
)

// Shadow reports whether nothing may be written.
func (s Settings) Shadow() bool { return s.Mode == ModeShadow }

// PreferencePolicy says what a pod's preferences (preferred affinity, ScheduleAnyway spreads,
// PreferNoSchedule taints) weigh when nodes are chosen.
type PreferencePolicy string

// The preference policies.
const (
	// PreferenceRespect treats a preference as a rule until the pod cannot be placed otherwise.
	PreferenceRespect PreferencePolicy = "Respect"
	// PreferenceIgnore does not look at preferences.
	PreferenceIgnore PreferencePolicy = "Ignore"
	// PreferenceWeigh gives a preference a price: honoured when nearly free, dropped otherwise.
	PreferenceWeigh PreferencePolicy = "Weigh"
)

// MinValuesPolicy says what happens when a pool's minValues cannot be met.
type MinValuesPolicy string

// The minValues policies.
const (
	// MinValuesStrict refuses a node that would not keep the asked number of values.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort keeps as many values as there are.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// SoftMemoryLimit is the heap size at which the garbage collector starts to work harder: nine
// tenths of the container's limit, so that collection begins before the kernel ends the process.
// It reports false when no limit was given.
func (s Settings) SoftMemoryLimit() (int64, bool) {
	if s.MemoryLimitBytes <= 0 {
		return 0, false
	}
	return s.MemoryLimitBytes / 10 * 9, true
}

// coresAtMost is the size of controller at which concurrency stops growing.
const coresAtMost = 60

// Workers scales a controller's concurrency with the processor that the container asked for:
// least at one core or below, most at sixty, a straight line between.
func (s Settings) Workers(least, most int) int {
	cores := (s.CPURequestsMilli + 999) / 1000
	cores = min(max(cores, 1), coresAtMost)
	return least + (most-least)*(cores-1)/(coresAtMost-1)
}

// defaultCPURequestsMilli stands in for a request that is absent or nonsense (zero or negative).
const defaultCPURequestsMilli = 1000

func (s *Settings) normalise() {
	if s.CPURequestsMilli <= 0 {
		s.CPURequestsMilli = defaultCPURequestsMilli
	}
	if s.Shadow() {
		s.normaliseShadow()
	}
}

// shadowLease is the Lease of shadow mode: the incumbent holds the usual one.
const shadowLease = "tenon-shadow"

// normaliseShadow changes what shadow mode cannot do: overlays are judged by a controller that writes.
func (s *Settings) normaliseShadow() {
	if s.LeaderElectionName == defaultLease {
		s.LeaderElectionName = shadowLease
	}
	s.FeatureGates.NodeOverlay = false
}
