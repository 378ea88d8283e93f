package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/market/publication"
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
	docs, formats, times := mixture(r), []string{"json", "yaml", "table"}, 4
	if testing.Short() {
		formats, times = formats[2:], 1
	}
	for _, format := range formats {
		rules := "--rule-costs=" + strconv.FormatBool(format == "json")
		want := planFiles(t, docs, 1, "-o", format, "--explain", rules)
		if want.status != 2 || want.err != "" {
			t.Fatalf("status %d, messages %s", want.status, want.err)
		}
		for range times {
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
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
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

// TestARedactedSnapshotGivesTheSamePlan checks that prices are the same without the names, and that --redact needs a file.
func TestARedactedSnapshotGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	want := planFiles(t, mixture(rand.New(rand.NewPCG(3, 4))), 2, "-o", "json", "--save-snapshot", path, "--redact")
	got := run(t, nil, "plan", "--snapshot", path, "-o", "json", "--rule-costs=false")
	text, err := os.ReadFile(path)
	if err != nil || got.status != want.status || got.err != "" {
		t.Fatalf("status %d and %d, messages %q, error %v", want.status, got.status, got.err, err)
	}
	if _, a, _ := strings.Cut(untimed(want.out), `"cost"`); !strings.HasSuffix(untimed(got.out), a) || a == "" {
		t.Errorf("cost and effort with names\n%s\nredacted\n%s", a, got.out)
	}
	for _, name := range []string{"shop", "huge-0", `"s7"`, `"team"`, `"red"`, `"amd"`} {
		if strings.Contains(string(text), name) || !strings.Contains(want.out+strings.Join(mixture(rand.New(rand.NewPCG(3, 4))), ""), strings.Trim(name, `"`)) {
			t.Errorf("%s is left, or was not there", name)
		}
	}
	if got := run(t, nil, "plan", "-f", path, "--redact"); got.status != 1 || !strings.Contains(got.err, "--redact is for the file that --save-snapshot writes") {
		t.Errorf("status %d, messages %q", got.status, got.err)
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

// served is the kubeconfig of a cluster that has the objects in lists, by path.
func served(t *testing.T, lists map[string][]string) string {
	t.Helper()
	lists = maps.Clone(lists)
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
	return kubeconfig
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
	kubeconfig := served(t, lists)
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

// A plan for a cluster goes by the market that its controller publishes: prices, stock, and pools for which
// nothing is bought now. Without one it says that prices are estimates.
func TestThePublishedMarketCounts(t *testing.T) {
	t.Parallel()
	kind := func(name string, cpu int64, price model.Money, available bool) catalog.Type {
		is := func(key, value string) requirement.Requirement { return requirement.New(key, requirement.In, value) }
		return catalog.Type{
			Name: name, Capacity: model.Resources{CPU: cpu, Memory: 8 << 30, Pods: 20},
			Requirements: requirement.NewSet(is(requirement.KeyInstanceType, name), is(requirement.KeyArch, "amd64"), is("kubernetes.io/os", "linux"),
				is(requirement.KeyZone, "eu-north-1a"), is(requirement.KeyRegion, "eu-north-1"), is(requirement.KeyCapacityType, "spot")),
			Offerings: []catalog.Offering{{Zone: "eu-north-1a", CapacityType: "spot", Price: price, Available: available}},
		}
	}
	market := &publication.Publication{
		Closed: map[string]string{"broken": "pauses until noon, because the last 3 of its nodes never joined the cluster"},
		Catalogs: map[cloud.ClassRef]*catalog.Catalog{
			{Group: "example.com", Kind: "ExampleClass", Name: "c"}: {Types: []catalog.Type{kind("cheap.large", 4000, 10_000, false), kind("dear.large", 4000, 777_000, true)}},
		},
	}
	published := func() string {
		t.Helper()
		text, err := market.Encode(publication.Most)
		if err != nil {
			t.Fatal(err)
		}
		object, err := json.Marshal(publication.Object("kube-system", text, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)))
		if err != nil {
			t.Fatal(err)
		}
		return string(object)
	}
	pool := func(name string) string {
		return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "example.com", "kind": "ExampleClass", "name": "c"}}}},
			"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready"}]}}`, name)
	}
	waits := `{"metadata": {"name": "waits", "namespace": "shop", "uid": "u"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
		"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}`
	at := []string{"--now", "2026-01-01T12:00:30Z"}
	lists := map[string][]string{"/apis/karpenter.sh/v1/nodepools": {pool("broken"), pool("good")}, "/api/v1/pods": {waits}, "/api/v1/configmaps": {published()}}
	got := run(t, nil, append([]string{"plan", "--kubeconfig", served(t, lists)}, at...)...)
	for _, part := range []string{"dear.large", "0.7770 an hour", "in USD, as the controller published them at 2026-01-01T12:00:00Z"} {
		if got.status != 0 || !strings.Contains(got.out, part) {
			t.Errorf("the plan lacks %q: status %d\n%s%s", part, got.status, got.out, got.err)
		}
	}
	if !strings.Contains(got.err, "note: pool broken is left out: pauses until noon") || strings.Contains(got.err, "estimate") {
		t.Errorf("messages %q", got.err)
	}
	market.Settings = map[string]string{"node-price": "0.02"}
	lists["/api/v1/configmaps"] = []string{published()}
	for price, given := range map[string][]string{"0.7970 an hour": nil, "0.7770 an hour": {"--node-price", "0"}} {
		got := run(t, nil, slices.Concat([]string{"plan", "--kubeconfig", served(t, lists)}, at, given)...)
		if said := strings.Contains(got.err, "note: with the controller's settings: node-price=0.02"); said != (given == nil) || !strings.Contains(got.out, price) {
			t.Errorf("with a published setting and %v: said %v\n%s%s", given, said, got.out, got.err)
		}
	}
	delete(lists, "/api/v1/configmaps")
	if got := run(t, nil, append([]string{"plan", "--kubeconfig", served(t, lists)}, at...)...); !strings.Contains(got.err, "note: prices are estimates, and stock is not known") {
		t.Errorf("without a publication the messages are %q", got.err)
	}
}

// A plan for a cluster in which no pod waits says what the fleet costs, what it could cost at least, and
// what keeps each node.
func TestNothingWaits(t *testing.T) {
	t.Parallel()
	meta := `"metadata": {"name": %q, "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"karpenter.sh/nodepool": "good", "node.kubernetes.io/instance-type": "m5.4xlarge",
		"topology.kubernetes.io/zone": "us-west-2a", "karpenter.sh/capacity-type": "on-demand", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}}`
	lists := map[string][]string{
		"/apis/karpenter.sh/v1/nodepools": {`{"metadata": {"name": "good"}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c"}}}},
			"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready"}]}}`},
		"/apis/karpenter.sh/v1/nodeclaims": {`{` + fmt.Sprintf(meta, "good-1") + `, "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c"}}, "status": {"providerID": "aws:///a/i-1", "nodeName": "n1",
			"capacity": {"cpu": "16", "memory": "60Gi", "pods": "110"}, "allocatable": {"cpu": "15", "memory": "50Gi", "pods": "110"}, "conditions": [{"type": "Initialized", "status": "True", "reason": "I"}]}}`},
		"/api/v1/nodes": {`{` + fmt.Sprintf(meta, "n1") + `, "spec": {"providerID": "aws:///a/i-1"}, "status": {"capacity": {"cpu": "16", "memory": "60Gi", "pods": "110"}, "allocatable": {"cpu": "15", "memory": "50Gi", "pods": "110"},
			"conditions": [{"type": "Ready", "status": "True"}]}}`},
		"/api/v1/pods": {`{"metadata": {"name": "web", "namespace": "shop", "uid": "u", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r", "controller": true}]},
			"spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Running"}}`},
	}
	got := run(t, nil, "plan", "--kubeconfig", served(t, lists), "--now", "2026-01-02T00:00:00Z")
	for _, part := range []string{"Fleet    0.7680 an hour", "bought anew, no fleet for these pods costs less than 0.0", "Prices   in USD; estimates", "Nodes that stay", "n1"} {
		if got.status != 0 || !strings.Contains(got.out, part) {
			t.Errorf("the plan lacks %q: status %d\n%s%s", part, got.status, got.out, got.err)
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
