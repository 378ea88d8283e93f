package ingest_test

import (
	"strings"
	"testing"

	"tenon/internal/ingest"
)

// Of several invalid labels of a selector, the reason names the first one by key.
func TestAnInvalidSelectorHasOneReason(t *testing.T) {
	t.Parallel()
	given := objects(t, podWith(container+`topologySpreadConstraints:
- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: "?", b: "?", c: "?", d: "?"}}}
`))
	for range 20 { // the order of a map is another one each time
		if text := ingest.Build(given, fromFiles(t)).Pods[0].Refused.Text(); !strings.Contains(text, "values[0][a]") {
			t.Fatal(text)
		}
	}
}
