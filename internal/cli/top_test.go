package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/view"
)

// TestTop checks what is printed of a cluster in each format, with prices and what is pending.
func TestTop(t *testing.T) {
	t.Parallel()
	kubeconfig := lonely(t)
	top := func(args ...string) string {
		t.Helper()
		got := run(t, nil, append([]string{"top", "--kubeconfig", kubeconfig}, args...)...)
		if got.status != 0 || !strings.Contains(got.err, "note: may not list nodepools") {
			t.Fatalf("top %v: status %d, messages %q", args, got.status, got.err)
		}
		return got.out
	}
	if out := top("nodes", "--sort", "price"); !strings.HasPrefix(out, "NAME ") || !strings.Contains(out, "worker-1  -     m5.large  us-west-2a  on-demand  0     2    0%    8Gi     0%       0.0960       0.0960      Ready  -") {
		t.Errorf("nodes:\n%s", out)
	}
	if out := top("nodes", "--discount", "on-demand=25"); !strings.Contains(out, "0.0720       0.0720      Ready  -\n\nless than known prices: on-demand 25 %\n") {
		t.Errorf("nodes with a discount:\n%s", out)
	}
	if out := top("-o", "yaml"); !strings.HasPrefix(out, "- cpu: 2\n") || !strings.Contains(out, "\n  price: 0.096\n") {
		t.Errorf("pools as YAML:\n%s", out)
	}
	if out := top("pending"); !strings.Contains(out, "0/1 nodes are available") {
		t.Errorf("pending:\n%s", out)
	}
	var rows []struct {
		Nodes  int
		CPU    float64
		Memory int64
		Price  float64
	}
	if err := json.Unmarshal([]byte(top("-o", "json")), &rows); err != nil || len(rows) != 1 || rows[0].Nodes != 1 || rows[0].CPU != 2 || rows[0].Memory != 8<<30 || rows[0].Price != 0.096 {
		t.Errorf("pools as JSON: %+v, error %v", rows, err)
	}
	lines, err := csv.NewReader(strings.NewReader(top("nodes", "-o", "csv"))).ReadAll()
	if err != nil || len(lines) != 2 || lines[0][0] != "name" || lines[1][0] != "worker-1" {
		t.Errorf("nodes as CSV: %q, error %v", lines, err)
	}
}

// TestTopWritesAsKubectlDoes checks the outputs that kubectl has too.
func TestTopWritesAsKubectlDoes(t *testing.T) {
	t.Parallel()
	kubeconfig := lonely(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"names of nodes":          {[]string{"nodes", "-o", "name"}, "node/worker-1\n"},
		"names of pods":           {[]string{"pending", "-o", "name", "--sort", "cpu"}, "pod/web-1\n"},
		"no object is the pool":   {[]string{"pools", "-o", "name"}, ""},
		"a field of each":         {[]string{"nodes", "-o", "jsonpath={.items[*].name}"}, "worker-1"},
		"a range":                 {[]string{"nodes", "-o", `jsonpath={range .items[*]}{.name}{"\t"}{.price}{"\n"}{end}`}, "worker-1\t0.096\n"},
		"a filter":                {[]string{"nodes", "-o", `jsonpath={.items[?(@.zone=="us-west-2a")].type}`}, "m5.large"},
		"what is unknown":         {[]string{"nodes", "-o", `jsonpath=[{.items[0].pool}]`}, "[]"},
		"a field that is no such": {[]string{"nodes", "-o", `jsonpath={.items[0].size}`}, ""},
		"a column with a sign":    {[]string{"nodes", "-o", `jsonpath={.items[0]['cpu%']}`}, "0"},
	} {
		got := run(t, nil, append([]string{"top", "--kubeconfig", kubeconfig}, tc.args...)...)
		if got.status != 0 || got.out != tc.want {
			t.Errorf("%s: status %d, %q, want %q; messages %q", name, got.status, got.out, tc.want, got.err)
		}
	}
	for output, want := range map[string]string{"name": "node/worker-1\n", "jsonpath={.nodes[*].name} {.version}": "worker-1 1", "yaml": "cluster: "} {
		if got := run(t, nil, "view", "--kubeconfig", kubeconfig, "-o", output); got.status != 0 || !strings.HasPrefix(got.out, want) {
			t.Errorf("view -o %s: status %d\n%s%s", output, got.status, got.out, got.err)
		}
	}
	if got := run(t, nil, "cost", "zone", "--kubeconfig", kubeconfig, "-o", "jsonpath={.lines[*].name}"); got.status != 0 || !strings.Contains(got.out, "us-west-2a") {
		t.Errorf("cost: status %d\n%s%s", got.status, got.out, got.err)
	}
	for what, want := range map[string]string{"pools": "KIND", "nodes": "PRICE FROM", "pending": "CREATED"} {
		got := run(t, nil, "top", what, "--kubeconfig", kubeconfig, "-o", "wide")
		title, _, _ := strings.Cut(got.out, "\n")
		if got.status != 0 || !strings.HasPrefix(title, "NAME") || !strings.Contains(title, want) {
			t.Errorf("%s: status %d\n%s", what, got.status, got.out)
		}
		if got := run(t, nil, "top", what, "--kubeconfig", kubeconfig); strings.Contains(got.out, want) {
			t.Errorf("%s without -o wide:\n%s", what, got.out)
		}
	}
	if got := run(t, nil, "top", "nodes", "--kubeconfig", kubeconfig, "-o", "wide", "--sort", "price from"); got.status != 0 || !strings.Contains(got.out, "Ready  -           -      -         -     -        catalogue\n") {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestKindAndName checks which kinds may stand before a name.
func TestKindAndName(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"nodegroup.tenon.sh/workers": "nodepool nodegroup/workers",
		"nodegroup/workers":          "nodepool nodegroup/workers",
		"NodePools.karpenter.sh/a":   "nodepool a",
		"no/worker-1":                "node worker-1",
		"pod/shop/web":               "pod shop/web",
		"shop/web":                   "",
		"node/":                      "",
		"node":                       "",
	} {
		kind, name, found := kindAndName(arg)
		if got := kind + " " + name; found != (want != "") || found && got != want {
			t.Errorf("%s: %q, %v, want %q", arg, got, found, want)
		}
	}
}

// TestObjectNames checks what -o name calls pools and nodes.
func TestObjectNames(t *testing.T) {
	t.Parallel()
	for want, subject := range map[string]any{
		"nodepool.karpenter.sh/default": &view.Pool{Name: "default", Kind: "NodePool", Object: "default"},
		"nodegroup.tenon.sh/workers":    &view.Pool{Name: "eks-workers-1", Kind: "node group", Object: "workers"},
		"":                              &view.Pool{},
		"nodeclaim.karpenter.sh/d-1":    &view.Node{Name: "d-1", Claim: "d-1", Phase: view.Launching},
		"node/d-1":                      &view.Node{Name: "d-1", Claim: "d-1", Phase: view.Ready},
		"node/ip-10-0-1-5":              &view.Node{Name: "ip-10-0-1-5", Claim: "d-1", Phase: view.Draining},
		"pod/web-1":                     &view.Pod{Namespace: "shop", Name: "web-1"},
	} {
		if got := objectName(subject); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTopTeachesMistakes checks that wrong words are answered with those that would do.
func TestTopTeachesMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"pods": "pools, nodes, pending", "-o xml": "use table, wide, name, json, yaml, csv or jsonpath=TEMPLATE", "-o jsonpath=": "needs a template", "-o jsonpath={.items": "unclosed action", "--sort claim": "those are name, nodes", "--discount 5": "such as on-demand=28", "nodes --sort size": "those are name, pool, type",
	} {
		got := run(t, nil, append([]string{"top"}, strings.Fields(args)...)...)
		if got.status != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, messages %q", args, got.status, got.err)
		}
	}
}

