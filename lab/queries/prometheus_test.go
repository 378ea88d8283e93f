package queries

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/charts/monitoring"
)

// program returns the path of one of Prometheus' programs; without it the test is skipped.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s: install Debian's package prometheus", name)
	}
	return path
}

// rules writes the alerts into a file, in the form of the chart.
func rules(t *testing.T, folder string) string {
	t.Helper()
	text, err := monitoring.Rules("https://docs.example/")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "alerts.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Prometheus' own checker accepts the alerts.
func TestRulesAreChecked(t *testing.T) {
	t.Parallel()
	promtool := program(t, "promtool")
	out, err := exec.Command(promtool, "check", "rules", rules(t, t.TempDir())).CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if want := fmt.Sprintf("SUCCESS: %d rules found", len(monitoring.Alerts())); !strings.Contains(string(out), want) {
		t.Errorf("it says\n%s, want %s", out, want)
	}
}

// A real Prometheus scrapes the metrics of the process, answers every query of every panel with a result,
// and evaluates every alert without an error.
func TestPrometheusAnswersEveryQuery(t *testing.T) {
	t.Parallel()
	prometheus := program(t, "prometheus")
	f := newFixture(t)
	var selected []selector
	for _, q := range slices.Concat(ofDashboards(), ofAlerts()) {
		selected = append(selected, selectors(t, q)...)
	}
	page := httptest.NewServer(f.serve(selected))
	t.Cleanup(page.Close)
	s := start(t, prometheus, page.Listener.Addr().String())
	s.await("count_over_time(karpenter_build_info[1m]) >= 5")
	for _, q := range ofDashboards() {
		if got := s.query(q.expr); len(got) == 0 {
			t.Errorf("%s: nothing answers\n%s", q.at, q.expr)
		}
	}
	var pools []string
	s.get("/api/v1/label/nodepool/values?match[]=karpenter_nodepools_usage", &pools)
	if !slices.Equal(pools, []string{"some"}) {
		t.Errorf("the variable of pools has %v", pools)
	}
	s.evaluates()
}

// server is a Prometheus on loopback.
type server struct {
	*testing.T
	address string
	log     string
}

func start(t *testing.T, prometheus, target string) *server {
	t.Helper()
	folder := t.TempDir()
	s := &server{T: t, address: freeAddress(t), log: filepath.Join(folder, "log")}
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%s]
scrape_configs: [{job_name: tenon, static_configs: [{targets: [%q]}]}]
`, rules(t, folder), target)
	path := filepath.Join(folder, "prometheus.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	c := exec.Command(prometheus, "--config.file="+path, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+s.address)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended by itself
		_ = c.Wait()         // and then says how
	})
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// await queries until there is an answer.
func (s *server) await(expr string) {
	s.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for {
		var got answer
		if err := s.ask("/api/v1/query?query="+url.QueryEscape(expr), &got); err == nil && len(got.Result) > 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			log, _ := os.ReadFile(s.log) // without it the message is shorter
			s.Fatalf("nothing answers %s; Prometheus says\n%s", expr, log)
		}
	}
}

type answer struct{ Result []json.RawMessage }

func (s *server) query(expr string) []json.RawMessage {
	s.Helper()
	var got answer
	s.get("/api/v1/query?query="+url.QueryEscape(expr), &got)
	return got.Result
}

func (s *server) get(path string, into any) {
	s.Helper()
	if err := s.ask(path, into); err != nil {
		s.Error(err)
	}
}

func (s *server) ask(path string, into any) error {
	response, err := http.Get("http://" + s.address + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var got struct {
		Status, Error string
		Warnings      []string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return fmt.Errorf("%s: %s: %w", path, response.Status, err)
	}
	if got.Status != "success" || len(got.Warnings) > 0 {
		return fmt.Errorf("%s: %s %s %v", path, got.Status, got.Error, got.Warnings)
	}
	return json.Unmarshal(got.Data, into)
}

// evaluates checks that every alert has been evaluated by now, without an error.
func (s *server) evaluates() {
	s.Helper()
	var got struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	s.get("/api/v1/rules", &got)
	well := 0
	for _, group := range got.Groups {
		for _, rule := range group.Rules {
			if rule.Health != "ok" {
				s.Errorf("%s is %s: %s", rule.Name, rule.Health, rule.LastError)
				continue
			}
			well++
		}
	}
	if well != len(monitoring.Alerts()) {
		s.Errorf("%d alerts are healthy, want %d", well, len(monitoring.Alerts()))
	}
}
