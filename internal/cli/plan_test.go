package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  template:
    spec:
      nodeClassRef: {group: example.com, kind: ExampleClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [%s]}]
`

func podText(name string, milli, gibi int, extra string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop, labels: {app: %s}}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: %dm, memory: %dGi}}}]
%s`, name, strings.Split(name, "-")[0], milli, gibi, extra)
}

// mixture is pools and pods of every kind, a document each.
func mixture(r *rand.Rand) []string {
	docs := []string{fmt.Sprintf(testPool, "amd", "amd64"), fmt.Sprintf(testPool, "arm", "arm64")}
	extras := []string{
		"", "", "",
		"  nodeSelector: {kubernetes.io/arch: arm64}\n",
		"  nodeSelector: {team: red}\n",
		"  tolerations: [{operator: Exists}]\n",
		"  topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: s7}}}]\n",
		"  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: s8}}}]}}\n",
	}
	for i := range 60 {
		shape := r.IntN(len(extras))
		docs = append(docs, podText(fmt.Sprintf("s%d-%d", shape, i), 100*(1+r.IntN(30)), 1+r.IntN(8), extras[shape]))
	}
	return append(docs, podText("huge-0", 900_000, 1, ""))
}

// planFiles writes the documents into files, in this order, and plans.
func planFiles(t *testing.T, docs []string, files int, args ...string) outcome {
	t.Helper()
	dir := t.TempDir()
	parts := make([]string, files)
	for i, d := range docs {
		parts[i%files] += "---\n" + d
	}
	for i, text := range parts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d.yaml", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, nil, append([]string{"plan", "-f", dir, "--catalog", "testdata/catalog.json", "--now", "2026-07-20T12:00:00Z", "--rule-costs=false"}, args...)...)
}

// "The same input gives the same output, byte for byte, but for solve.duration."
func TestTheOrderOfTheInputDoesNotShow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	docs := mixture(r)
	for _, format := range []string{"json", "yaml", "table"} {
		rules := "--rule-costs=" + strconv.FormatBool(format == "json")
		want := planFiles(t, docs, 1, "-o", format, "--explain", rules)
		if want.status != 2 || want.err != "" {
			t.Fatalf("status %d, messages %s", want.status, want.err)
		}
		for range 4 {
			shuffled := append([]string(nil), docs...)
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			got := planFiles(t, shuffled, 1+r.IntN(9), "-o", format, "--explain", rules)
			if diff := cmp.Diff(untimed(want.out), untimed(got.out)); diff != "" {
				t.Fatalf("%s (-in order +shuffled):\n%s", format, diff)
			}
		}
	}
}

func untimed(text string) string { return timed.ReplaceAllString(text, "${1}TIME${2}") }

// Every pod that was given is in the document once.
func TestEveryPodIsAnswered(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		docs := mixture(rand.New(rand.NewPCG(seed, 0)))
		var document struct {
			Nodes []struct {
				Pods []string `json:"pods"`
			} `json:"nodes"`
			Unschedulable []struct {
				Pod     string `json:"pod"`
				Reasons []struct{ Message string }
			} `json:"unschedulable"`
		}
		got := planFiles(t, docs, 3, "-o", "json")
		if err := json.Unmarshal([]byte(got.out), &document); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		seen := map[string]int{}
		for _, n := range document.Nodes {
			for _, p := range n.Pods {
				seen[p]++
			}
		}
		for _, u := range document.Unschedulable {
			seen[u.Pod]++
			if len(u.Reasons) != 2 {
				t.Errorf("seed %d: %s has %d reasons, want one for each pool", seed, u.Pod, len(u.Reasons))
			}
		}
		for pod, n := range seen {
			if n != 1 {
				t.Errorf("seed %d: %s is told %d times", seed, pod, n)
			}
		}
		if len(seen) != 61 {
			t.Errorf("seed %d: %d pods of 61", seed, len(seen))
		}
	}
}

func TestASnapshotGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	docs := mixture(rand.New(rand.NewPCG(3, 4)))
	for _, name := range []string{"s.json", "s.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		want := planFiles(t, docs, 2, "-o", "json", "--save-snapshot", path)
		got := run(t, nil, "plan", "--snapshot", path, "-o", "json", "--rule-costs=false")
		if got.status != want.status || got.err != "" {
			t.Fatalf("%s: status %d, messages %q", name, got.status, got.err)
		}
		if diff := cmp.Diff(untimed(want.out), untimed(got.out)); diff != "" {
			t.Errorf("%s (-from files +from the snapshot):\n%s", name, diff)
		}
	}
	small, large := filepath.Join(t.TempDir(), "s.gz"), filepath.Join(t.TempDir(), "s")
	planFiles(t, docs, 2, "--save-snapshot", small)
	planFiles(t, docs, 2, "--save-snapshot", large)
	if a, b := sizeOf(t, small), sizeOf(t, large); a*4 > b {
		t.Errorf("compressed %d bytes, plain %d", a, b)
	}
	entries, err := os.ReadDir(filepath.Dir(small))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestASnapshotThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	got := planFiles(t, []string{fmt.Sprintf(testPool, "amd", "amd64")}, 1, "--save-snapshot", "/no/such/folder/s.json")
	if got.status != 1 || got.out != "" || !strings.Contains(got.err, "save snapshot: open /no/such/folder/s.json.tmp") {
		t.Errorf("status %d, output %q, messages %q", got.status, got.out, got.err)
	}
}

// Settings of a snapshot stay, but for those that are given.
func TestGivenSettingsReplaceThoseOfASnapshot(t *testing.T) {
	t.Parallel()
	preferring := podText("s-0", 500, 1, `  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: example.com/size, operator: In, values: ["16"]}]}}]}}
`)
	path := filepath.Join(t.TempDir(), "s.json")
	first := planFiles(t, []string{fmt.Sprintf(testPool, "amd", "amd64"), preferring}, 1, "--save-snapshot", path)
	if !strings.Contains(first.out, "m16-amd64") {
		t.Fatalf("the preference was not respected:\n%s", first.out)
	}
	if again := run(t, map[string]string{"PREFERENCE_POLICY": "Ignore"}, "plan", "--snapshot", path); !strings.Contains(again.out, "m16-amd64") {
		t.Errorf("the environment replaced a setting of the snapshot:\n%s", again.out)
	}
	if ignored := run(t, nil, "plan", "--snapshot", path, "--preference-policy", "Ignore"); strings.Contains(ignored.out, "m16-amd64") {
		t.Errorf("the setting given was not used:\n%s", ignored.out)
	}
}

// A cluster is read by the kubeconfig, and what it says of pools and pods counts: a pool that is not
// ready is left out, and only pods that the scheduler gave up on are pending.
func TestALiveClusterIsRead(t *testing.T) {
	t.Parallel()
	pool := func(name, status string) string {
		return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "example.com", "kind": "ExampleClass", "name": "c"}}}},
			"status": {"conditions": [{"type": "Ready", "status": %q, "reason": "R", "message": "class is not there"}]}}`, name, status)
	}
	pod := func(name, reason string) string {
		return fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "shop", "uid": %q}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
			"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": %q}]}}`, name, name, reason)
	}
	lists := map[string][]string{
		"/apis/karpenter.sh/v1/nodepools": {pool("good", "True"), pool("bad", "False")},
		"/api/v1/pods":                    {pod("waits", "Unschedulable"), pod("gated", "SchedulingGated")},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"metadata": {}, "items": [%s]}`, strings.Join(lists[r.URL.Path], ","))
	}))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for how, got := range map[string]outcome{
		"by flag":        run(t, nil, "plan", "--kubeconfig", kubeconfig, "--catalog", "testdata/catalog.json"),
		"by environment": run(t, map[string]string{"KUBECONFIG": kubeconfig}, "plan", "--catalog", "testdata/catalog.json"),
	} {
		if got.status != 0 || !strings.Contains(got.out, "good-1") || !strings.Contains(got.out, "1 placed") {
			t.Errorf("%s: status %d\n%s%s", how, got.status, got.out, got.err)
		}
		if !strings.Contains(got.err, "note: pool bad is left out: not ready: class is not there") {
			t.Errorf("%s: messages %q", how, got.err)
		}
	}
}

func TestNoClusterAndNoFiles(t *testing.T) {
	t.Parallel()
	got := run(t, map[string]string{"KUBECONFIG": "/no/such/file"}, "plan")
	if got.status != 1 || !strings.Contains(got.err, "/no/such/file") || !strings.Contains(got.err, "or plan from files with -f") {
		t.Errorf("status %d, messages %q", got.status, got.err)
	}
}
