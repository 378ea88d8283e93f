// Package charts holds the Helm charts of the product, and renders them as Helm does: tests render
// the same charts that users install.
package charts

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The definitions are links into api/crds, which a program cannot embed; it has package crds instead.
//
//go:embed tenon/Chart.yaml tenon/values.yaml tenon/values.schema.json tenon/templates/* tenon/dashboards/* tenon/alerts.yaml
var files embed.FS

// Release describes how a chart is installed.
type Release struct {
	Name, Namespace string
	// Values as a user writes them; charts adds the defaults.
	Values map[string]any
	// APIs that the cluster has besides those of Kubernetes.
	APIs []string
}

// Tenon renders the chart of the controller, without definitions, in the order in which Helm
// installs objects. Values that the schema refuses are an error.
func Tenon(r Release) ([]*unstructured.Unstructured, error) {
	c, err := embedded()
	if err != nil {
		return nil, err
	}
	return render(c, r)
}

func embedded() (*chart.Chart, error) {
	var buffered []*loader.BufferedFile
	err := fs.WalkDir(files, "tenon", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		buffered = append(buffered, &loader.BufferedFile{Name: strings.TrimPrefix(name, "tenon/"), Data: text})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	return loader.LoadFiles(buffered)
}

func render(c *chart.Chart, r Release) ([]*unstructured.Unstructured, error) {
	capabilities := *chartutil.DefaultCapabilities
	capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), r.APIs...)
	values, err := chartutil.ToRenderValues(c, r.Values, chartutil.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: 1, IsInstall: true}, &capabilities)
	if err != nil {
		return nil, fmt.Errorf("values of %s: %w", c.Name(), err)
	}
	texts, err := engine.Render(c, values)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", c.Name(), err)
	}
	for name := range texts {
		if strings.HasPrefix(path.Base(name), "_") {
			delete(texts, name)
		}
	}
	_, manifests, err := releaseutil.SortManifests(texts, capabilities.APIVersions, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("sort the objects of %s: %w", c.Name(), err)
	}
	var objects []*unstructured.Unstructured
	for _, m := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(m.Content), &object.Object); err != nil {
			return nil, fmt.Errorf("read %s: %w", m.Name, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
