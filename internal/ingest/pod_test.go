package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"tenon/core/reason"
	"tenon/internal/ingest"
)

const (
	bound      = "nodeName: node-1\n" + container
	aNode      = "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}}\n"
	leavesNode = "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nspec: {taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}\n"
)

func owned(apiVersion, kind, name string) string {
	return "ownerReferences: [{apiVersion: " + apiVersion + ", kind: " + kind + ", name: " + name + ", uid: u, controller: true}]\n"
}

// "Provisionable pod: condition PodScheduled present with reason Unschedulable (status
// not checked); spec.nodeName empty; status.nominatedNodeName empty (not preempting); not
// owned by an apps/v1 DaemonSet; not owned by a v1 Node."
func TestPendingPods(t *testing.T) {
	t.Parallel()
	without := func(text string) string { return strings.Replace(podWith(container), status, text, 1) }
	cases := map[string]struct{ text, cluster, files string }{
		"unschedulable":            {podWith(container), "default/p +pending", "default/p +pending"},
		"not yet looked at":        {without(""), "", "default/p +pending"},
		"gated, with the reason":   {without("status: {conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]}\n"), "", ""},
		"gated, without status":    {without("  schedulingGates: [{name: g}]\n"), "", ""},
		"scheduled just now":       {without("status: {conditions: [{type: PodScheduled, status: 'True'}]}\n"), "", ""},
		"preempting":               {without("status: {nominatedNodeName: node-9, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"), "", ""},
		"finished":                 {without("status: {phase: Succeeded}\n"), "", ""},
		"failed on its node":       {podWith(bound) + aNode + "\n", "default/p @node-1", "default/p @node-1"},
		"of a DaemonSet":           {podNamed("p", owned("apps/v1", "DaemonSet", "d"), container), "", ""},
		"of some other DaemonSet":  {podNamed("p", owned("other/v1", "DaemonSet", "d"), container), "default/p +pending", "default/p +pending"},
		"of a Node":                {podNamed("p", owned("v1", "Node", "node-9"), container), "", ""},
		"being deleted":            {podNamed("p", "deletionTimestamp: 2026-01-01T00:00:00Z\n", container), "", ""},
		"running":                  {podWith(bound) + aNode, "default/p @node-1", "default/p @node-1"},
		"running on a lost node":   {podWith(bound), "", ""},
		"terminating":              {podNamed("p", "deletionTimestamp: 2026-01-01T00:00:00Z\n", bound) + aNode, "default/p +terminating @node-1", "default/p +terminating @node-1"},
		"ended on its node":        {strings.Replace(podWith(bound), "phase: Pending", "phase: Failed", 1) + aNode, "", ""},
		"of a ReplicaSet, waiting": {podNamed("p", owned("apps/v1", "ReplicaSet", "r"), container), "default/p +pending", "default/p +pending"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, "in a cluster", podList(build(t, fromCluster(t), tc.text)), tc.cluster)
			check(t, "in files", podList(build(t, fromFiles(t), tc.text)), tc.files)
		})
	}
}

// Validation failures of a pending pod: node selectors and required terms, claims, and
// devices that cannot be allocated.
func TestRefusedPods(t *testing.T) {
	t.Parallel()
	const required = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
	cases := map[string]struct{ spec, want string }{
		"nothing wrong":         {"nodeSelector: {zone: a}\n", ""},
		"restricted label":      {"nodeSelector: {kubernetes.io/hostname: a}\n", "spec.nodeSelector: using label kubernetes.io/hostname is not allowed"},
		"restricted domain":     {"nodeSelector: {karpenter.sh/registered: 'true'}\n", "using label karpenter.sh/registered is not allowed"},
		"impossible value":      {"nodeSelector: {karpenter.sh/capacity-type: cheap}\n", "no valid values found in [cheap] for karpenter.sh/capacity-type"},
		"matchFields":           {required + "{matchFields: [{key: metadata.name, operator: In, values: [node-9]}]}]}}}\n", "node selector term with matchFields is not supported"},
		"a term in error":       {required + "{matchExpressions: [{key: a, operator: In}]}]}}}\n", "nodeSelectorTerms[0].matchExpressions[0]: key a with operator In must have a value defined"},
		"only empty terms":      {required + "{}]}}}\n", "has no term that a node could match"},
		"a preference in error": {"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Gt, values: [x]}]}}]}}\n", ""},
		"devices":               {"resourceClaims: [{name: gpu, resourceClaimName: x}]\n", "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"},
		"avoids pools":          {required + "{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}]}}}\n", "configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)"},
		"avoids pools or not":   {required + "{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}, {matchExpressions: [{key: a, operator: Exists}]}]}}}\n", ""},
		"a lost claim":          {"volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n", `volume v: persistentvolumeclaim "data" not found`},
		"a spread in error":     {"topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]\n", "spec.topologySpreadConstraints[0].maxSkew: must be greater than 0"},
		"an affinity in error":  {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: Maybe}]}}]}}\n", "podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector:"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pending := build(t, fromCluster(t), podWith(container+tc.spec))
			if got := pending.Pods[0].Refused.Text(); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			running := build(t, fromCluster(t), podWith(bound+tc.spec)+aNode)
			if got := running.Pods[0].Refused.Text(); got != "" {
				t.Errorf("a running pod is refused: %q", got)
			}
		})
	}
}