// TestWhy checks that an object is found by its name alone, and that reasons alone are told.
func TestWhy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(testPool, "amd", "amd64")+"---\n"+podText("huge-0", 900_000, 1, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, nil, "why", "shop/huge-0", "-f", file, "--catalog", "testdata/catalog.json")
	if got.status != 0 || !strings.HasPrefix(got.out, "pod shop/huge-0: Unplaced\n") || strings.Contains(got.out, "  use:") || len(got.out) > 1024 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	if got := run(t, nil, "why", "web-404", "-f", file, "--catalog", "testdata/catalog.json"); got.status != 1 || !strings.Contains(got.err, "there is no node, claim, pod or pool web-404") {
		t.Errorf("status %d, messages %q", got.status, got.err)
	}
}

// TestWhyTakesKinds checks that an object may be written as KIND/NAME, and that only that kind is looked for then.
func TestWhyTakesKinds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	objects := strings.Join([]string{
		fmt.Sprintf(testPool, "amd", "amd64"),
		podText("huge-0", 900_000, 1, ""),
		strings.Replace(podText("huge-1", 900_000, 1, ""), "namespace: shop", "namespace: node", 1),
		"apiVersion: v1\nkind: Node\nmetadata: {name: ip-10-0-1-5}\nstatus: {allocatable: {cpu: '2', memory: 4Gi, pods: '20'}, capacity: {cpu: '2', memory: 4Gi, pods: '20'}}\n",
	}, "---\n")
	if err := os.WriteFile(file, []byte(objects), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]struct {
		status int
		text   string
	}{
		"pod/huge-0":                  {0, "pod shop/huge-0: Unplaced\n"},
		"pods/shop/huge-0":            {0, "pod shop/huge-0: Unplaced\n"},
		"po/huge-0":                   {0, "pod shop/huge-0: Unplaced\n"},
		"node/ip-10-0-1-5":            {0, "node ip-10-0-1-5: "},
		"nodepool/amd":                {0, "nodepool amd: "},
		"nodepools.karpenter.sh/amd":  {0, "nodepool amd: "},
		"node/huge-1":                 {0, "pod node/huge-1: Unplaced\n"},
		"node/huge-0":                 {1, "huge-0"},
		"nodeclaim/amd":               {1, "amd"},
		"nodeclaim.karpenter.sh/none": {1, "none"},
		"pod/amd":                     {1, "amd"},
	} {
		got := run(t, nil, "why", arg, "-f", file, "--catalog", "testdata/catalog.json")
		if got.status != want.status || !strings.Contains(got.out+got.err, want.text) {
			t.Errorf("%s: status %d\n%s%s", arg, got.status, got.out, got.err)
		}
	}
}
