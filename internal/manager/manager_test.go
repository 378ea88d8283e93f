package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"tenon/internal/settings"
	"tenon/internal/version"
)

var build = version.Info{Version: "1.2.3", Commit: "0123456789", GoVersion: "go1.26"}

// The libraries log to one logger for the whole process, which would fill the output of a failure.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
}

// configured reads settings with ports that the system chooses.
func configured(t *testing.T, args ...string) settings.Settings {
	t.Helper()
	s, _, err := settings.Parse(append([]string{"--metrics-port=0", "--health-probe-port=0"}, args...), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// started runs a process until the test ends, and fails the test if it ends badly.
func started(t *testing.T, o Options) (p *Process, stop func()) {
	t.Helper()
	p, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Start() = %v", err)
		}
	}
	t.Cleanup(stop)
	return p, stop
}

// get waits for the server, which takes its port before it serves, and returns its answer.
func get(t *testing.T, address, path string) (status int, body string) {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestAProcessServesProbesAndMetrics(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "NodePool", "NodeClaim")
	p, _ := started(t, Options{Settings: configured(t, "--disable-leader-election"), Connection: cluster.connection(), Build: build, Log: logr.Discard()})
	for path, want := range map[string]string{
		"/healthz":        "ok",
		"/healthz/":       "ok",
		"/readyz":         "ok",
		"/readyz/manager": "ok",
		"/readyz/crd":     "ok",
		"/readyz/readyz":  "ok",
		"/readyz?verbose": "[+]crd ok\n[+]manager ok\n[+]readyz ok\nhealthz check passed\n",
	} {
		if status, body := get(t, p.ProbeAddress, path); status != http.StatusOK || body != want {
			t.Errorf("GET %s = %d %q, want 200 %q", path, status, body, want)
		}
	}
	status, body := get(t, p.MetricsAddress, "/metrics")
	if status != http.StatusOK {
		t.Errorf("GET /metrics = %d", status)
	}
	for _, part := range []string{`karpenter_build_info{commit="0123456",goarch=`, `version="1.2.3"} 1`, "go_goroutines ", "process_start_time_seconds", "rest_client_requests_total"} {
		if !strings.Contains(body, part) {
			t.Errorf("/metrics lacks %s", part)
		}
	}
	for _, address := range []string{p.MetricsAddress, p.ProbeAddress} {
		if host, _, _ := net.SplitHostPort(address); host != "127.0.0.1" {
			t.Errorf("outside a cluster it listens on %s", address)
		}
	}
	if !cluster.heard("karpenter/1.2.3") {
		t.Error("no request came from karpenter/1.2.3")
	}
}

func TestProfilesAreServedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		s := configured(t, "--disable-leader-election", fmt.Sprintf("--enable-profiling=%t", asked))
		p, _ := started(t, Options{Settings: s, Connection: newCluster(t, "NodePool", "NodeClaim").connection(), Build: build, Log: logr.Discard()})
		want := http.StatusNotFound
		if asked {
			want = http.StatusOK
		}
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/symbol", "/debug/pprof/heap", "/debug/pprof/allocs", "/debug/pprof/goroutine", "/debug/pprof/block", "/debug/pprof/threadcreate"} {
			if status, _ := get(t, p.MetricsAddress, path); status != want {
				t.Errorf("profiling %t: GET %s = %d, want %d", asked, path, status, want)
			}
		}
		if status, _ := get(t, p.ProbeAddress, "/debug/pprof/"); status != http.StatusNotFound {
			t.Errorf("the probe port serves profiles: %d", status)
		}
	}
}

func TestAClusterWithoutTheKindsIsAliveNotReadyAndToldWhy(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 1000)
	log := funcr.NewJSON(func(line string) { lines <- line }, funcr.Options{})
	cluster := newCluster(t, "NodePool")
	p, _ := started(t, Options{Settings: configured(t, "--disable-leader-election"), Connection: cluster.connection(), Build: build, Log: log})
	if status, _ := get(t, p.ProbeAddress, "/healthz"); status != http.StatusOK {
		t.Errorf("GET /healthz = %d", status)
	}
	if status, body := get(t, p.ProbeAddress, "/readyz"); status != http.StatusInternalServerError || !strings.Contains(body, "[-]crd failed") {
		t.Errorf("GET /readyz = %d %q", status, body)
	}
	for line := range lines {
		if strings.Contains(line, "does not serve") {
			if !strings.Contains(line, "NodeClaim karpenter.sh/v1") || strings.Contains(line, "NodePool") || !strings.Contains(line, "kubectl apply") {
				t.Errorf("the log says %s", line)
			}
			break
		}
	}
	cluster.install("NodeClaim")
	if status, body := get(t, p.ProbeAddress, "/readyz"); status != http.StatusOK {
		t.Errorf("once the kind is there, GET /readyz = %d %q", status, body)
	}
}

