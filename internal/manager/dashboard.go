package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"tenon/internal/dashboard"
	"tenon/internal/journal"
	"tenon/internal/settings"
	"tenon/internal/view"
	"tenon/internal/view/watch"
)

// pages serves the dashboard. It watches the cluster only after the first request for the fleet: until then
// the dashboard only costs a port.
type pages struct {
	listener net.Listener
	token    string
	settings settings.Settings
	config   *rest.Config
	prices   view.Prices
	currency func(region string) string
	console  func(region, instance string) string
	// namespace is where the controller publishes its market.
	namespace string
	try       dashboard.Try
	journal   *journal.Journal
	clock     clock.PassiveClock
	log       logr.Logger

	begin   sync.Once
	watched *watch.Watch
	running sync.WaitGroup
}

// listenForPages takes the port of the dashboard; nil without one.
func listenForPages(s settings.Settings) (net.Listener, string, error) {
	if s.DashboardListen == "" {
		return nil, "", nil
	}
	token, err := dashboard.Token("--dashboard-listen", s.DashboardListen, "--dashboard-token-file", s.DashboardTokenFile)
	if err != nil {
		return nil, "", err
	}
	if _, _, err := beyond(s); err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", s.DashboardListen)
	if err != nil {
		return nil, "", fmt.Errorf("listen for the dashboard: %w; choose another address with --dashboard-listen", err)
	}
	return listener, token, nil
}

// beyond reads the links to other tools and the address of Prometheus.
func beyond(s settings.Settings) ([]dashboard.Link, dashboard.Prometheus, error) {
	links, err := dashboard.ParseLinks(strings.Fields(s.DashboardLinks))
	if err != nil {
		return nil, nil, fmt.Errorf("--dashboard-links: %w", err)
	}
	if s.DashboardPrometheus == "" {
		return links, nil, nil
	}
	prometheus, err := dashboard.PrometheusAt(s.DashboardPrometheus, &http.Client{})
	if err != nil {
		return nil, nil, fmt.Errorf("--dashboard-prometheus: %w", err)
	}
	return links, prometheus, nil
}

// NeedLeaderElection is false: a standby shows the cluster too, and its own journal.
func (*pages) NeedLeaderElection() bool { return false }

// Start serves until the context ends.
func (p *pages) Start(ctx context.Context) error {
	state := view.NewState(p.prices)
	state.PricedIn(p.currency)
	watched, err := watch.New(p.config, state, p.namespace)
	if err != nil {
		return err
	}
	p.watched = watched.Measured()
	if p.settings.FeatureGates.NodeOverlay {
		p.watched.Overlaid()
	}
	options := dashboard.Options{Title: p.config.Host, Problems: watched.Problems, Details: watched.State.Details, Market: watched.State.Market, Console: p.console, Token: p.token, Try: p.try, Clock: p.clock.Now}
	if options.Links, options.Prometheus, err = beyond(p.settings); err != nil {
		return err
	}
	if p.journal != nil {
		options.Journal = p.journal
	}
	var served *dashboard.Dashboard
	options.Fleet = func() *view.Fleet {
		p.begin.Do(func() { p.follow(ctx, func() { served.Remember(ctx) }) })
		return watched.State.Fleet()
	}
	served = dashboard.New(options)
	server := &http.Server{Handler: served.Handler(), ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // streams never end by themselves
	defer stop()
	defer p.running.Wait()
	if err := server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the dashboard: %w", err)
	}
	return nil
}

// firstReading is how long the first request waits for nodes and pods to have been read.
const firstReading = 15 * time.Second

// follow reads the cluster from now on, and takes samples of it.
func (p *pages) follow(ctx context.Context, remember func()) {
	p.log.Info("the dashboard follows the cluster")
	p.running.Go(func() { p.watched.Run(ctx) })
	p.running.Go(remember)
	reading, end := context.WithTimeout(ctx, firstReading)
	defer end()
	if err := p.watched.Wait(reading); err != nil {
		p.log.Error(err, "the dashboard shows what it could read so far")
	}
}