// A pod with several mistakes has a code for each, and their texts together.
func TestRefusedPodsHaveCodes(t *testing.T) {
	t.Parallel()
	refused := build(t, fromCluster(t), podWith(container+"nodeSelector: {kubernetes.io/hostname: a}\n"+
		"resourceClaims: [{name: gpu, resourceClaimName: x}]\nvolumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n")).Pods[0].Refused
	var codes []reason.Code
	for _, r := range refused {
		codes = append(codes, r.Code)
	}
	check(t, "codes", fmt.Sprint(codes), "[FieldInvalid VolumeClaimNotFound DynamicResourcesUnsupported]")
	check(t, "text", strings.Count(refused.Text(), "; "), 3) // one of them within the first
}

// "effective requests: init and sidecar containers, overhead, pod-level resources, in-place
// resize"; the pod itself counts as one of "pods".
func TestRequests(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ spec, want string }{
		"nothing asked":     {"containers: [{name: c}]\n", "pods=1"},
		"containers add up": {"containers: [{name: a, resources: {requests: {cpu: 100m, memory: 1Mi}}}, {name: b, resources: {requests: {cpu: '1'}}}]\n", "cpu=1100 memory=1048576 pods=1"},
		"an init container at a time": {"containers: [{name: a, resources: {requests: {cpu: 100m}}}]\n" +
			"initContainers: [{name: i, resources: {requests: {cpu: 300m}}}, {name: j, resources: {requests: {cpu: 200m}}}]\n", "cpu=300 pods=1"},
		"sidecars stay": {"containers: [{name: a, resources: {requests: {cpu: 100m}}}]\n" +
			"initContainers: [{name: i, restartPolicy: Always, resources: {requests: {cpu: 300m}}}, {name: j, resources: {requests: {cpu: 200m}}}]\n", "cpu=500 pods=1"},
		"overhead":            {container + "overhead: {cpu: 50m, memory: 1Ki}\n", "cpu=150 memory=1024 pods=1"},
		"pod-level resources": {container + "resources: {requests: {cpu: '2'}}\n", "cpu=2000 pods=1"},
		"extended and storage": {"containers: [{name: a, resources: {requests: {nvidia.com/gpu: '2', ephemeral-storage: 1Gi, hugepages-2Mi: 4Mi}}}]\n",
			"ephemeral-storage=1073741824 hugepages-2Mi=4194304 nvidia.com/gpu=2 pods=1"},
		"fractions count as a whole": {"containers: [{name: a, resources: {requests: {cpu: 100u, memory: 1500m}}}]\n", "cpu=1 memory=2 pods=1"},
		"a million times too much":   {"containers: [{name: a, resources: {requests: {memory: 1e30}}}]\n", "memory=4503599627370496 pods=1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, "requests", text(the(t, build(t, fromCluster(t), podWith(tc.spec))).Requests), tc.want)
		})
	}
}

// While a resize is under way, the larger of spec and status counts.
func TestRequestsOfResizedPods(t *testing.T) {
	t.Parallel()
	const pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: node-1, containers: [{name: c, resources: {requests: {cpu: 200m}}}]}\n"
	cases := map[string]struct{ status, want string }{
		"as asked":           {"status: {containerStatuses: [{name: c, resources: {requests: {cpu: 200m}}, allocatedResources: {cpu: 200m}}]}\n", "cpu=200 pods=1"},
		"not yet smaller":    {"status: {containerStatuses: [{name: c, resources: {requests: {cpu: 500m}}, allocatedResources: {cpu: 200m}}]}\n", "cpu=500 pods=1"},
		"never to be larger": {"status: {conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}], containerStatuses: [{name: c, resources: {requests: {cpu: 100m}}, allocatedResources: {cpu: 100m}}]}\n", "cpu=100 pods=1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The plain pod first: what it shares with the resized one must not hide the resize.
			plain := strings.Replace(pod, "{name: p}", "{name: a}", 1)
			s := build(t, fromCluster(t), aNode+plain+pod+tc.status)
			check(t, "requests", text(s.Templates[s.Pods[1].Template].Requests), tc.want)
			check(t, "requests of the plain pod", text(s.Templates[s.Pods[0].Template].Requests), "cpu=200 pods=1")
		})
	}
}

