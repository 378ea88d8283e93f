package clusterautoscaler

import "strings"

// Effect says what Tenon does with a setting.
type Effect string

// Effects, the most serious first.
const (
	// Lost: Tenon has nothing that does this. The user has to decide.
	Lost Effect = "lost"
	// Changed: Tenon does nearly the same, or has the setting in another place.
	Changed Effect = "changed"
	// Kept: Tenon has the same setting, with the same meaning.
	Kept Effect = "kept"
	// Needless: Tenon does not need it.
	Needless Effect = "needless"
)

// fate is the effect of a flag, and a text about it.
type fate struct {
	effect Effect
	text   string
}

// Texts that several flags share.
const (
	byPrice      = "the cheapest way to place the pods decides, over pools and groups together"
	forPools     = "for pools: "
	total        = ", over all nodes, for pools and groups in every mode; each pool can have its own limits in spec.limits"
	noGroupSays  = "groups have no setting for it"
	pauses       = sameFlag + "; in mode native consolidateAfter applies to each node of a pool or group, and no delay applies to all nodes"
	sameFlag     = "a flag of this name, which applies to groups in mode cas"
	budgets      = sameFlag + "; in mode native spec.disruption.budgets of each pool and NodeGroup"
	inEveryMode  = "a flag of this name, which applies to groups in every mode"
	forAll       = "a flag of this name, for pools and groups in every mode"
	everyRequest = "a decision looks at several requests, without a limit of time"
	ownLease     = "Tenon has its own Lease, karpenter-leader-election; --leader-election-name sets another name"
	ownMetrics   = "Tenon serves /metrics and probes on its own ports: controller.metrics and healthProbe of the chart"
	everyPass    = "Tenon decides when something changes, and requests all nodes of a decision at once"
	ownProfile   = "--enable-profiling serves profiles, and 'tenon journal' and 'tenon replay' keep decisions"
)

