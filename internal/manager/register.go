package manager

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"tenon/internal/assembly"
	"tenon/internal/expander"
	"tenon/internal/journal"
	"tenon/internal/lookup"
	"tenon/internal/provider"
	"tenon/internal/reconcile"
	"tenon/internal/settings"
	"tenon/internal/shadow"
	"tenon/internal/telemetry"
	"tenon/internal/version"
)

// starter starts the controllers as soon as the cluster knows the kinds that they need. Until then
// the process is alive but not ready, and says why.
type starter struct {
	manager  ctrl.Manager
	journal  *journal.Journal
	settings settings.Settings
	metrics  prometheus.Registerer
	open     provider.Open
	// namespace is where records are kept, and the market is published; build is for the cloud.
	namespace string
	build     version.Info
	compared  *shadow.Record // of shadow mode
	clock     clock.WithTicker
	log       logr.Logger
}

// NeedLeaderElection is false: a standby keeps its picture of the cluster current, so that it can
// continue where the leader stopped. The controllers themselves wait for the Lease.
func (c starter) NeedLeaderElection() bool { return false }

// Start gathers the parts and adds the controllers.
func (c starter) Start(ctx context.Context) error {
	watch := kindWatch{mapper: c.manager.GetRESTMapper(), clock: c.clock, log: c.log}
	if err := watch.Start(ctx); err != nil || ctx.Err() != nil || c.open == nil {
		return err
	}
	if err := lookup.Add(ctx, c.manager.GetFieldIndexer()); err != nil {
		return err
	}
	backend, err := c.open(ctx, provider.Environment{
		Client: c.manager.GetClient(), Uncached: c.manager.GetAPIReader(), Clock: c.clock,
		Metrics: c.metrics, Settings: c.settings, Config: c.manager.GetConfig(), Namespace: c.namespace, Build: c.build, Log: c.log,
	})
	if err != nil {
		return fmt.Errorf("open the cloud: %w", err)
	}
	c.journal.PricedIn(backend.Provider.Describe().Currency)
	kit, err := c.kit(backend)
	if err != nil {
		return err
	}
	return c.addControllers(ctx, kit, backend)
}

// kit is what every controller gets.
func (c starter) kit(backend provider.Backend) (reconcile.Kit, error) {
	metrics, err := telemetry.NewMetrics(c.metrics, telemetry.LabelsOf(backend.Provider.Describe()))
	if err != nil {
		return reconcile.Kit{}, fmt.Errorf("register metrics: %w", err)
	}
	events, err := c.events()
	if err != nil {
		return reconcile.Kit{}, err
	}
	buys, groups := backend.Provider, backend.Groups
	if c.settings.Shadow() {
		buys, groups = shadow.Provider(buys), nil
	}
	return reconcile.Kit{
		Client:   c.manager.GetClient(),
		Server:   c.manager.GetAPIReader(),
		Cloud:    telemetry.Observe(buys, metrics, c.clock),
		Groups:   groups,
		Clock:    c.clock,
		Events:   events,
		Metrics:  metrics,
		Settings: c.settings,
	}, nil
}

// events is the recorder of events. It writes core/v1 Events, which users and their tools read.
func (c starter) events() (*telemetry.Publisher, error) {
	clients, err := typedcorev1.NewForConfigAndClient(c.manager.GetConfig(), c.manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client for events: %w", err)
	}
	var broadcasters [2]record.EventBroadcaster
	var recorders [2]record.EventRecorder
	for i := range broadcasters {
		broadcasters[i] = telemetry.NewBroadcaster(&typedcorev1.EventSinkImpl{Interface: clients.Events("")})
		recorders[i] = broadcasters[i].NewRecorder(c.manager.GetScheme(), corev1.EventSource{Component: telemetry.Component})
	}
	ends := manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		for _, b := range broadcasters {
			b.Shutdown()
		}
		return nil
	})
	out := telemetry.NewRecorder(recorders[0], recorders[1], c.clock)
	for _, part := range []manager.Runnable{out, ends} {
		if err := c.manager.Add(part); err != nil {
			return nil, fmt.Errorf("run the recorder of events: %w", err)
		}
	}
	return out, nil
}

// parallel is how many writes a controller makes at the same time: in a burst, the API server's limit on our requests is the
// bottleneck. API priority and fairness has about a hundred seats for controllers in kube-system.
const parallel = 60

// suffixLength is the length of the suffixes that the API server generates.
const suffixLength = 5

// unlimited is a client without a limit on the rate of requests.
func (c starter) unlimited() (client.Client, error) {
	config := rest.CopyConfig(c.manager.GetConfig())
	config.QPS, config.RateLimiter = -1, nil
	own, err := client.New(config, client.Options{Scheme: c.manager.GetScheme(), Mapper: c.manager.GetRESTMapper(), HTTPClient: c.manager.GetHTTPClient()})
	if err != nil {
		return nil, fmt.Errorf("make the client that writes nominations: %w", err)
	}
	return own, nil
}

func (c starter) addControllers(ctx context.Context, kit reconcile.Kit, backend provider.Backend) error {
	var err error
	parts := assembly.New(kit)
	parts.Parallel, parts.Journal, parts.Namespace = parallel, c.journal, c.namespace
	if parts.Nominations, err = c.unlimited(); err != nil {
		return err
	}
	if c.settings.AsksServer() && c.settings.FeatureGates.NodeGroups && !c.settings.Shadow() {
		if parts.Expander, err = c.expander(); err != nil {
			return err
		}
	}
	parts.Suffix = func() string { return rand.String(suffixLength) }
	kinds := append(pictured(c.settings), readable(ctx, kit.Uncached(reconcile.AfterStart), c.settings, c.log)...)
	synced, err := feed(ctx, c.manager.GetCache(), parts.World, kinds)
	if err != nil {
		return err
	}
	parts.Synced = synced
	controllers := c.controllers(parts, backend)
	for _, controller := range controllers {
		if err := reconcile.Add(c.manager, controller, c.settings.CPURequestsMilli); err != nil {
			return err
		}
	}
	c.log.Info("controllers are registered", "count", len(controllers), "provider", kit.Cloud.Describe().Name)
	return nil
}

// expander is the server of the expander grpc. Its connection ends with the process.
func (c starter) expander() (expander.Server, error) {
	server, err := expander.Dial(c.settings.GRPCExpander.URL, c.settings.GRPCExpander.Cert)
	if err != nil {
		return nil, err
	}
	return server, c.manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		return server.Close()
	}))
}

// controllers are all controllers of the process: in shadow mode only those that change nothing.
func (c starter) controllers(parts assembly.Parts, backend provider.Backend) []reconcile.Controller {
	list, own := assembly.Controllers, backend.Controllers
	if c.settings.Shadow() {
		list, own = func(p assembly.Parts) []reconcile.Controller { return assembly.Shadow(p, c.compared) }, backend.Readers
	}
	controllers := list(parts)
	if own != nil {
		controllers = append(controllers, own(parts.Kit)...)
	}
	return reconcile.Yielding(controllers, parts.World.Bursting)
}
