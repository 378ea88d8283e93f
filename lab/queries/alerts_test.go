package queries

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"tenon/charts/monitoring"
)

// planted has series under which each alert fires, and others under which it does not, in the notation of
// promtool: successive values are a minute apart.
var planted = map[string]struct {
	ill, well []string
	// at is when the alert fires; value and labels are in the notification.
	at, value string
	labels    map[string]string
}{
	"TenonAbsent": {
		ill: []string{`up 1x60`}, well: []string{`karpenter_build_info{version="1"} 1x60`}, at: "11m",
	},
	"TenonWithoutLeader": {
		ill:  []string{`leader_election_master_status{name="a",instance="1"} 0x60`, `leader_election_master_status{name="a",instance="2"} 0x60`},
		well: []string{`leader_election_master_status{name="a",instance="1"} 0x60`, `leader_election_master_status{name="a",instance="2"} 1x60`}, at: "6m",
	},
	"TenonClusterStateIncomplete": {
		ill: []string{`karpenter_cluster_state_unsynced_time_seconds 0+60x60`}, well: []string{`karpenter_cluster_state_unsynced_time_seconds 120x60`},
		at: "20m", value: "20m 0s",
	},
	"TenonPodsUndecided": {
		ill:  []string{`karpenter_pods_provisioning_scheduling_undecided_time_seconds{name="a",namespace="b"} 0+60x60`},
		well: []string{`karpenter_pods_provisioning_scheduling_undecided_time_seconds{name="a",namespace="b"} 1x60`}, at: "20m", value: "20m 0s",
	},
	"TenonPodsWithoutPlace": {
		ill:  []string{`karpenter_scheduler_unschedulable_pods_count{controller="provisioner"} 3x60`},
		well: []string{`karpenter_scheduler_unschedulable_pods_count{controller="provisioner"} 0 3 3 0 3 3 0x60`}, at: "16m", value: "3",
	},
	"TenonNodesDoNotJoin": {
		ill:  []string{`operator_nodepool_status_condition_count{name="web",type="NodeRegistrationHealthy",status="False",reason="RegistrationFailed"} 1x60`},
		well: []string{`operator_nodepool_status_condition_count{name="web",type="NodeRegistrationHealthy",status="True"} 1x60`},
		at:   "11m", value: "1", labels: map[string]string{"name": "web"},
	},
	"TenonClassNotReady": {
		ill:  []string{`operator_ec2nodeclass_status_condition_count{name="web",type="Ready",status="False"} 1x60`},
		well: []string{`operator_ec2nodeclass_status_condition_count{name="web",type="Ready",status="True"} 1x60`},
		at:   "11m", value: "1", labels: map[string]string{"name": "web"},
	},
	"TenonPoolNearLimit": {
		ill: []string{`karpenter_nodepools_usage{nodepool="web",resource_type="cpu"} 95x60`, `karpenter_nodepools_limit{nodepool="web",resource_type="cpu"} 100x60`},
		// A pool with a limit of zero is closed, not near its limit; a pool without a limit has no series.
		well: []string{
			`karpenter_nodepools_usage{nodepool="web",resource_type="cpu"} 50x60`, `karpenter_nodepools_limit{nodepool="web",resource_type="cpu"} 100x60`,
			`karpenter_nodepools_usage{nodepool="closed",resource_type="cpu"} 0x60`, `karpenter_nodepools_limit{nodepool="closed",resource_type="cpu"} 0x60`,
			`karpenter_nodepools_usage{nodepool="free",resource_type="cpu"} 900x60`,
		},
		at: "16m", value: "95%", labels: map[string]string{"nodepool": "web", "resource_type": "cpu"},
	},
	"TenonCloudErrors": {
		ill: []string{`karpenter_cloudprovider_errors_total{method="Create",error=""} 0+2x60`, `karpenter_cloudprovider_duration_seconds_count{method="Create"} 0+10x60`},
		well: []string{
			`karpenter_cloudprovider_errors_total{method="Create",error="InsufficientCapacityError"} 0+9x60`, `karpenter_cloudprovider_duration_seconds_count{method="Create"} 0+10x60`,
		},
		at: "40m", value: "20%", labels: map[string]string{"method": "Create"},
	},
	"TenonInterruptionsLate": {
		ill: []string{
			`karpenter_interruption_message_queue_duration_seconds_bucket{le="60"} 0x60`, `karpenter_interruption_message_queue_duration_seconds_bucket{le="120"} 0+10x60`,
			`karpenter_interruption_message_queue_duration_seconds_bucket{le="+Inf"} 0+10x60`,
		},
		well: []string{
			`karpenter_interruption_message_queue_duration_seconds_bucket{le="1"} 0+10x60`, `karpenter_interruption_message_queue_duration_seconds_bucket{le="120"} 0+10x60`,
			`karpenter_interruption_message_queue_duration_seconds_bucket{le="+Inf"} 0+10x60`,
		},
		at: "40m", value: "1m 54s",
	},
	"TenonNodeStuck": {
		ill:  []string{`operator_nodeclaim_termination_current_time_seconds{name="a",karpenter_sh_nodepool="web"} 7260x60`},
		well: []string{`operator_nodeclaim_termination_current_time_seconds{name="a",karpenter_sh_nodepool="web"} 0+60x60`},
		at:   "16m", value: "2h 1m 0s", labels: map[string]string{"karpenter_sh_nodepool": "web"},
	},
}

var shownValue = regexp.MustCompile(`\{\{ \$value[^}]*\}\}`)

// Each alert fires after its time on its condition, with its texts filled in, and does not fire otherwise.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	promtool := program(t, "promtool")
	for _, a := range monitoring.Alerts() {
		p, there := planted[a.Name]
		if !there {
			t.Errorf("%s: it has no series in the test", a.Name)
			continue
		}
		told := func(text string) string {
			text = shownValue.ReplaceAllString(text, p.value)
			for label, value := range p.labels {
				text = strings.ReplaceAll(text, "{{ $labels."+label+" }}", value)
			}
			return text
		}
		labels := map[string]any{"severity": a.Severity}
		for label, value := range p.labels {
			labels[label] = value
		}
		fired := map[string]any{"exp_labels": labels, "exp_annotations": map[string]any{
			"summary": told(a.Summary), "description": told(a.Because), "remedy": strings.Join(a.Remedy, " "),
			"runbook_url": "https://docs.example/reference/dashboards-and-alerts.md#" + strings.ToLower(a.Name),
		}}
		folder := t.TempDir()
		file := map[string]any{
			"rule_files": []string{rules(t, folder)}, "evaluation_interval": "1m",
			"tests": []any{
				trial(a.Name, "is ill", p.ill, p.at, fired),
				trial(a.Name, "has just become ill", p.ill, "1m"),
				trial(a.Name, "is well", p.well, "45m"),
			},
		}
		text, err := yaml.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "test.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(promtool, "test", "rules", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", a.Name, err, out)
		}
	}
}

// trial checks which alerts of a name fire at a time, in a cluster with these series.
func trial(alert, name string, series []string, at string, fired ...any) any {
	var input []any
	for _, s := range series {
		what, values, _ := strings.Cut(s, " ")
		input = append(input, map[string]any{"series": what, "values": values})
	}
	return map[string]any{
		"name": name, "interval": "1m", "input_series": input,
		"alert_rule_test": []any{map[string]any{"eval_time": at, "alertname": alert, "exp_alerts": fired}},
	}
}
