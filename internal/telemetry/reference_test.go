package telemetry

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var classes = []string{"cloud.example/class"}

// Every metric has a row.
func TestReferencePageNamesEveryMetric(t *testing.T) {
	t.Parallel()
	page, err := Reference(classes, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMetrics(prometheus.NewRegistry(), Labels{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Families() {
		if !strings.Contains(page, "| `"+f.Name+"` | "+f.Type) {
			t.Errorf("%s has no row", f.Name)
		}
	}
}
