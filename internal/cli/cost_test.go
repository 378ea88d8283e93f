package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestCost checks what is printed of a cluster in each format.
func TestCost(t *testing.T) {
	t.Parallel()
	kubeconfig := lonely(t)
	printed := func(args ...string) string {
		t.Helper()
		got := run(t, nil, append([]string{"cost", "--kubeconfig", kubeconfig}, args...)...)
		if got.status != 0 || !strings.Contains(got.err, "note: may not list nodepools") {
			t.Fatalf("cost %v: status %d, messages %q", args, got.status, got.err)
		}
		return got.out
	}
	want := `CAPACITY TYPE  NODES  USD/HOUR  USD/MONTH  SHARE
on-demand      1      0.0960    70.08      100.0%
all                   0.0960    70.08      

pods 0.0000 (0%), daemons 0.0000 (0%), idle 0.0960 (100%)
`
	if out := printed("capacity-type"); out != want {
		t.Errorf("the table is\n%s\nwant\n%s", out, want)
	}
	if out := printed("type", "--discount", "on-demand/m5=25,spot=1"); !strings.Contains(out, "m5.large  1      0.0720    52.56") || !strings.Contains(out, "less than known prices: on-demand/m5 25 %, spot 1 %") {
		t.Errorf("with a discount:\n%s", out)
	}
	prices := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(prices, []byte("m5.large,,on-demand,0.05\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := printed("type", "--price-file", prices, "--fee", "EKS control plane=0.10"); !strings.Contains(out, "m5.large                1      0.0500    36.50      100.0%") || !strings.Contains(out, "fee: EKS control plane         0.1000    73.00") || !strings.Contains(out, "with fees                      0.1500    109.50") {
		t.Errorf("with own prices and a fee:\n%s", out)
	}
	var document costs
	if err := json.Unmarshal([]byte(printed("namespace", "-o", "json")), &document); err != nil || document.Price != 0.096 || document.Currency != "USD" || document.Idle != 0.096 || len(document.Lines) != 1 || document.Lines[0].Name != "(idle)" {
		t.Errorf("JSON: %+v, error %v", document, err)
	}
	document = costs{}
	if err := yaml.UnmarshalStrict([]byte(printed("type", "-o", "yaml")), &document); err != nil || len(document.Lines) != 1 || document.Lines[0].Name != "m5.large" || document.Lines[0].Share != 1 {
		t.Errorf("YAML: %+v, error %v", document, err)
	}
	if out := printed("owner", "-o", "opencost"); !strings.Contains(out, `"__idle__"`) || !strings.Contains(out, `"cluster": "small"`) {
		t.Errorf("OpenCost: %s", out)
	}
	if out := printed("-o", "prometheus"); !strings.Contains(out, `node_total_hourly_cost{instance="worker-1",node="worker-1",instance_type="m5.large",region="us-west-2"`) {
		t.Errorf("metrics: %s", out)
	}
}

// TestCostTeachesMistakes checks that wrong words are answered with those that would do.
func TestCostTeachesMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--discount 5": "such as on-demand=28", "--fee plane": "such as \"EKS control plane=0.10\"", "--price-file missing.csv": "--price-file: open missing.csv", "--discount spot=5 --at 2h": "leave them out with --at", "--savings-plan 5": "such as 1.5@28",
		"team": "pool, namespace, owner, capacity-type, zone, type", "pool zone": "as one of pool",
		"-o xml": "table, json, yaml, jsonpath=TEMPLATE, opencost or prometheus", "pool -o opencost": "tenon cost namespace or tenon cost owner",
	} {
		got := run(t, nil, append([]string{"cost"}, strings.Fields(args)...)...)
		if got.status != 1 || !strings.Contains(got.err, want) {
			t.Errorf("%s: status %d, messages %q", args, got.status, got.err)
		}
	}
}
