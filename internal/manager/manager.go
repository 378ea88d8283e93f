// Package manager is the controller process: it connects to the cluster, serves metrics and probes, elects
// a leader and runs the controllers that internal/assembly lists. It only runs the controllers; it must not
// read, decide or write anything itself.
package manager

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/dashboard"
	"tenon/internal/provider"
	"tenon/internal/settings"
	"tenon/internal/shadow"
	"tenon/internal/telemetry"
	"tenon/internal/trim"
	"tenon/internal/version"
	"tenon/internal/view"
)

// Options are the parameters of a process.
type Options struct {
	Settings   settings.Settings
	Connection Connection
	Build      version.Info
	Log        logr.Logger
	// Open makes the cloud. Without it the process serves its ports and nothing else.
	Open provider.Open
	// Offers are the prices that the dashboard shows for nodes that do not state theirs; nil means
	// none.
	Offers view.Prices
	// Currency is the currency of a region's prices; nil if it is not known.
	Currency func(region string) string
	// Console is the address of the cloud's own page about an instance; nil if there is none.
	Console func(region, instance string) string
	// Try answers what-if questions of the dashboard; nil answers none.
	Try dashboard.Try
	// Namespace is the namespace in which the process may keep its records, and publish its market.
	Namespace string
}

// Process is a controller process that is ready to start: its ports are taken and its controllers
// registered, but nothing is served and nothing acts.
type Process struct {
	// MetricsAddress and ProbeAddress are where it serves; they differ from the settings if those left
	// the port to the system.
	MetricsAddress string
	ProbeAddress   string
	// DashboardAddress is empty if the dashboard is not served.
	DashboardAddress string

	manager   ctrl.Manager
	listeners listeners
	log       logr.Logger
}

// New prepares a process. An operator's mistakes are reported here, with a remedy, and not minutes
// later in a log line. A process that is not started must be closed.
func New(ctx context.Context, o Options) (*Process, error) {
	if err := leaseHasNamespace(o.Settings, o.Connection); err != nil {
		return nil, err
	}
	cluster, err := o.Connection.Reach(ctx)
	if err != nil {
		return nil, err
	}
	o.Log.Info("connected to the cluster", "server", o.Connection.Config.Host, "kubernetesVersion", cluster)
	open, err := listen(o.Settings, o.Connection.InCluster)
	if err != nil {
		return nil, err
	}
	p := &Process{
		MetricsAddress: open.metrics.Addr().String(),
		ProbeAddress:   open.probes.Addr().String(),
		listeners:      open,
		log:            o.Log,
	}
	if open.dashboard != nil {
		p.DashboardAddress = open.dashboard.Addr().String()
	}
	if err := p.assemble(o); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// assemble builds the manager and adds servers and controllers to it.
func (p *Process) assemble(o Options) error {
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, karpenterv1.AddToScheme, karpenterv1alpha1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv1beta1.AddToScheme, tenonv1alpha1.AddToScheme, awsv1.AddToScheme,
	} {
		if err := add(kinds); err != nil {
			return fmt.Errorf("learn the kinds of objects: %w", err)
		}
	}
	registry := prometheus.NewRegistry()
	requests, err := telemetry.NewRequests(registry)
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	config := rest.CopyConfig(o.Connection.Config)
	compared := shadow.NewRecord()
	if o.Settings.Shadow() {
		// This is below every client of the process, so that no client can bypass it.
		shadow.ReadOnly(config)
		o.Log.Info("shadow mode: decisions are reported, and only the Lease is written", "lease", o.Settings.LeaderElectionName)
	}
	config.Wrap(requests.Wrap)
	m, err := ctrl.NewManager(config, managerOptions(o, kinds))
	if err != nil {
		return fmt.Errorf("prepare the controller manager: %w", err)
	}
	p.manager = m
	if err := registry.Register(telemetry.NewBuildInfo(o.Build)); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	record, err := openJournal(o.Settings, clock.RealClock{}, o.Log)
	if err != nil {
		return err
	}
	if record != nil {
		if err := resume(compared, record, o.Settings); err != nil {
			return err
		}
		if err := m.Add(record); err != nil {
			return fmt.Errorf("add the journal: %w", err)
		}
	}
	if err := p.serve(m, registry, o.Settings, record, compared); err != nil {
		return err
	}
	if p.listeners.dashboard != nil {
		served := &pages{listener: p.listeners.dashboard, token: p.listeners.token, settings: o.Settings, config: m.GetConfig(), prices: o.Offers, currency: o.Currency, console: o.Console, namespace: o.Namespace, try: o.Try, journal: record, clock: clock.RealClock{}, log: o.Log}
		if err := m.Add(served); err != nil {
			return fmt.Errorf("add the dashboard: %w", err)
		}
		o.Log.Info("serving the dashboard", "address", "http://"+p.DashboardAddress)
	}
	if err := m.Add(newTidy(clock.RealClock{})); err != nil {
		return fmt.Errorf("add what tidies up: %w", err)
	}
	return m.Add(starter{manager: m, journal: record, settings: o.Settings, metrics: registry, open: o.Open, namespace: o.Namespace, build: o.Build, compared: compared, clock: clock.RealClock{}, log: o.Log})
}

