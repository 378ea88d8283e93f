package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/cli"
	"tenon/internal/cli/explain"
)

// fault is something that a user got wrong, or that happened to a cluster.
type fault struct {
	// pool, pod and spec are added to the specs of a pool's template, of a pod and of the pool; others are
	// whole documents. Words in capitals stand for what manifests makes of them.
	pool, pod, spec, others string
	// ask is the object, the pod if it is empty.
	ask string
	// code is the cause, and want what the words of the answer say.
	code string
	want string
}

const faultyNode = `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: claim-1, creationTimestamp: "2026-11-01T00:00:00Z", labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: m4-amd64, topology.kubernetes.io/zone: zone-a, karpenter.sh/capacity-type: on-demand}}
spec: {nodeClassRef: {group: example.com, kind: ExampleClass, name: default}, requirements: []}
status:
  nodeName: node-1
  providerID: example://1
  conditions:
    - {type: Launched, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z", reason: Launched, message: ""}
    - {type: Registered, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z", reason: Registered, message: ""}
    - {type: Initialized, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z", reason: Initialized, message: ""}
    - {type: Consolidatable, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z", reason: Consolidatable, message: ""}
---
apiVersion: v1
kind: Node
metadata:
  name: node-1
  creationTimestamp: "2026-11-01T00:00:00Z"
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: m4-amd64, topology.kubernetes.io/zone: zone-a, karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: node-1, karpenter.sh/registered: "true", karpenter.sh/initialized: "true"}
  annotations: {NOTE}
spec: {providerID: "example://1"}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "30"}
  allocatable: {cpu: 3900m, memory: 15Gi, pods: "30"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: resident, namespace: default, labels: {app: resident}, annotations: {PODNOTE}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: resident, uid: r, controller: true}]}
spec:
  nodeName: node-1
  containers: [{name: main, image: i, resources: {requests: {cpu: "1", memory: 1Gi}}}]
status: {phase: Running}
`

const neverBudget = `
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: never, namespace: default}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: resident}}}
status: {disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1}
`

const volumeIn = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  csi: {driver: example.com, volumeHandle: d}
  claimRef: {namespace: default, name: data}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [ZONE]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, volumeName: disk, resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
`

const unboundClaim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
`

const zonalClass = `
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [zone-z]}]}]
`