func TestTheLeaderHoldsTheLeaseAndGivesItBack(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "NodePool", "NodeClaim")
	s := configured(t, "--leader-election-namespace=tenon-system")
	leader, stop := started(t, Options{Settings: s, Connection: cluster.connection(), Build: build, Log: logr.Discard()})
	const lease = "tenon-system/karpenter-leader-election"
	<-leader.manager.Elected()
	// The first renewal follows at once, the next after seconds: between the two nothing is under
	// way that could meet the last write.
	<-cluster.writes
	<-cluster.writes
	if holder, ok := cluster.holder(lease); !ok || holder == "" {
		t.Errorf("holder of %s = %q, %t", lease, holder, ok)
	}
	stop()
	if holder, ok := cluster.holder(lease); !ok || holder != "" {
		t.Errorf("after the stop the holder of %s = %q, %t", lease, holder, ok)
	}
}

func TestAStandbyIsReady(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "NodePool", "NodeClaim")
	s := configured(t, "--leader-election-namespace=tenon-system")
	leader, _ := started(t, Options{Settings: s, Connection: cluster.connection(), Build: build, Log: logr.Discard()})
	<-leader.manager.Elected()
	standby, _ := started(t, Options{Settings: s, Connection: cluster.connection(), Build: build, Log: logr.Discard()})
	if status, body := get(t, standby.ProbeAddress, "/readyz"); status != http.StatusOK {
		t.Errorf("GET /readyz of a standby = %d %q", status, body)
	}
	select {
	case <-standby.manager.Elected():
		t.Error("two processes lead")
	default:
	}
}

func TestWhatAnOperatorGotWrongIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	gone := newCluster(t)
	gone.Close()
	notFound := newCluster(t).connection()
	notFound.Config.Host += "/elsewhere"

	cases := map[string]struct {
		args       []string
		connection Connection
		want       []string
	}{
		"a metrics port that is taken": {
			args:       []string{"--disable-leader-election", fmt.Sprintf("--metrics-port=%d", port)},
			connection: cluster.connection(),
			want:       []string{"listen for metrics", "address already in use", "--metrics-port"},
		},
		"a probe port that is taken": {
			args:       []string{"--disable-leader-election", fmt.Sprintf("--health-probe-port=%d", port)},
			connection: cluster.connection(),
			want:       []string{"listen for probes", "address already in use", "--health-probe-port"},
		},
		"an address of another machine": {
			args:       []string{"--disable-leader-election", "--listen-address=192.0.2.1"},
			connection: cluster.connection(),
			want:       []string{"192.0.2.1", "--listen-address"},
		},
		"no namespace for the Lease": {
			connection: cluster.connection(),
			want:       []string{"karpenter-leader-election", "--leader-election-namespace", "--disable-leader-election"},
		},
		"an API server that is gone": {
			args:       []string{"--disable-leader-election"},
			connection: gone.connection(),
			want:       []string{"reach the API server " + gone.URL, "is it running"},
		},
		"an address that is no API server": {
			args:       []string{"--disable-leader-election"},
			connection: notFound,
			want:       []string{"reach the API server"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := New(t.Context(), Options{Settings: configured(t, tc.args...), Connection: tc.connection, Build: build, Log: logr.Discard()})
			if err == nil {
				p.Close()
				t.Fatal("New accepts it")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestAProcessThatIsNotStartedGivesItsPortsBack(t *testing.T) {
	t.Parallel()
	p, err := New(t.Context(), Options{Settings: configured(t, "--disable-leader-election"), Connection: newCluster(t).connection(), Build: build, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	for _, listener := range []net.Listener{p.listeners.metrics, p.listeners.probes} {
		if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s is still taken: %v", listener.Addr(), err)
		}
	}
}