// Start runs the process until the context ends or it loses its Lease. It returns after every
// controller and server has stopped and the Lease is given back.
func (p *Process) Start(ctx context.Context) error {
	defer p.Close()
	p.log.Info("serving", "metrics", "http://"+p.MetricsAddress+"/metrics", "probes", "http://"+p.ProbeAddress+"/readyz")
	if err := p.manager.Start(ctx); err != nil {
		return fmt.Errorf("run the controllers: %w", err)
	}
	return nil
}

// Close releases the ports. It may be called again, and after Start.
func (p *Process) Close() { p.listeners.close() }

// leaseNamespace is the only namespace whose Leases are watched: it has the heartbeats of nodes.
// Other Leases change every few seconds and would fill the cache for nothing.
const leaseNamespace = "kube-node-lease"

func managerOptions(o Options, kinds *runtime.Scheme) ctrl.Options {
	return ctrl.Options{
		Scheme: kinds,
		Logger: o.Log,
		Cache: cache.Options{
			DefaultTransform: trim.NewKeeper(o.Settings.FeatureGates.CapacityBuffer).Trim,
			ByObject: map[client.Object]cache.ByObject{
				&coordinationv1.Lease{}: {Namespaces: map[string]cache.Config{leaseNamespace: {}}},
			},
		},
		LeaderElection:                !o.Settings.DisableLeaderElection,
		LeaderElectionID:              o.Settings.LeaderElectionName,
		LeaderElectionNamespace:       o.Settings.LeaderElectionNamespace,
		LeaderElectionConfig:          forLease(o),
		LeaderElectionReleaseOnCancel: true,
		// We serve these ourselves (serve.go): the ports are taken before anything else starts.
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             config.Controller{EnableWarmup: ptr.To(!o.Settings.DisableControllerWarmup)},
	}
}

// forLease is the connection for leader election, which in shadow mode writes only the Lease.
func forLease(o Options) *rest.Config {
	own := unhurried(o.Connection.Config)
	if o.Settings.Shadow() {
		shadow.LeaseOnly(own, o.Settings.LeaderElectionName)
	}
	return own
}

// unhurried is the connection with default rate limits. Leader election has its own client, so that
// controllers that use up their rate cannot make the process lose its Lease.
func unhurried(shared *rest.Config) *rest.Config {
	own := rest.CopyConfig(shared)
	own.QPS, own.Burst, own.RateLimiter = 0, 0, nil
	return own
}

func leaseHasNamespace(s settings.Settings, c Connection) error {
	if s.DisableLeaderElection || s.LeaderElectionNamespace != "" || c.InCluster {
		return nil
	}
	return fmt.Errorf("no namespace for the Lease %q: outside a cluster there is no pod to take it from; "+
		"set --leader-election-namespace, or --disable-leader-election if this is the only replica", s.LeaderElectionName)
}