const largeDaemon = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: i, resources: {requests: {cpu: "15", memory: 1Gi}}}]
`

// quotaFor is a Deployment with three replicas, and a quota that does not have room for all of them.
func quotaFor(hard string) string {
	return `
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: default}
spec: {hard: {` + hard + `}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 1Gi}}}]}
`
}

// faults are by name, as an operator would tell of them.
var faults = map[string]fault{
	"a taint that the pod does not tolerate":          {pool: `taints: [{key: team, value: a, effect: NoSchedule}]`, code: "TaintNotTolerated", want: "team"},
	"a toleration with another value":                 {pool: `taints: [{key: team, value: a, effect: NoSchedule}]`, pod: `tolerations: [{key: team, value: b, effect: NoSchedule}]`, code: "TaintNotTolerated", want: "team"},
	"a toleration of another effect":                  {pool: `taints: [{key: team, value: a, effect: NoSchedule}]`, pod: `tolerations: [{key: team, value: a, effect: NoExecute}]`, code: "TaintNotTolerated", want: "team"},
	"a taint that evicts":                             {pool: `taints: [{key: maintenance, effect: NoExecute}]`, code: "TaintNotTolerated", want: "maintenance"},
	"a label that no pool has":                        {pod: `nodeSelector: {team: blue}`, code: "LabelsIncompatible", want: "team"},
	"a label with another value":                      {pool: `LABELS {team: red}`, pod: `nodeSelector: {team: blue}`, code: "LabelsIncompatible", want: "team"},
	"a zone that there is not":                        {pod: `nodeSelector: {topology.kubernetes.io/zone: zone-z}`, code: "NoOffering", want: "no offering of the pool has topology.kubernetes.io/zone In [zone-z]: they have zone-a, zone-b;"},
	"a zone that the pool excludes":                   {pool: `REQUIRES {key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}`, pod: `nodeSelector: {topology.kubernetes.io/zone: zone-b}`, code: "LabelsIncompatible", want: "zone-b"},
	"an architecture that the pool excludes":          {pod: `nodeSelector: {kubernetes.io/arch: arm64}`, code: "LabelsIncompatible", want: "arm64"},
	"an operating system that there is not":           {pod: `nodeSelector: {kubernetes.io/os: windows}`, code: "TypeIncompatible", want: "no instance type of the pool has kubernetes.io/os In [windows]: they have linux"},
	"a capacity type that the pool excludes":          {pool: `REQUIRES {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}`, pod: `nodeSelector: {karpenter.sh/capacity-type: spot}`, code: "LabelsIncompatible", want: "spot"},
	"a capacity type that is not sold":                {pool: `REQUIRES {key: karpenter.sh/capacity-type, operator: In, values: [reserved]}`, code: "TypeIncompatible", want: "reserved"},
	"an instance type that there is not":              {pod: `nodeSelector: {node.kubernetes.io/instance-type: m99}`, code: "TypeIncompatible", want: "m99"},
	"an instance type that the pool excludes":         {pool: `REQUIRES {key: node.kubernetes.io/instance-type, operator: In, values: [m2-amd64]}`, pod: `nodeSelector: {node.kubernetes.io/instance-type: m4-amd64}`, code: "LabelsIncompatible", want: "m4-amd64"},
	"more processors than any machine has":            {pod: `CPU 20`, code: "InsufficientRoom", want: "cpu: 20 wanted"},
	"more memory than any machine has":                {pod: `MEMORY 500Gi`, code: "InsufficientRoom", want: "memory: 500Gi wanted"},
	"a processor too many for the pool's types":       {pool: `REQUIRES {key: node.kubernetes.io/instance-type, operator: In, values: [m2-amd64]}`, pod: `CPU 3`, code: "InsufficientRoom", want: "m4-amd64"},
	"all of a machine, which its overhead leaves not": {pod: `CPU 16`, code: "InsufficientRoom", want: "15.9"},
	"a device that no machine has":                    {pod: `DEVICE example.com/gpu`, code: "InsufficientRoom", want: "example.com/gpu"},
	"a daemon that fills every machine":               {pod: `CPU 2`, others: largeDaemon, code: "InsufficientRoom", want: "daemon"},
	"a limit on processors that is too low":           {spec: `limits: {cpu: "1"}`, code: "LimitReached", want: "cpu"},
	"a limit on memory that is too low":               {spec: `limits: {memory: 1Gi}`, code: "LimitReached", want: "memory"},
	"a limit of no nodes":                             {spec: `limits: {nodes: "0"}`, code: "LimitReached", want: "nodes"},
	"a volume in a zone that the pool excludes":       {pool: `REQUIRES {key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}`, others: strings.ReplaceAll(volumeIn, "ZONE", "zone-b"), pod: `volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]`, code: "LabelsIncompatible", want: "zone-b"},
	"a spread over a label that there is not":         {pod: `topologySpreadConstraints: [{maxSkew: 1, topologyKey: example.com/rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: faulty}}}]`, code: "NoOffering", want: "label example.com/rack, which no node has"},
	"an affinity over a label that there is not":      {pod: `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: example.com/rack, labelSelector: {matchLabels: {app: faulty}}}]}}`, code: "Affinity", want: "label example.com/rack, which no node has"},
	"a volume in a zone that there is not":            {others: strings.ReplaceAll(volumeIn, "ZONE", "zone-z"), pod: `volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]`, code: "NoOffering", want: "volume default/data is only where topology.kubernetes.io/zone In [zone-z]: nothing is sold there"},
	"a volume in another zone than the selector's":    {others: strings.ReplaceAll(volumeIn, "ZONE", "zone-b"), pod: "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]\n  nodeSelector: {topology.kubernetes.io/zone: zone-a}", code: "LabelsIncompatible", want: "topology.kubernetes.io/zone In [zone-b], and the pod asks for topology.kubernetes.io/zone In [zone-a]: no node is both"},
	"a volume that is lost":                           {others: strings.ReplaceAll(volumeIn, "phase: Bound", "phase: Lost"), pod: `volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]`, code: "VolumeClaimLost", want: "volume d: persistentvolumeclaim bound to non-existent persistentvolume"},
	"a storage class that there is not":               {others: unboundClaim, pod: `volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]`, code: "StorageClassNotFound", want: `storageclass "fast" not found`},
	"a storage class for a zone that there is not":    {others: unboundClaim + zonalClass, pod: `volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]`, code: "NoOffering", want: "zone-z"},
	"a node that is asked for by its name":            {pod: `nodeSelector: {kubernetes.io/hostname: node-9}`, code: "FieldInvalid", want: "kubernetes.io/hostname"},
	"a pool that there is not":                        {pod: `nodeSelector: {karpenter.sh/nodepool: other}`, code: "LabelsIncompatible", want: "karpenter.sh/nodepool In [other]"},
	"a label that a pod must not find":                {pod: `affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: DoesNotExist}]}]}}}`, code: "LabelsIncompatible", want: "kubernetes.io/arch DoesNotExist"},
	"a larger machine than there is, by its label":    {pod: `affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: example.com/size, operator: Gt, values: ["99"]}]}]}}}`, code: "TypeIncompatible", want: "example.com/size"},
	"an architecture that no machine has":             {pool: `REQUIRES {key: node.kubernetes.io/instance-type, operator: In, values: [m2-arm64]}`, code: "TypeIncompatible", want: "m2-arm64"},
	"a pool with a fixed number of nodes":             {spec: `replicas: 2`, code: "NoPools", want: "is static"},
	"a pool that is not ready":                        {spec: `STATUS`, code: "NoPools", want: "the class is broken"},
	"a volume claim that there is not":                {pod: `volumes: [{name: d, persistentVolumeClaim: {claimName: none}}]`, code: "VolumeClaimNotFound", want: "none"},
	"an affinity to pods that there are not":          {pod: `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: none}}}]}}`, code: "Affinity", want: "affinity"},
	"node affinity that contradicts a selector":       {pod: "nodeSelector: {topology.kubernetes.io/zone: zone-a}\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-b]}]}]}}}", code: "LabelsIncompatible", want: "zone"},
	"more values than there are, by minValues":        {pool: `REQUIRES {key: node.kubernetes.io/instance-type, operator: Exists, minValues: 20}`, code: "MinimumNotMet", want: "minValues"},
	"every zone is excluded by the pod":               {pod: `affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: NotIn, values: [zone-a, zone-b, zone-c]}]}]}}}`, code: "NoOffering", want: "smallest change: let the pod do without topology.kubernetes.io/zone NotIn [zone-a zone-b zone-c]"},
	"a device of dynamic resource allocation":         {pod: `resourceClaims: [{name: gpu, resourceClaimName: none}]`, code: "DynamicResourcesUnsupported", want: "Dynamic Resource Allocation"},
	"an architecture that is not sold":                {pod: `nodeSelector: {kubernetes.io/arch: s390x}`, code: "LabelsIncompatible", want: "kubernetes.io/arch In [s390x]"},
	"a node beside pods that there are not":           {pod: `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}`, code: "Affinity", want: "make the pod's pod affinity on kubernetes.io/hostname a preference"},
	"huge pages that no machine has":                  {pod: `DEVICE hugepages-2Mi`, code: "InsufficientRoom", want: "hugepages-2Mi"},
	"a scheduling gate":                               {pod: `schedulingGates: [{name: example.com/quota}]`, code: "SchedulingGated", want: "held by the scheduling gate example.com/quota"},
	"two scheduling gates":                            {pod: `schedulingGates: [{name: example.com/quota}, {name: example.com/licence}]`, code: "SchedulingGated", want: "held by the scheduling gates example.com/quota, example.com/licence: until they are removed"},
	"a quota of pods":                                 {others: quotaFor(`pods: "2"`), ask: "pod/default/web-2", code: "QuotaExceeded", want: "ResourceQuota team leaves no room for the pod: pods: 1 wanted, 0 of 2 left"},
	"a quota of processors":                           {others: quotaFor(`requests.cpu: 1200m`), ask: "pod/default/web-2", code: "QuotaExceeded", want: "requests.cpu: 500m wanted, 200m of 1200m left"},
	"a quota of memory":                               {others: quotaFor(`limits.memory: 1536Mi`), ask: "pod/default/web-1", code: "QuotaExceeded", want: "limits.memory: 1Gi wanted, 512Mi of 1536Mi left"},
	"a pool that is being deleted":                    {spec: `GONE`, code: "NoPools", want: "deleted"},
	"a node with the annotation do-not-disrupt":       {others: strings.ReplaceAll(faultyNode, "NOTE", `karpenter.sh/do-not-disrupt: "true"`), ask: "node/node-1", code: "NodeProtected", want: "do-not-disrupt"},
	"a pod with the annotation do-not-disrupt":        {others: strings.ReplaceAll(strings.ReplaceAll(faultyNode, "PODNOTE", `karpenter.sh/do-not-disrupt: "true"`), "NOTE", ""), ask: "node/node-1", code: "PodProtected", want: "default/resident"},
	"a disruption budget that never allows":           {others: strings.ReplaceAll(strings.ReplaceAll(faultyNode, "PODNOTE", ""), "NOTE", "") + neverBudget, ask: "node/node-1", code: "PodDisruptionBudget", want: "default/never"},
	"a pool whose nodes go only when empty":           {spec: `disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 0s}`, others: strings.ReplaceAll(strings.ReplaceAll(faultyNode, "PODNOTE", ""), "NOTE", ""), ask: "node/node-1", code: "NodeNotEmpty", want: "WhenEmpty"},
	"a pool that never consolidates":                  {spec: `disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: Never}`, others: strings.ReplaceAll(strings.ReplaceAll(faultyNode, "PODNOTE", ""), "NOTE", ""), ask: "nodeclaim/claim-1", code: "ConsolidationDisabled", want: "default"},
	"a budget of the pool that allows no node":        {spec: `disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: "0"}]}`, others: strings.ReplaceAll(strings.ReplaceAll(faultyNode, "PODNOTE", ""), "NOTE", ""), ask: "node/node-1", code: "DisruptionBudget", want: "budget"},
}

// manifests are the objects of a fault.
func (f fault) manifests() string {
	labels, requires, pool := "", "", f.pool
	if rest, is := strings.CutPrefix(pool, "LABELS "); is {
		labels, pool = "labels: "+rest, ""
	}
	if rest, is := strings.CutPrefix(pool, "REQUIRES "); is {
		requires, pool = ", "+rest, ""
	}
	request, pod, gone, spec := `cpu: "1", memory: 2Gi`, f.pod, "", f.spec
	if rest, is := strings.CutPrefix(pod, "CPU "); is {
		request, pod = `cpu: "`+rest+`"`, ""
	}
	if rest, is := strings.CutPrefix(pod, "MEMORY "); is {
		request, pod = `memory: `+rest, ""
	}
	limits := ""
	if rest, is := strings.CutPrefix(pod, "DEVICE "); is {
		request, limits, pod = rest+`: "1"`, `, limits: {`+rest+`: "1"}`, ""
	}
	if spec == "GONE" {
		gone, spec = `, deletionTimestamp: "2026-11-01T00:00:00Z", finalizers: [karpenter.sh/termination]`, ""
	}
	status := ""
	if spec == "STATUS" {
		spec, status = "", `
