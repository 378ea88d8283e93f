package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// TestTopTeachesMistakes checks that wrong words are answered with those that would do.
func TestTopTeachesMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"pods": "pools, nodes, pending", "-o xml": "use table, json, yaml or csv", "--discount 5": "such as on-demand=28", "nodes --sort size": "those are name, pool, type",
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
