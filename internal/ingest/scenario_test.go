package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/ingest/manifest"
)

// The tests of this package write their objects as users do, in YAML.

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const offersJSON = `[
 {"name": "small", "architecture": "amd64", "operatingSystems": ["linux"], "labels": {"example.com/family": "s"},
  "capacity": {"cpu": "2", "memory": "4Gi", "pods": "16"}, "overhead": {"cpu": "100m"},
  "offerings": [
   {"zone": "zone-a", "capacityType": "spot", "price": 0.05}, {"zone": "zone-a", "capacityType": "on-demand", "price": 0.1},
   {"zone": "zone-b", "capacityType": "on-demand", "price": 0.11}]},
 {"name": "large", "architecture": "amd64", "operatingSystems": ["linux"], "labels": {"example.com/family": "l"},
  "capacity": {"cpu": "8", "memory": "16Gi", "pods": "64"}, "overhead": {"cpu": "100m"},
  "offerings": [{"zone": "zone-a", "capacityType": "on-demand", "price": 0.4}]}]`

// offers is a fresh catalogue.
func offers(t testing.TB) (*catalog.Catalog, requirement.Vocabulary) {
	t.Helper()
	found, words, err := ingest.ReadCatalog([]byte(offersJSON))
	if err != nil {
		t.Fatal(err)
	}
	return found, requirement.Core().With(words)
}

// fromFiles are the options of `tenon plan -f`.
func fromFiles(t testing.TB) ingest.Options {
	t.Helper()
	found, vocabulary := offers(t)
	return ingest.Options{
		Now: now, Vocabulary: vocabulary, Files: true, Overlays: true,
		Catalog: func(*karpenterv1.NodePool, metav1.Object) (*catalog.Catalog, error) { return found, nil },
	}
}

// fromCluster are the options of a controller.
func fromCluster(t testing.TB) ingest.Options {
	t.Helper()
	options := fromFiles(t)
	options.Files = false
	return options
}

func objects(t testing.TB, text string) *ingest.Objects {
	t.Helper()
	found, report, err := manifest.Read([]string{manifest.Stdin}, manifest.Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Warnings) > 0 {
		t.Fatalf("the test's objects: %q", report.Warnings)
	}
	return found
}

func build(t testing.TB, options ingest.Options, text string) *snapshot.Snapshot {
	t.Helper()
	return ingest.Build(objects(t, text), options)
}

// podWith is a pending pod with more lines in its spec.
func podWith(spec string) string { return podNamed("p", "", spec) }

func podNamed(name, metadata, spec string) string {
	return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n" + indented(2, metadata) +
		"spec:\n" + indented(2, spec) + status
}

const status = "status:\n  phase: Pending\n  conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]\n"

const container = "containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n"

// indented indents text, so that a test can write it without indentation.
func indented(n int, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", n) + line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
	return b.String()
}

// the is the only template of a snapshot with one pod.
func the(t testing.TB, s *snapshot.Snapshot) *snapshot.Template {
	t.Helper()
	if len(s.Pods) != 1 {
		t.Fatalf("%d pods, want one", len(s.Pods))
	}
	return &s.Templates[s.Pods[0].Template]
}

// sets describes alternatives.
func sets(list []requirement.Set) string {
	var out []string
	for _, s := range list {
		var one []string
		for r := range s.All() { // s.String leaves the hostname out
			one = append(one, r.String())
		}
		out = append(out, strings.Join(one, ", "))
	}
	return strings.Join(out, " | ")
}

// podList describes pods with the facts found about them.
func podList(s *snapshot.Snapshot) string {
	var out []string
	for i := range s.Pods {
		p := &s.Pods[i]
		text := p.Key()
		for flag, set := range map[string]bool{"+pending": p.Pending, "+movable": p.Movable, "+terminating": p.Terminating, "@" + p.Node: p.Node != ""} {
			if set {
				text += " " + flag
			}
		}
		words := strings.Fields(text)
		slices.Sort(words[1:])
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "; ")
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// text describes quantities.
func text(r model.Resources) string {
	var out []string
	for _, a := range r.Amounts() {
		out = append(out, fmt.Sprintf("%s=%d", a.Name, a.Value))
	}
	return strings.Join(out, " ")
}

func aPool(name, spec string) string {
	return "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec:\n" + indented(2, spec) +
		"  template:\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n      requirements: []\n"
}

func aDaemon(spec string) string {
	return "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, uid: u, namespace: kube-system}\nspec:\n  selector: {}\n  template:\n" +
		"    metadata: {labels: {app: agent}}\n    spec:\n" + indented(6, "containers: [{name: c, resources: {requests: {cpu: 50m}}}]\n"+spec)
}

func encoded(t testing.TB, s *snapshot.Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := snapshot.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonOf(t testing.TB, values ...any) string {
	t.Helper()
	out, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func deployment(name, spec string) string {
	return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", uid: u}\nspec:\n" + indented(2, spec) +
		"  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:\n" + indented(6, container)
}
