package telemetry

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Every metric can be registered beside the others, with a provider's labels and without.
func TestMetricsRegister(t *testing.T) {
	t.Parallel()
	for name, labels := range map[string]Labels{
		"no provider": {},
		"a provider":  {WellKnown: []string{"cloud.example/size", "zone.example/zone", "cloud.example/zone-id"}, Classes: []string{"cloud.example/class"}},
	} {
		if _, err := NewMetrics(prometheus.NewRegistry(), labels); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A second registration in one registry is an error, not a panic.
func TestMetricsRegisterOnce(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	if _, err := NewMetrics(registry, Labels{}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewMetrics(registry, Labels{}); err == nil {
		t.Error("nothing is wrong with two metrics of one name")
	}
}
