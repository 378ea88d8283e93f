package telemetry

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var rewrite = flag.Bool("rewrite", false, "write the generated reference page")

// What people read is what the program does.
func TestReferencePageIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "reference", "metrics.md")
	if *rewrite {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != want {
		t.Errorf("%s does not match the metrics; run make generate", path)
	}
}

// Every metric has a row.
func TestReferencePageNamesEveryMetric(t *testing.T) {
	t.Parallel()
	page, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMetrics(prometheus.NewRegistry(), Labels{Classes: []string{"karpenter.k8s.aws/ec2nodeclass"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Families() {
		if !strings.Contains(page, "| `"+f.Name+"` | "+f.Type) {
			t.Errorf("%s has no row", f.Name)
		}
	}
}