// "pods of one ReplicaSet/Job must share a Template"
func TestPodsShareTemplates(t *testing.T) {
	t.Parallel()
	labelled := func(name, label, value string) string {
		return podNamed(name, owned("apps/v1", "StatefulSet", "db")+"labels: {app: db, "+label+": "+value+"}\n", container)
	}
	cases := map[string]struct {
		text string
		want int
	}{
		"replicas":          {labelled("a", "tier", "front") + labelled("b", "tier", "front"), 1},
		"other labels":      {labelled("a", "tier", "front") + labelled("b", "tier", "back"), 2},
		"identity labels":   {labelled("a", "statefulset.kubernetes.io/pod-name", "a") + labelled("b", "statefulset.kubernetes.io/pod-name", "b"), 1},
		"of two zones":      {labelled("a", "topology.kubernetes.io/zone", "a") + labelled("b", "topology.kubernetes.io/zone", "b") + labelled("c", "tier", "front"), 2},
		"of several runs":   {podNamed("a", owned("batch/v1", "Job", "j1")+"labels: {job-name: j1}\n", container) + podNamed("b", owned("batch/v1", "Job", "j2")+"labels: {job-name: j2}\n", container), 2},
		"written otherwise": {podWith("containers: [{name: c, resources: {requests: {cpu: '0.1'}}}]\n") + podNamed("q", "", container), 1},
		"other images":      {podWith("containers: [{name: c, image: one}]\n") + podNamed("q", "", "containers: [{name: c, image: two}]\n"), 1},
		"split differently": {podWith("containers: [{name: a, resources: {requests: {cpu: 50m}}}, {name: b, resources: {requests: {cpu: 50m}}}]\n") + podNamed("q", "", container), 1},
		"other namespaces":  {podWith(container) + podNamed("p", "namespace: other\n", container), 2},
		"identity labels that a rule looks at": {
			labelled("a", "statefulset.kubernetes.io/pod-name", "a") + labelled("b", "statefulset.kubernetes.io/pod-name", "b") +
				podNamed("c", "", container+"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {statefulset.kubernetes.io/pod-name: a}}}]}}\n"), 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), tc.text)
			check(t, "templates", len(s.Templates), tc.want)
			for i := range s.Pods {
				if int(s.Pods[i].Template) >= len(s.Templates) {
					t.Errorf("pod %d has no template", i)
				}
			}
		})
	}
}

// "Deployment/web": found through the ReplicaSet, or derived from the template hash.
func TestOwner(t *testing.T) {
	t.Parallel()
	replica := podNamed("p", owned("apps/v1", "ReplicaSet", "web-abc")+"labels: {pod-template-hash: abc}\n", container)
	cases := map[string]struct{ text, want string }{
		"nobody":                  {podWith(container), ""},
		"a ReplicaSet of its own": {podNamed("p", owned("apps/v1", "ReplicaSet", "web"), container), "ReplicaSet/web"},
		"a Deployment by hash":    {replica, "Deployment/web"},
		"a known ReplicaSet": {replica + "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: web-abc\n  uid: u\n" + indented(2, owned("apps/v1", "Deployment", "shop")) +
			"spec: {replicas: 0, selector: {}, template: {}}\n", "Deployment/shop"},
		"a CronJob": {podNamed("p", owned("batch/v1", "Job", "night-1"), container) + "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: night-1\n  uid: u\n" +
			indented(2, owned("batch/v1", "CronJob", "night")) + "spec: {suspend: true, template: {}}\n", "CronJob/night"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, "owner", the(t, build(t, fromCluster(t), tc.text)).Owner, tc.want)
		})
	}
}

// The order of the input does not matter.
func TestBuildIgnoresOrder(t *testing.T) {
	t.Parallel()
	documents := []string{
		podNamed("a", "", container), podNamed("b", "", container+"nodeSelector: {tier: front}\n"), podNamed("c", "namespace: other\n", container),
		aNode, aPool("one", ""), aPool("two", "weight: 3\n"),
	}
	want := build(t, fromFiles(t), strings.Join(documents, ""))
	for shift := range documents {
		mixed := append(append([]string{}, documents[shift:]...), documents[:shift]...)
		got := build(t, fromFiles(t), strings.Join(mixed, ""))
		check(t, "snapshot", encoded(t, got), encoded(t, want))
	}
}

// Build reads objects and changes none.
func TestBuildChangesNothing(t *testing.T) {
	t.Parallel()
	text := podWith(container) + aNode + aPool("one", "") + aDaemon("")
	given, other := objects(t, text), objects(t, text)
	ingest.Build(given, fromFiles(t))
	check(t, "objects", jsonOf(t, given.Pods, given.Nodes, given.NodePools, given.DaemonSets), jsonOf(t, other.Pods, other.Nodes, other.NodePools, other.DaemonSets))
}
