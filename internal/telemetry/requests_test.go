package telemetry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestCallOf: the target of a request is read from its path.
func TestCallOf(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]call{
		"GET /api/v1/pods?fieldSelector=x":                       {"LIST", "", "v1", "pods", ""},
		"GET /api/v1/pods?watch=true":                            {"WATCH", "", "v1", "pods", ""},
		"GET /api/v1/nodes/n":                                    {"GET", "", "v1", "nodes", ""},
		"PATCH /api/v1/nodes/n/status":                           {"PATCH", "", "v1", "nodes", "status"},
		"POST /api/v1/namespaces/a/pods/p/eviction":              {"POST", "", "v1", "pods", "eviction"},
		"GET /api/v1/namespaces/a":                               {"GET", "", "v1", "namespaces", ""},
		"PUT /api/v1/namespaces/a/status":                        {"PUT", "", "v1", "namespaces", "status"},
		"PATCH /apis/karpenter.sh/v1/nodeclaims/c/status":        {"PATCH", "karpenter.sh", "v1", "nodeclaims", "status"},
		"PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/l": {"PUT", "coordination.k8s.io", "v1", "leases", ""},
		"GET /version":                                           {"GET", "", "", "", ""},
	} {
		method, path, _ := strings.Cut(target, " ")
		if got := callOf(httptest.NewRequest(method, path, nil)); got != want {
			t.Errorf("%s: %+v, want %+v", target, got, want)
		}
	}
}

// TestRequests: answers and failures are counted under the names that dashboards read.
func TestRequests(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	requests, err := NewRequests(registry)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, answer := range []func(*http.Request) (*http.Response, error){
		func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil },
		func(*http.Request) (*http.Response, error) { return nil, broken },
	} {
		_, _ = requests.Wrap(transport(answer)).RoundTrip(httptest.NewRequest(http.MethodGet, "/api/v1/nodes/n", nil)) // counted either way
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range families {
		got[f.GetName()] = len(f.GetMetric())
	}
	if got["client_go_request_total"] != 2 || got["client_go_request_duration_seconds"] != 1 {
		t.Errorf("series are %v", got)
	}
}
