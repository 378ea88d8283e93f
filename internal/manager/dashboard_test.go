package manager

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
)

// TestTheDashboardIsServedWhereSettingsSay checks that the controller serves fleet and journal at the address in its settings, and
// nowhere else.
func TestTheDashboardIsServedWhereSettingsSay(t *testing.T) {
	t.Parallel()
	options := func(args ...string) Options {
		return Options{Settings: configured(t, append(args, "--disable-leader-election")...), Connection: newCluster(t, "NodePool", "NodeClaim").connection(), Build: build, Log: logr.Discard()}
	}
	off, _ := started(t, options())
	if off.DashboardAddress != "" {
		t.Errorf("without its setting it is served at %s", off.DashboardAddress)
	}
	p, stop := started(t, options("--dashboard-listen=127.0.0.1:0"))
	for path, want := range map[string]string{
		"/":              "<title>Tenon</title>",
		"/api/decisions": `{"journal":true,"decisions":[]}`,
		"/api/fleet":     `"nodes":[{"name":"a"`,
	} {
		if status, body := get(t, p.DashboardAddress, path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("GET %s = %d %.300s, want %s", path, status, body, want)
		}
	}
	stop()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asks, _ := started(t, options("--dashboard-listen=127.0.0.1:0", "--dashboard-token-file="+token, "--dashboard-links=Logs=https://l.example/?q={pod} Nodes=https://g.example/{node}"))
	if status, _ := get(t, asks.DashboardAddress, "/api/fleet"); status != http.StatusUnauthorized {
		t.Errorf("without the token the status is %d", status)
	}
	for args, want := range map[string]string{
		"--dashboard-listen=0.0.0.0:0":                                       "--dashboard-token-file",
		"--dashboard-listen=8082":                                            "no address with a port",
		"--dashboard-listen=127.0.0.1:0 --dashboard-links=Grafana":           "--dashboard-links: \"Grafana\" is no link",
		"--dashboard-listen=127.0.0.1:0 --dashboard-prometheus=localhost:90": "--dashboard-prometheus: ",
	} {
		if p, err := New(t.Context(), options(strings.Fields(args)...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
			if p != nil {
				p.Close()
			}
		}
	}
}
