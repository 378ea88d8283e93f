package cli

import (
	"strings"
	"testing"
)

// TestDashboardTeachesMistakes checks that an address beyond this machine needs a token, and that wrong flags have a remedy.
func TestDashboardTeachesMistakes(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--listen 0.0.0.0:0":                            "--token-file",
		"--listen :8082":                                "--token-file",
		"--listen example.org:80":                       "--token-file",
		"--listen 8082":                                 "no address with a port",
		"--token-file /no/such/file":                    "read the token",
		"--token-file /dev/null":                        "is empty",
		"--link Grafana":                                "is no link",
		"--link A=https://g.example/{team}":             "needs placeholders",
		"--prometheus localhost:9090":                   "is no address of a Prometheus server",
		"--listen 127.0.0.1:0 --kubeconfig /no/such/it": "--kubeconfig",
	} {
		got := run(t, nil, append([]string{"dashboard"}, strings.Fields(flags)...)...)
		if got.status != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, messages %q, want %q", flags, got.status, got.err, want)
		}
	}
}
