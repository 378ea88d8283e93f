package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lonely is an API server with one node, one pod that waits, and no NodePools.
func lonely(t *testing.T) (kubeconfig string) {
	t.Helper()
	lists := map[string]string{
		"/api/v1/nodes": `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"worker-1","labels":{"node.kubernetes.io/instance-type":"m5.large","topology.kubernetes.io/zone":"us-west-2a","karpenter.sh/capacity-type":"on-demand"}},"status":{"allocatable":{"cpu":"2","memory":"8Gi","pods":"29"},"conditions":[{"type":"Ready","status":"True"}]}}]}`,
		"/api/v1/pods":  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":"shop","name":"web-1"},"spec":{"containers":[{"name":"a"}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","message":"0/1 nodes are available"}]}}]}`,
		"/api/v1":       `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","kind":"Node","verbs":["list"]},{"name":"pods","namespaced":true,"kind":"Pod","verbs":["list"]},{"name":"events","namespaced":true,"kind":"Event","verbs":["list"]}]}`,
		"/api":          `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":         `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		list, known := lists[r.URL.Path]
		switch {
		case r.URL.Query().Get("watch") != "": // nothing ever changes
			<-r.Context().Done()
		case known:
			_, _ = w.Write([]byte(list)) // a client that is gone needs no answer
		default:
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403})
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"small","contexts":[{"name":"small","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}],"users":[{"name":"u","user":{}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestViewOnceShowsAnyCluster checks that a picture of a cluster without Tenon is printed, with prices.
func TestViewOnceShowsAnyCluster(t *testing.T) {
	t.Parallel()
	got := run(t, map[string]string{"COLUMNS": "120"}, "view", "--once", "--kubeconfig", lonely(t))
	if got.status != 0 || got.err != "" {
		t.Fatalf("status %d, messages %q", got.status, got.err)
	}
	for _, part := range []string{"small  1 node, 1 ready  1 pod, 1 pending  0.096 USD/h 70/month", "worker-1", "m5.large", "on-demand"} {
		if !strings.Contains(got.out, part) {
			t.Errorf("the picture lacks %q:\n%s", part, got.out)
		}
	}
}

// TestViewOnceForPrograms checks each format for programs: labels asked for are columns, and prices can be off.
func TestViewOnceForPrograms(t *testing.T) {
	t.Parallel()
	kubeconfig := lonely(t)
	for flags, want := range map[string][]string{
		"-o csv --extra-labels topology.kubernetes.io/zone": {"name,pool,type,zone,", "worker-1,,m5.large,us-west-2a,on-demand,0,2,0,8589934592,0,0.096,", ",us-west-2a\n"},
		"-o prom": {"# TYPE tenon_view_node_price_per_hour gauge\ntenon_view_node_price_per_hour{node=\"worker-1\",pool=\"\",type=\"m5.large\",zone=\"us-west-2a\",capacity=\"on-demand\"} 0.096\n", "\ntenon_view_pending_pods 1\n"},
	} {
		got := run(t, nil, append([]string{"view", "--kubeconfig", kubeconfig}, strings.Fields(flags)...)...)
		for _, part := range want {
			if got.status != 0 || !strings.Contains(got.out, part) {
				t.Errorf("%s: status %d, the output lacks %q:\n%s%s", flags, got.status, part, got.out, got.err)
			}
		}
	}
	got := run(t, nil, "view", "-o", "json", "--disable-pricing", "--kubeconfig", kubeconfig)
	var fleet struct {
		Version               int
		Cluster               string
		Nodes, Pools, Pending []map[string]any
	}
	if err := json.Unmarshal([]byte(got.out), &fleet); err != nil {
		t.Fatalf("status %d: %v\n%s%s", got.status, err, got.out, got.err)
	}
	if fleet.Version != 1 || fleet.Cluster != "small" || len(fleet.Nodes) != 1 || len(fleet.Pending) != 1 || fleet.Nodes[0]["name"] != "worker-1" {
		t.Errorf("the fleet is %+v", fleet)
	}
	if price, there := fleet.Nodes[0]["price"]; there {
		t.Errorf("prices are off, and the node has one: %v", price)
	}
}

// TestViewReadsTheFileOfEksNodeViewer checks that flags beat the file, and the file what is usual.
func TestViewReadsTheFileOfEksNodeViewer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".eks-node-viewer"), []byte("# mine\nresources=memory\nextra-labels=topology.kubernetes.io/zone\ndisable-pricing=true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, map[string]string{"COLUMNS": "200", "HOME": home}, "view", "--once", "--classic", "--resources", "cpu", "--kubeconfig", lonely(t))
	if got.status != 0 || strings.Contains(got.out, "$") || !strings.Contains(got.out, "us-west-2a") || strings.Contains(got.out, "memory") {
		t.Errorf("status %d, output:\n%s%s", got.status, got.out, got.err)
	}
}

// TestViewTeachesMistakes checks that wrong flags are named with a remedy.
func TestViewTeachesMistakes(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--style green":               "three colours",
		"-o xml":                      "table, name, json, yaml, csv, prom or jsonpath=TEMPLATE",
		"--node-selector a==b==c":     "--node-selector",
		"--kubeconfig /no/such/file":  "--kubeconfig",
		"--style #zzzzzz,#000000,#00": "is not a colour",
	} {
		got := run(t, nil, append([]string{"view"}, strings.Fields(flags)...)...)
		if got.status != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, messages %q, want %q", flags, got.status, got.err, want)
		}
	}
}

// TestViewInATerminal drives the binary in tmux: it draws, answers keys, follows a resize and ends.
func TestViewInATerminal(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs a program that it builds, in which no race would be found")
	}
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed; .ci/run installs it")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "tenon")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "tenon/cmd/tenon").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	terminal := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), tmux, append([]string{"-S", filepath.Join(dir, "socket"), "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	shows := func(part string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			screen := terminal("capture-pane", "-p")
			if strings.Contains(screen, part) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the screen lacks %q:\n%s", part, screen)
			}
		}
	}
	recorded := filepath.Join(dir, "journal.jsonl")
	if err := os.WriteFile(recorded, []byte(`{"seq":1,"decision":{"at":"2026-11-01T00:00:00Z","by":"provisioner","woke":"a pod","tookMicros":1,"launches":[{"nodes":2,"nodePool":"default","instanceType":"m5.large","zone":"a","capacityType":"spot","pricePerHour":0.04,"pods":3}]}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	terminal("new-session", "-d", "-x", "80", "-y", "24", "env KUBECONFIG="+lonely(t)+" "+binary+" view --journal "+recorded+"; echo ended; cat")
	defer terminal("kill-server")
	shows("worker-1")
	terminal("send-keys", "Down", "Enter")
	shows("No pod runs here.")
	terminal("send-keys", "3")
	shows("0/1 nodes are available")
	terminal("resize-window", "-x", "120", "-y", "30")
	terminal("send-keys", "1")
	shows("DISRUPTION")
	terminal("send-keys", "5")
	shows("buy 2 × m5.large spot in a of pool default for 3 pods")
	terminal("send-keys", "q")
	shows("ended")
}
