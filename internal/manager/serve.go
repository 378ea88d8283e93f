package manager

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"tenon/internal/journal"
	"tenon/internal/settings"
	"tenon/internal/shadow"
	"tenon/internal/telemetry"
)

// listeners are the ports of the process, taken before anything starts.
type listeners struct {
	metrics net.Listener
	probes  net.Listener
	// dashboard is nil if it is not served; token is what it asks for.
	dashboard net.Listener
	token     string
}

// listen takes the ports. Inside a cluster the kubelet and Prometheus connect from outside the pod,
// so every interface is served; elsewhere only this machine can connect, unless the settings say
// otherwise.
func listen(s settings.Settings, inCluster bool) (listeners, error) {
	address := s.ListenAddress
	if address == "" && !inCluster {
		address = "127.0.0.1"
	}
	metrics, err := take("metrics", "--metrics-port", address, s.MetricsPort)
	if err != nil {
		return listeners{}, err
	}
	probes, err := take("probes", "--health-probe-port", address, s.HealthProbePort)
	if err != nil {
		return listeners{}, errors.Join(err, metrics.Close())
	}
	pages, token, err := listenForPages(s)
	if err != nil {
		return listeners{}, errors.Join(err, metrics.Close(), probes.Close())
	}
	return listeners{metrics: metrics, probes: probes, dashboard: pages, token: token}, nil
}

func take(what, flag, address string, port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w; choose another port with %s, or another address with --listen-address", what, err, flag)
	}
	return listener, nil
}

// close releases the ports. A server that ran has closed its listener already; that is no error.
func (l listeners) close() {
	_ = l.metrics.Close()
	_ = l.probes.Close()
	if l.dashboard != nil {
		_ = l.dashboard.Close()
	}
}

const (
	// headerTimeout keeps slow clients from holding connections open.
	headerTimeout = 30 * time.Second
	// drainTimeout is how long requests may finish when the process stops.
	drainTimeout = 5 * time.Second
)

// serve adds both servers to the manager, which starts them first and stops them last.
func (p *Process) serve(m ctrl.Manager, registry prometheus.Gatherer, s settings.Settings, record *journal.Journal, compared *shadow.Record) error {
	served := telemetry.Bounded(prometheus.Gatherers{registry, metrics.Registry}, s.MetricsSeries)
	for _, s := range []struct {
		name     string
		listener net.Listener
		handler  http.Handler
	}{
		{"metrics", p.listeners.metrics, metricsHandler(served, s, record, compared)},
		{"probes", p.listeners.probes, probesHandler(m)},
	} {
		timeout := drainTimeout
		err := m.Add(&manager.Server{
			Name:            s.name,
			Listener:        s.listener,
			Server:          &http.Server{Handler: s.handler, ReadHeaderTimeout: headerTimeout},
			ShutdownTimeout: &timeout,
		})
		if err != nil {
			return fmt.Errorf("add the %s server: %w", s.name, err)
		}
	}
	return nil
}

// metricsHandler serves /metrics, the journal to this machine alone, in shadow mode the report, and profiles only
// if the settings ask for them: they show memory.
func metricsHandler(gatherer prometheus.Gatherer, s settings.Settings, record *journal.Journal, compared *shadow.Record) http.Handler {
	mux := http.NewServeMux()
	if record != nil {
		mux.Handle(journal.LinesPath, record.Handler())
		mux.Handle(journal.ContentsPath, record.Handler())
	}
	mux.Handle("/metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	if s.Shadow() {
		mux.HandleFunc("GET /shadow", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(compared.Report()) // the only possible error is that the caller has disconnected
		})
	}
	if s.EnableProfiling {
		mux.HandleFunc("/debug/pprof/", pprof.Index) // serves allocs, heap, block, goroutine, threadcreate too
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// probesHandler answers the kubelet. Alive means that the process answers at all; ready, that it
// could act now. A standby is ready too: it must not hold up a rollout.
func probesHandler(m ctrl.Manager) http.Handler {
	mux := http.NewServeMux()
	answer(mux, "/healthz", map[string]healthz.Checker{"healthz": healthz.Ping})
	answer(mux, "/readyz", map[string]healthz.Checker{
		"manager": cachesSynced(m.GetCache()),
		"crd":     kindsServed(m.GetRESTMapper()),
		"readyz":  healthz.Ping,
	})
	return mux
}

// answer serves the checks together at the path, and each at a path below it.
func answer(mux *http.ServeMux, path string, checks map[string]healthz.Checker) {
	handler := http.StripPrefix(path, &healthz.Handler{Checks: checks})
	mux.Handle(path, handler)
	mux.Handle(path+"/", handler)
}
