package monitoring

import "strings"

// Alert tells an operator what is wrong, and what to do then. Each alert needs work that does not
// get done by itself.
type Alert struct {
	Name string
	// Expr has an answer while something is wrong. For is how long that must last before the alert fires.
	Expr, For string
	Severity  Severity
	// Summary and Because are templates of Prometheus'.
	Summary, Because string
	// Remedy lists the steps to take, in their order, as Markdown.
	Remedy []string
}

// Severity says how soon the operator has to look at it.
type Severity string

// Critical means now: pods wait or machines are lost. Warning means today.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
)

// Anchor returns the heading of the page that explains the alert.
func (a Alert) Anchor() string { return strings.ToLower(a.Name) }

// Alerts returns all alerts, the most urgent first.
func Alerts() []Alert {
	return []Alert{
		{
			Name: "TenonAbsent", Expr: "absent(karpenter_build_info)", For: "10m", Severity: Critical,
			Summary: "Prometheus has no metrics of the controller",
			Because: "Prometheus has not had metrics of a controller for 10 minutes. If no replica runs, no node is bought, and none is drained before it is interrupted.",
			Remedy: []string{
				"`kubectl get deployment,pods -l app.kubernetes.io/name=tenon -A`: if pods do not run, `kubectl describe` and `kubectl logs --previous` say why.",
				"If they run, Prometheus does not reach them: look at the ServiceMonitor, its labels, and the NetworkPolicy.",
			},
		},
		{
			Name: "TenonWithoutLeader", Expr: "max(leader_election_master_status) == 0", For: "5m", Severity: Critical,
			Summary: "No replica of the controller leads",
			Because: "Replicas run, and none of them has held the Lease for 5 minutes.",
			Remedy: []string{
				"`kubectl get lease karpenter-leader-election -n kube-system -o yaml` says which process holds it: another autoscaler with the same Lease has to end before Tenon acts.",
				"If no process holds it, the log says why the Lease cannot be written: most often rights are missing, or the API server does not answer in time.",
			},
		},
		{
			Name: "TenonClusterStateIncomplete", Expr: "max(karpenter_cluster_state_unsynced_time_seconds) > 300", For: "5m", Severity: Critical,
			Summary: "Nothing is decided: the picture of the cluster is incomplete",
			Because: "For {{ $value | humanizeDuration }} nodes or claims have been missing from the picture that decisions are made from.",
			Remedy: []string{
				"`kubectl get nodeclaims`: Tenon waits for claims that have an instance and no node; delete such a claim if its machine is lost.",
				"The log names watches that fail: resource definitions that were removed, or rights that are missing, which `tenon preflight` finds.",
			},
		},
		{
			Name: "TenonPodsUndecided", Expr: "max(karpenter_pods_provisioning_scheduling_undecided_time_seconds) > 300", For: "5m", Severity: Critical,
			Summary: "Pending pods are not decided about",
			Because: "The oldest pending pod about which nothing is decided has waited {{ $value | humanizeDuration }}.",
			Remedy: []string{
				"`kubectl logs` of the leader: it shows an error that repeats, or a decision that does not end.",
				"The panel *Running decision* of the dashboard *Provisioning* says how long the present decision has taken. If it takes minutes, give the controller more processors, and keep its journal for a report.",
			},
		},
		{
			Name: "TenonPodsWithoutPlace", Expr: "sum(max by (controller) (karpenter_scheduler_unschedulable_pods_count)) > 0", For: "15m", Severity: Warning,
			Summary: "{{ $value }} pods have no place",
			Because: "For 15 minutes no pool could give them a node.",
			Remedy: []string{
				"`tenon explain pod NAME` says which rule left no offering, and the smallest change that would give the pod a place, with its price. The pod's event `FailedScheduling` has the short form.",
				"If the pool is at its limit, raise it; if the cloud has a shortage, allow more instance types or zones.",
			},
		},
		{
			Name: "TenonNodesDoNotJoin", Expr: `sum by (name) (operator_nodepool_status_condition_count{type="NodeRegistrationHealthy",status="False"}) > 0`, For: "10m", Severity: Critical,
			Summary: "Nodes of pool {{ $labels.name }} do not join the cluster",
			Because: "The last machines of the pool were bought and did not register. They cost money until Tenon ends them.",
			Remedy: []string{
				"`kubectl describe nodepool NAME` and the events of its claims say what the machines have reached.",
				"Look at the console output of such an instance: most often the image, the user data, the access entry of the node role, or the way to the API server is wrong. `tenon preflight` finds several of these.",
			},
		},
		{
			Name: "TenonClassNotReady", Expr: `sum by (name) (operator_ec2nodeclass_status_condition_count{type="Ready",status="False"}) > 0`, For: "10m", Severity: Critical,
			Summary: "Node class {{ $labels.name }} is not ready",
			Because: "Pools that refer to it buy nothing.",
			Remedy: []string{
				"`kubectl describe ec2nodeclass NAME`: its conditions say which subnets, security groups, images, instance profile or permission is missing.",
			},
		},
		{
			Name: "TenonPoolNearLimit", Expr: "max by (nodepool, resource_type) (karpenter_nodepools_usage) / (max by (nodepool, resource_type) (karpenter_nodepools_limit) > 0) > 0.9", For: "15m", Severity: Warning,
			Summary: "Pool {{ $labels.nodepool }} has {{ $value | humanizePercentage }} of its limit of {{ $labels.resource_type }}",
			Because: "At its limit the pool buys nothing more, and its pods wait.",
			Remedy: []string{
				"Raise `spec.limits` of the pool, if the expense is intended; otherwise find what grew: `tenon view` shows nodes and pods by pool.",
			},
		},
		{
			Name:     "TenonCloudErrors",
			Expr:     `sum by (method) (rate(karpenter_cloudprovider_errors_total{error!~"InsufficientCapacityError|NodeClaimNotFoundError|NodeClassNotReadyError"}[15m])) / sum by (method) (rate(karpenter_cloudprovider_duration_seconds_count[15m])) > 0.1`,
			For:      "15m",
			Severity: Warning,
			Summary:  "{{ $value | humanizePercentage }} of the provider's calls of {{ $labels.method }} fail",
			Because:  "Shortages and missing instances do not count: these are answers, not errors.",
			Remedy: []string{
				"`kubectl logs` of the leader has the cloud's message. It names a missing permission, and `tenon preflight` finds them all.",
				"If calls are throttled, the dashboard *Cloud provider* says which: ask for a higher quota, or find what else calls so often.",
			},
		},
		{
			Name: "TenonInterruptionsLate", Expr: "histogram_quantile(0.9, sum by (le) (rate(karpenter_interruption_message_queue_duration_seconds_bucket[15m]))) > 60", For: "10m", Severity: Warning,
			Summary: "Interruptions are handled {{ $value | humanizeDuration }} after they are announced",
			Because: "A spot instance is gone two minutes after its announcement: its pods may be killed before they have stopped.",
			Remedy: []string{
				"The dashboard *Cloud provider* says how many messages come, and how long calls of SQS take: throttled calls and a replica without processors are the usual causes.",
				"`tenon preflight` finds a queue or rules that are missing.",
			},
		},
		{
			Name: "TenonNodeStuck", Expr: "max by (karpenter_sh_nodepool) (operator_nodeclaim_termination_current_time_seconds) > 7200", For: "15m", Severity: Warning,
			Summary: "A node of pool {{ $labels.karpenter_sh_nodepool }} has been leaving for {{ $value | humanizeDuration }}",
			Because: "It costs money and cannot be used.",
			Remedy: []string{
				"`kubectl get nodeclaims` shows claims that are being deleted; `tenon explain node NAME` names the pod, the PodDisruptionBudget or the volume that holds the node.",
				"Let the pod go, or set `terminationGracePeriod` in the pool, which bounds how long a drain may take.",
			},
		},
	}
}
