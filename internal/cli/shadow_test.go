package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The report shows both sides, and an answer that is none says what to look at.
func TestShadowReport(t *testing.T) {
	t.Parallel()
	answers := http.NewServeMux()
	answers.HandleFunc("/good/shadow", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"since":"2026-11-23T14:00:00Z","at":"2026-11-23T15:00:00Z","looks":1800,"pods":2,
			"incumbent":{"nodes":3,"priceMicros":300000,"waitedMillis":80000},"tenon":{"nodes":2,"priceMicros":200000,"boughtMilli":1500,"waitedMillis":3000},
			"latest":[{"at":"2026-11-23T14:30:00Z","text":"would buy m5.large"}]}`))
	})
	answers.HandleFunc("/new/shadow", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	recorded := filepath.Join(t.TempDir(), "journal.jsonl")
	lines := `{"seq":1,"start":{"at":"2026-11-23T14:00:00Z","kept":"memory"}}
{"seq":2,"comparison":{"at":"2026-11-23T14:59:00Z","looks":2,"pods":1,"incumbent":{"nodes":1},"tenon":{"nodes":1}}}
{"seq":3,"comparison":{"since":"2026-11-23T14:00:00Z","at":"2026-11-23T15:00:00Z","looks":9,"pods":4,"incumbent":{"nodes":3},"tenon":{"nodes":2}}}
`
	if err := os.WriteFile(recorded, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(empty, []byte(lines[:strings.Index(lines, "\n")+1]), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	for name, tc := range map[string]struct {
		args   string
		status int
		want   []string
	}{
		"text":           {"--url " + server.URL + "/good", 0, []string{"1h0m0s", "0.3000   0.2000", "40s     1.5s", "1.5", "14:30:00 would buy m5.large"}},
		"yaml":           {"--url " + server.URL + "/good -o yaml", 0, []string{"waitedMillis: 80000"}},
		"nothing yet":    {"--url " + server.URL + "/new", 0, []string{"Nothing was compared yet"}},
		"not in shadow":  {"--url " + server.URL + "/other", 1, []string{"404 Not Found; does a controller with --mode=shadow serve there?"}},
		"wrong format":   {"--url " + server.URL + "/good -o xml", 1, []string{"use text, json or yaml"}},
		"a journal":      {"--journal " + recorded, 0, []string{"9 looks", "4 pods waited"}},
		"no report":      {"--journal " + empty, 1, []string{"has no report: a controller with --mode=shadow records one"}},
		"no journal":     {"--journal /nowhere", 1, []string{"read journal"}},
		"both":           {"--url http://127.0.0.1:1 --journal " + recorded, 1, []string{"url", "journal"}},
		"not an address": {"--url ::", 1, []string{"set --url"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, nil, append([]string{"shadow", "report"}, strings.Fields(tc.args)...)...)
			if got.status != tc.status {
				t.Errorf("status %d, want %d", got.status, tc.status)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.out+got.err, want) {
					t.Errorf("does not say %q:\n%s%s", want, got.out, got.err)
				}
			}
		})
	}
}
