package charts

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// cluster returns the values that every user has to give.
func cluster(more map[string]any) map[string]any {
	values := map[string]any{"settings": map[string]any{"clusterName": "demo", "interruptionQueue": "demo"}}
	for key, value := range more {
		values[key] = value
	}
	return values
}

// releases are rendered into the golden files of testdata.
var releases = map[string]Release{
	"default": {Name: "tenon", Namespace: "kube-system", Values: cluster(nil)},
	// A release of Karpenter that switches to Tenon's chart keeps the names of its objects.
	"karpenter": {Name: "karpenter", Namespace: "karpenter", Values: cluster(nil)},
	"shadow":    {Name: "shadow", Namespace: "kube-system", Values: map[string]any{"settings": map[string]any{"clusterName": "demo", "mode": "shadow"}}},
	"full": {Name: "nodes", Namespace: "infra", APIs: []string{"monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule"}, Values: map[string]any{
		"additionalLabels": map[string]any{"team": "infra"}, "additionalAnnotations": map[string]any{"owner": "infra"},
		"serviceAccount": map[string]any{"annotations": map[string]any{"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/demo-karpenter"}},
		"serviceMonitor": map[string]any{"enabled": true, "sampleLimit": 1000, "additionalLabels": map[string]any{"release": "prometheus"}, "endpointConfig": map[string]any{"interval": "30s"}},
		"prometheusRule": map[string]any{"enabled": true, "additionalLabels": map[string]any{"release": "prometheus"}, "documents": "https://docs.example/tenon/"},
		"networkPolicy":  map[string]any{"enabled": true},
		"hostNetwork":    true, "dnsPolicy": "Default", "terminationGracePeriodSeconds": 60,
		"additionalClusterRoleRules": []any{map[string]any{"apiGroups": []any{"example.com"}, "resources": []any{"things"}, "verbs": []any{"list"}}},
		"imagePullSecrets":           []any{map[string]any{"name": "pull"}},
		"controller": map[string]any{
			"image":               map[string]any{"repository": "registry.example/tenon", "digest": "sha256:" + strings.Repeat("0", 64)},
			"resources":           map[string]any{"requests": map[string]any{"cpu": "1", "memory": "1Gi"}, "limits": map[string]any{"memory": "1Gi"}},
			"env":                 []any{map[string]any{"name": "NODE_PRICE", "value": "0.01"}},
			"sidecarContainer":    []any{map[string]any{"name": "proxy", "image": "registry.example/proxy:1"}},
			"sidecarVolumeMounts": []any{map[string]any{"name": "socket", "mountPath": "/socket"}},
		},
		"extraVolumes": []any{map[string]any{"name": "socket", "emptyDir": map[string]any{}}},
		"settings": map[string]any{
			"clusterName": "{{ .Release.Name }}-demo", "ignoreDRARequests": false, "enableProvisioningRequests": true, "dashboardListen": "127.0.0.1:8082", "vmMemoryOverheadPercent": 0, "logLevel": nil,
			"featureGates":          map[string]any{"nodeOverlay": true, "capacityBuffer": true, "nodeGroups": true},
			"allowedSchedulerNames": []any{"default-scheduler", "batch"},
			"maxNodesTotal":         100, "coresTotal": "8:400", "memoryTotal": "16:1600", "gpuTotal": []any{"nvidia.com/gpu:0:16"},
			"nodes": []any{"0:5:web", "1:3:db"}, "nodeGroupAutoDiscovery": []any{"asg:tag=k8s.io/cluster-autoscaler/enabled"},
		},
	}},
}

// The golden file of each release has what the release renders to.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, release := range releases {
		if name == "full" {
			delete(release.Values["settings"].(map[string]any), "logLevel")
		}
		objects, err := Tenon(release)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text strings.Builder
		for _, o := range objects {
			one, err := yaml.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString("---\n" + string(one))
		}
		path := filepath.Join("testdata", name+".yaml")
		if *rewrite {
			if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// Wrong values are refused with the name of the value.
func TestWrongValues(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values map[string]any
		want   string
	}{
		"no cluster":    {nil, "Chart cannot be installed without a valid settings.clusterName!"},
		"a misspelling": {cluster(map[string]any{"replica": 2}), "replica"},
		"a type":        {cluster(map[string]any{"replicas": "two"}), "replicas"},
		"a gate":        {map[string]any{"settings": map[string]any{"clusterName": "a", "featureGates": map[string]any{"nodeRepairs": true}}}, "nodeRepairs"},
		"a policy":      {map[string]any{"settings": map[string]any{"clusterName": "a", "preferencePolicy": "Sometimes"}}, "preferencePolicy"},
		"a link":        {cluster(map[string]any{"prometheusRule": map[string]any{"documents": "docs"}}), "documents"},
		"a duration":    {map[string]any{"settings": map[string]any{"clusterName": "a", "batchMaxDuration": "10"}}, "batchMaxDuration"},
	} {
		if _, err := Tenon(Release{Name: "tenon", Namespace: "kube-system", Values: tc.values}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one about %s", name, err, tc.want)
		}
	}
}

// Dashboards are installed on request, unchanged, and where Grafana's sidecar finds them.
func TestDashboards(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("tenon/dashboards/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	want := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want["tenon-"+filepath.Base(path)] = string(text)
	}
	objects, err := Tenon(Release{Name: "tenon", Namespace: "kube-system", Values: cluster(map[string]any{
		"dashboards": map[string]any{"enabled": true, "annotations": map[string]any{"grafana_folder": "Tenon"}}, "additionalAnnotations": map[string]any{"owner": "infra"},
	})})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range objects {
		if o.GetKind() != "ConfigMap" {
			continue
		}
		data, _, err := unstructured.NestedStringMap(o.Object, "data")
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(got, data)
		if o.GetLabels()["grafana_dashboard"] != "1" {
			t.Errorf("%s has labels %v", o.GetName(), o.GetLabels())
		}
		if diff := cmp.Diff(map[string]string{"grafana_folder": "Tenon", "owner": "infra"}, o.GetAnnotations()); diff != "" {
			t.Errorf("%s: annotations (-want +got):\n%s", o.GetName(), diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Helm's own linter finds no fault with the charts.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tenon", "tenon-crd"} {
		for _, m := range lint.All(name, cluster(nil), "kube-system", true).Messages {
			if m.Severity > support.InfoSev && name == "tenon" || m.Severity > support.WarningSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

// Both charts ship all definitions of api/crds, unchanged.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	paths, err := filepath.Glob("../api/crds/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want[filepath.Base(path)] = string(text)
	}
	tenon, err := loader.LoadDir("tenon")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range tenon.CRDObjects() {
		got[filepath.Base(d.Filename)] = string(d.File.Data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tenon (-want +got):\n%s", diff)
	}
	alone, err := loader.LoadDir("tenon-crd")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := render(alone, Release{Name: "tenon-crd", Namespace: "kube-system"})
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != len(want) || slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() != "CustomResourceDefinition" }) {
		t.Errorf("tenon-crd has %d objects, want %d definitions", len(objects), len(want))
	}
}
