package telemetry

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Requests counts the calls of the API server, under the names that dashboards for Karpenter read.
type Requests struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// NewRequests makes the metrics and registers them.
func NewRequests(registry prometheus.Registerer) (*Requests, error) {
	r := &Requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "client_go_request_total", Help: "Number of HTTP requests, partitioned by status code and method.",
		}, []string{"code", "method"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "client_go_request_duration_seconds", Help: "Request latency in seconds. Broken down by verb, group, version, kind, and subresource.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 10),
		}, []string{"verb", "group", "version", "kind", "subresource"}),
	}
	for _, c := range []prometheus.Collector{r.total, r.duration} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Wrap counts the requests of a transport. Watches have no fixed duration and are only counted.
func (r *Requests) Wrap(next http.RoundTripper) http.RoundTripper {
	return transport(func(request *http.Request) (*http.Response, error) {
		began := time.Now()
		response, err := next.RoundTrip(request)
		code := "<error>"
		if err == nil {
			code = strconv.Itoa(response.StatusCode)
		}
		r.total.WithLabelValues(code, request.Method).Inc()
		if c := callOf(request); c.verb != "WATCH" {
			r.duration.WithLabelValues(c.verb, c.group, c.version, c.kind, c.subresource).Observe(time.Since(began).Seconds())
		}
		return response, err
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// call is the target of a request, without the names of objects.
type call struct{ verb, group, version, kind, subresource string }

// callOf reads the path of a request: /api/v1/… and /apis/GROUP/VERSION/…, then namespaces/NAME for
// objects in one, then the resource, and for a single object its name and a subresource.
func callOf(request *http.Request) call {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	c := call{verb: request.Method}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		c.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		c.group, c.version, parts = parts[1], parts[2], parts[3:]
	default:
		return c // discovery, health
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	c.kind = parts[0]
	if len(parts) > 2 {
		c.subresource = parts[2]
	}
	switch {
	case request.Method == http.MethodGet && request.URL.Query().Get("watch") != "" && request.URL.Query().Get("watch") != "false":
		c.verb = "WATCH"
	case request.Method == http.MethodGet && len(parts) == 1:
		c.verb = "LIST"
	}
	return c
}