// fates are the fates of flags by name. A name that ends in "*" stands for all names with this beginning.
var fates = map[string]fate{
	"nodes":                     {Kept, "settings.nodes"},
	"node-group-auto-discovery": {Kept, "settings.nodeGroupAutoDiscovery"},
	"cluster-name":              {Kept, "settings.clusterName"},
	"kube-client-qps":           {Changed, "KUBE_CLIENT_QPS is 200 unless it is set; it needs no setting"},
	"kube-client-burst":         {Changed, "KUBE_CLIENT_BURST is 300 unless it is set; it needs no setting"},
	"write-status-configmap":    {Changed, sameFlag},
	"status-config-map-name":    {Changed, "each group has a NodeGroup object that says the same: kubectl get nodegroups"},

	"expander":                         {Changed, sameFlag + ", and the same values; without it " + byPrice},
	"grpc-expander-*":                  {Changed, sameFlag},
	"balance-similar-node-groups":      {Changed, sameFlag},
	"balancing-*":                      {Changed, sameFlag},
	"memory-difference-ratio":          {Changed, sameFlag},
	"max-free-difference-ratio":        {Changed, sameFlag},
	"max-allocatable-difference-ratio": {Changed, sameFlag},

	"max-nodes-total":             {Kept, "settings.maxNodesTotal" + total},
	"cores-total":                 {Kept, "settings.coresTotal" + total},
	"memory-total":                {Kept, "settings.memoryTotal" + total},
	"gpu-total":                   {Kept, "settings.gpuTotal" + total},
	"enforce-node-group-min-size": {Lost, "AWS itself raises a group to its minimum"},
	"scale-up-from-zero":          {Needless, "a group of size 0 grows when its next node is known: condition TemplateKnown"},
	"max-node-provision-time":     {Changed, inEveryMode},
	"max-node-startup-time":       {Changed, inEveryMode},
	"*node-group-backoff*":        {Changed, "a group whose instances do not come does not grow for 5 minutes, then 10, up to 30; no setting changes this"},

	"scale-down-unneeded-time":                           {Changed, sameFlag + "; in mode native spec.disruption.consolidateAfter of the NodeGroup, or the tag scaledownunneededtime"},
	"scale-down-unready-time":                            {Changed, sameFlag},
	"scale-down-unready-enabled":                         {Changed, sameFlag},
	"scale-down-utilization-threshold":                   {Changed, sameFlag},
	"scale-down-gpu-utilization-threshold":               {Changed, sameFlag},
	"ignore-daemonsets-utilization":                      {Changed, sameFlag},
	"ignore-mirror-pods-utilization":                     {Changed, sameFlag},
	"scale-down-enabled":                                 {Changed, sameFlag + "; in mode native consolidateAfter: Never keeps the nodes"},
	"scale-down-delay-after-add":                         {Changed, pauses},
	"scale-down-delay-after-delete":                      {Changed, pauses},
	"scale-down-delay-after-failure":                     {Changed, pauses},
	"scale-down-delay-type-local":                        {Changed, sameFlag},
	"max-scale-down-parallelism":                         {Changed, budgets},
	"max-drain-parallelism":                              {Changed, budgets},
	"max-empty-bulk-delete":                              {Changed, budgets},
	"max-graceful-termination-sec":                       {Changed, sameFlag + "; for pools spec.template.spec.terminationGracePeriod, which ends pods when it is over. Pods that do not go hold the node; Cluster Autoscaler lets it stay then"},
	"skip-nodes-with-system-pods":                        {Changed, sameFlag},
	"skip-nodes-with-local-storage":                      {Changed, sameFlag},
	"skip-nodes-with-custom-controller-pods":             {Changed, sameFlag},
	"min-replica-count":                                  {Changed, sameFlag},
	"daemonset-eviction-for-empty-nodes":                 {Changed, sameFlag},
	"daemonset-eviction-for-occupied-nodes":              {Changed, sameFlag},
	"drain-priority-config":                              {Changed, sameFlag + "; elsewhere critical pods are evicted last"},
	"max-pod-eviction-time":                              {Changed, sameFlag + ": the scale-down counts as failed then, but evictions are tried until they succeed"},
	"blocking-system-pod-distruption-timeout":            {Changed, sameFlag},
	"cordon-node-before-terminating":                     {Changed, sameFlag},
	"node-delete-delay-after-taint":                      {Needless, "a node that goes is looked at again after its taint was seen"},
	"dynamic-node-delete-delay-after-taint-*":            {Needless, "a node that goes is looked at again after its taint was seen"},
	"node-deletion-delay-timeout":                        {Changed, sameFlag},
	"node-deletion-*":                                    {Needless, everyPass},
	"ok-total-unready-count":                             {Changed, "a group is unhealthy if more than three nodes, and more than 45 % of its nodes, are not Ready; " + noGroupSays},
	"max-total-unready-percentage":                       {Changed, "a group is unhealthy if more than three nodes, and more than 45 % of its nodes, are not Ready; " + noGroupSays},
	"force-delete-*":                                     {Needless, "it has no effect on AWS"},
	"aws-use-static-instance-list":                       {Changed, "Tenon reads instance types from EC2, and has a built-in list"},
	"expendable-pods-priority-cutoff":                    {Changed, sameFlag + "; pools have nodes for pods of every priority"},
	"new-pod-scale-up-delay":                             {Changed, "settings.batchIdleDuration and batchMaxDuration say how long pods are gathered"},
	"pending-pods-batching-timeout":                      {Changed, "settings.batchIdleDuration and batchMaxDuration say how long pods are gathered"},
	"bypassed-scheduler-names":                           {Lost, "Tenon considers the pods of every scheduler, once it has found no node for them"},
	"allowed-scheduler-names":                            {Kept, "settings.allowedSchedulerNames, for pools and groups in every mode"},
	"startup-taint*":                                     {Changed, inEveryMode + "; " + forPools + "spec.template.spec.startupTaints"},
	"status-taint":                                       {Changed, inEveryMode},
	"ignore-taint":                                       {Changed, inEveryMode + "; " + forPools + "spec.template.spec.startupTaints"},
	"enable-provisioning-requests":                       {Changed, "settings.enableProvisioningRequests, for pools and groups in every mode"},
	"provisioning-request-*":                             {Changed, forAll},
	"provisioning-request-max-backoff-cache-size":        {Needless, "pauses are kept for as long as they last"},
	"check-capacity-batch-processing":                    {Needless, everyRequest},
	"check-capacity-provisioning-request-batch-timebox":  {Needless, everyRequest},
	"check-capacity-provisioning-request-max-batch-size": {Changed, forAll},
	"check-capacity-processor-instance":                  {Changed, forAll},
	"capacity-buffer-controller-enabled":                 {Changed, "settings.featureGates.capacityBuffer"},
	"capacity-buffer-pod-injection-enabled":              {Changed, "settings.featureGates.capacityBuffer"},
	"capacity-buffer-pod-dry-run-enabled":                {Needless, "Tenon never creates the pods of a buffer"},
	"capacity-quotas-enabled":                            {Lost, "CapacityQuotas are not read; --max-nodes-total, --cores-total, --memory-total and --gpu-total limit all nodes, spec.limits those of a pool, and its maximum a group"},
	"scheduler-config-file":                              {Lost, "the default profile of the scheduler is assumed"},
	"enable-dynamic-resource-allocation":                 {Lost, "pods with resource claims get no nodes: settings.ignoreDRARequests"},
	"enable-csi-node-aware-scheduling":                   {Needless, "volume limits always count"},
	"emit-per-nodegroup-metrics":                         {Changed, "NodeGroup objects have the figures of each group"},
	"cloud-provider":                                     {Needless, "this build is for AWS"},
	"cloud-config":                                       {Lost, "Tenon reads no file with endpoints of AWS; the AWS SDK reads them from AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL_AUTO_SCALING and AWS_ENDPOINT_URL_EKS, which controller.env of the chart can set"},
	"namespace":                                          {Needless, "Tenon uses the namespace of its Helm release"},
	"regional":                                           {Needless, "it has no effect on AWS"},
	"kubernetes":                                         {Needless, "Tenon uses its ServiceAccount"},
	"kubeconfig":                                         {Needless, "Tenon uses its ServiceAccount"},
	"kube-api-content-type":                              {Needless, "Tenon chooses the content type itself"},
	"user-agent":                                         {Needless, "Tenon sets its own user agent"},
	"address":                                            {Changed, ownMetrics},
	"profiling":                                          {Changed, ownProfile},
	"debugging-snapshot-enabled":                         {Changed, ownProfile},
	"record-duplicated-events":                           {Needless, "Kubernetes counts repeated events"},
	"leader-elect*":                                      {Changed, ownLease},
	"scan-interval":                                      {Needless, everyPass},
	"frequent-loops-enabled":                             {Needless, everyPass},
	"parallel-scale-up":                                  {Needless, everyPass},
	"salvo-scale-up*":                                    {Needless, everyPass},
	"max-inactivity":                                     {Needless, "the probes of the chart check whether Tenon works"},
	"max-failing-time":                                   {Needless, "the probes of the chart check whether Tenon works"},
	"max-startup-time":                                   {Needless, "the probes of the chart check whether Tenon works"},
	"max-nodes-per-scaleup":                              {Needless, everyPass},
	"max-binpacking-time":                                {Needless, everyPass},
	"max-nodegroup-binpacking-duration":                  {Needless, everyPass},
	"estimator":                                          {Needless, everyPass},
	"feature-gates":                                      {Changed, "Tenon has its own feature gates: settings.featureGates"},
	"v":                                                  {Changed, "logLevel: debug logs more than info"},
	"vmodule":                                            {Needless, "logLevel says how much is logged"},
	"logging-format":                                     {Needless, "the log is JSON"},
	"log*":                                               {Needless, "the log goes to standard output"},
	"logtostderr":                                        {Needless, "the log goes to standard output"},
	"alsologtostderr":                                    {Needless, "the log goes to standard output"},
	"stderrthreshold":                                    {Needless, "the log goes to standard output"},
	"scale-down-non-empty-candidates-count":              {Needless, "all nodes are candidates"},
	"scale-down-candidates-pool-*":                       {Needless, "all nodes are candidates"},
	"scale-down-simulation-timeout":                      {Needless, "decisions take milliseconds"},
	"unremovable-node-recheck-timeout":                   {Needless, "all nodes are candidates"},
	"predicate-parallelism":                              {Needless, "decisions take milliseconds"},
	"cluster-snapshot-parallelism":                       {Needless, "decisions take milliseconds"},
	"fastpath-binpacking-enabled":                        {Needless, "decisions take milliseconds"},
	"max-bulk-soft-taint-*":                              {Needless, "the number of soft taints is not bounded"},
	"force-ds":                                           {Needless, "pods of DaemonSets on the next node always count"},
	"node-info-cache-expire-time":                        {Needless, "the properties of the next node are looked up every 20 minutes"},
	"enable-proactive-scaleup":                           {Changed, "replicas that a workload announces count before their pods exist"},
	"pod-injection-limit":                                {Needless, "replicas that a workload announces are counted without creating pods"},
	"scale-from-unschedulable":                           {Needless, "an unschedulable node counts as one that takes no pods"},
	"max-node-skip-eval-time-tracker-enabled":            {Needless, "all nodes are candidates"},
	"node-removal-latency-tracking-enabled":              {Needless, "metrics say how long a drain takes"},
	"enable-graceful-degradation":                        {Needless, "decisions take milliseconds"},
	"enable-inter-pod-affinity-hostname-*":               {Needless, "decisions take milliseconds"},
	"scheduler-verbosity":                                {Needless, "logLevel says how much is logged"},
	"scaleup-simulation-for-skipped-node-*":              {Needless, "'tenon explain' says why a group was not chosen"},
	"async-node-groups":                                  {Needless, "it has no effect on AWS"},
	"bulk-mig-instances-listing-enabled":                 {Needless, "it has no effect on AWS"},
	"gce-*":                                              {Needless, "it has no effect on AWS"},
	"cloud-provider-gce-*":                               {Needless, "it has no effect on AWS"},
	"clusterapi-cloud-config-authoritative":              {Needless, "it has no effect on AWS"},
	"one-output":                                         {Needless, "the log goes to standard output"},
	"add-dir-header":                                     {Needless, "the log goes to standard output"},
	"skip-headers":                                       {Needless, "the log goes to standard output"},
	"skip-log-headers":                                   {Needless, "the log goes to standard output"},
}

// fateOf returns the fate of a flag; false for an unknown flag.
func fateOf(name string) (fate, bool) {
	if f, known := fates[name]; known {
		return f, true
	}
	best := ""
	for pattern := range fates {
		if matches(pattern, name) && (len(pattern) > len(best) || len(pattern) == len(best) && pattern < best) {
			best = pattern
		}
	}
	return fates[best], best != ""
}

// matches is true if a pattern with "*" at its end, or at both ends, fits a name.
func matches(pattern, name string) bool {
	middle, begins := strings.CutSuffix(pattern, "*")
	if !begins {
		return false
	}
	if part, anywhere := strings.CutPrefix(middle, "*"); anywhere {
		return strings.Contains(name, part)
	}
	return strings.HasPrefix(name, middle)
}
