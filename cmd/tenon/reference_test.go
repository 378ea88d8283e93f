package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tenon/internal/reference"
	"tenon/internal/settings"
	"tenon/internal/telemetry"
)

var rewrite = flag.Bool("rewrite", false, "write the generated reference pages")

// The generated reference pages match this binary.
func TestReferencePagesAreCurrent(t *testing.T) {
	t.Parallel()
	cloud := thisCloud()
	metrics, err := telemetry.Reference(cloud.Classes, cloud.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := reference.Fields()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"metrics.md":  metrics,
		"settings.md": settings.Reference(settings.Options(cloud.Settings...)),
		"fields.md":   fields,
		"labels.md":   reference.LabelsPage(slices.Concat(reference.Keys(), cloud.Reference.Keys), reference.Labels(cloud.Labels).Aliases()),
		"events.md":   reference.EventsPage(slices.Concat(reference.Events(), cloud.Reference.Events)),
	} {
		path := filepath.Join("..", "..", "docs", "reference", name)
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
			t.Errorf("%s does not say what the binary does; run make generate", path)
		}
	}
}