status: {conditions: [{type: NodeClassReady, status: "False", lastTransitionTime: "2026-11-01T00:00:00Z", reason: Broken, message: the class is broken}, {type: Ready, status: "False", lastTransitionTime: "2026-11-01T00:00:00Z", reason: Broken, message: ""}]}`
	}
	text := `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default` + gone + `}
spec:
  ` + spec + `
  template:
    metadata: {` + labels + `}
    spec:
      ` + pool + `
      nodeClassRef: {group: example.com, kind: ExampleClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}` + requires + `]` + status + `
---
` + f.others
	if f.ask != "" {
		return text
	}
	return text + `
---
apiVersion: v1
kind: Pod
metadata: {name: faulty, namespace: default, labels: {app: faulty}}
spec:
  ` + pod + `
  containers: [{name: main, image: i, resources: {requests: {` + request + `}` + limits + `}}]
`
}

// Every fault is explained by its cause, in 1 KB at most.
func TestFaultsAreExplained(t *testing.T) {
	t.Parallel()
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "all.yaml")
			if err := os.WriteFile(file, []byte(f.manifests()), 0o600); err != nil {
				t.Fatal(err)
			}
			kind, object, other := strings.Cut(f.ask, "/")
			if !other {
				kind, object = "pod", "default/faulty"
			}
			run := func(format string) string {
				var out, errs bytes.Buffer
				args := []string{"explain", kind, object, "-f", file, "--catalog", "testdata/catalog.json", "--now", "2026-11-20T00:00:00Z", "-o", format}
				if status := cli.Run(t.Context(), args, cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }}); status != 0 {
					t.Fatalf("status %d: %s", status, &errs)
				}
				return out.String()
			}
			var answer explain.Answer
			if err := json.Unmarshal([]byte(run("json")), &answer); err != nil {
				t.Fatal(err)
			}
			text := run("text")
			if answer.Code != f.code || !strings.Contains(text, f.want) || len(text) > explain.MostText {
				t.Errorf("%s (%s), want %s with %q, in %d bytes:\n%s", answer.State, answer.Code, f.code, f.want, len(text), text)
			}
		})
	}
}
