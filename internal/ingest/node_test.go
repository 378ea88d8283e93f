package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"tenon/core/snapshot"
)

const (
	ours      = "karpenter.sh/nodepool: one, node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: zone-a, karpenter.sh/capacity-type: spot"
	joined    = ours + ", karpenter.sh/registered: 'true'"
	settled   = joined + ", karpenter.sh/initialized: 'true'"
	starting  = "{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: readiness.k8s.io/net, effect: NoSchedule}, {key: cni, value: v, effect: NoExecute}, {key: dedicated, value: x, effect: NoSchedule}"
	launched  = "status: {providerID: 'cloud:///1', capacity: {cpu: '2', memory: 4Gi, pods: '16', nvidia.com/gpu: '1'}, allocatable: {cpu: 1900m, memory: 3Gi, pods: '16', nvidia.com/gpu: '1'}}\n"
	realRoom  = "status: {capacity: {cpu: '2', memory: 5Gi, pods: '16', nvidia.com/gpu: '0'}, allocatable: {cpu: 1800m, memory: 4Gi, pods: '16', nvidia.com/gpu: '0'}}\n"
	claimSpec = "taints: [{key: dedicated, value: x, effect: NoSchedule}]\nstartupTaints: [{key: cni, effect: NoExecute}]\nresources: {requests: {cpu: 1500m}}\n" +
		"requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: topology.kubernetes.io/zone, operator: In, values: [zone-a, zone-b]}, {key: node.kubernetes.io/instance-type, operator: In, values: [small, large]}]\n" +
		"nodeClassRef: {group: g, kind: K, name: default}\n"
)

func node(labels, spec, status string) string {
	return "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1, creationTimestamp: 2026-01-01T00:00:00Z, labels: {" + labels + "}}\nspec: {" + spec + "}\n" + status
}

func claim(metadata, status string) string {
	return "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: one-abc, creationTimestamp: 2025-12-31T00:00:00Z, labels: {karpenter.sh/nodepool: one, team: red}, " + metadata + "}\nspec:\n" +
		indented(2, claimSpec) + status
}

func onlyNode(t *testing.T, s *snapshot.Snapshot) snapshot.Node {
	t.Helper()
	if len(s.Nodes) != 1 {
		t.Fatalf("%d nodes, want one", len(s.Nodes))
	}
	return s.Nodes[0]
}

// "Labels: from the claim until registered, from the Node afterwards. Taints: claim
// spec.taints while unregistered, else Node taints. While a managed node is uninitialized,
// known-ephemeral taints and taints matching the claim's startupTaints are dropped.
// Capacity/allocatable: until initialized, Node values with any zero/missing quantity
// replaced by the claim's status values; afterwards Node values only."
func TestNodes(t *testing.T) {
	t.Parallel()
	type want struct{ name, taints, room, flags string }
	all := "node.kubernetes.io/not-ready:NoSchedule readiness.k8s.io/net:NoSchedule cni=v:NoExecute dedicated=x:NoSchedule"
	cases := map[string]struct {
		text string
		want want
	}{
		"launched, no node": {claim("", launched), want{"one-abc", "dedicated=x:NoSchedule", "cpu=1900 memory=3221225472 nvidia.com/gpu=1 pods=16", "zone= type= red"}},
		"not registered": {claim("", launched) + node(ours, "providerID: 'cloud:///1', taints: ["+starting+"]", realRoom),
			want{"node-1", "dedicated=x:NoSchedule", "cpu=1800 memory=4294967296 nvidia.com/gpu=1 pods=16", "zone= type= red"}},
		"registered": {claim("", launched) + node(joined, "providerID: 'cloud:///1', taints: ["+starting+"]", realRoom),
			want{"node-1", "dedicated=x:NoSchedule", "cpu=1800 memory=4294967296 nvidia.com/gpu=1 pods=16", "zone=zone-a type=small"}},
		"initialized": {claim("", launched) + node(settled, "providerID: 'cloud:///1', taints: ["+starting+"]", realRoom),
			want{"node-1", all, "cpu=1800 memory=4294967296 pods=16", "zone=zone-a type=small initialized"}},
		"not ours": {node("kubernetes.io/hostname: other", "taints: ["+starting+"], unschedulable: true", realRoom),
			want{"node-1", all, "cpu=1800 memory=4294967296 pods=16", "zone= type= initialized cordoned"}},
		"older spellings": {node("failure-domain.beta.kubernetes.io/zone: zone-b, beta.kubernetes.io/instance-type: large", "", realRoom),
			want{"node-1", "", "cpu=1800 memory=4294967296 pods=16", "zone=zone-b type=large initialized"}},
		"known by name only": {claim("", "status: {nodeName: node-1}\n") + node(settled, "", realRoom),
			want{"node-1", "", "cpu=1800 memory=4294967296 pods=16", "zone=zone-a type=small initialized"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := onlyNode(t, build(t, fromFiles(t), aPool("one", "")+tc.text))
			var taints []string
			for _, taint := range got.Taints {
				taints = append(taints, taint.String())
			}
			flags := fmt.Sprintf("zone=%s type=%s", got.Zone, got.InstanceType)
			for flag, set := range map[string]bool{" red": got.Labels["team"] == "red"} {
				if set {
					flags += flag
				}
			}
			if got.Initialized {
				flags += " initialized"
			}
			if got.Unschedulable {
				flags += " cordoned"
			}
			check(t, "node", want{got.Name, strings.Join(taints, " "), text(got.Allocatable), flags}, tc.want)
			if got.Labels["kubernetes.io/hostname"] == "" {
				t.Error("the node has no hostname")
			}
		})
	}
}

func TestNodeIdentity(t *testing.T) {
	t.Parallel()
	both := onlyNode(t, build(t, fromCluster(t), aPool("one", "")+claim("", launched)+node(settled, "providerID: 'cloud:///1'", realRoom)))
	check(t, "claim, pool, created", fmt.Sprint(both.Claim, both.Pool, both.Created.Format(" 2006-01-02")), "one-abcone 2025-12-31")
	two := build(t, fromCluster(t), claim("", strings.Replace(launched, "providerID: 'cloud:///1'", "providerID: 'cloud:///2', nodeName: node-1", 1))+node(settled, "providerID: 'cloud:///1'", realRoom))
	check(t, "different machines", len(two.Nodes), 2)
}

// "a managed-looking Node without provider ID is ignored until it has one; a managed Node
// lacking the instance-type label and the initialized label is ignored"
func TestNodesThatAreNotKnownYet(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text           string
		cluster, files int
	}{
		"no provider ID":                   {node(settled, "", realRoom), 0, 1},
		"no instance type":                 {node("karpenter.sh/nodepool: one", "providerID: 'cloud:///1'", realRoom), 0, 1},
		"initialized, no instance type":    {node("karpenter.sh/nodepool: one, karpenter.sh/initialized: 'true'", "providerID: 'cloud:///1'", realRoom), 1, 1},
		"joined before its claim is known": {node(settled, "providerID: 'cloud:///1', taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]", realRoom), 0, 1},
		"... which has no instance yet":    {claim("", "") + node(settled, "providerID: 'cloud:///1', taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]", realRoom), 1, 2},
		"of others":                        {node("", "", realRoom), 1, 1},
		"with its claim":                   {claim("", "status: {nodeName: node-1}\n") + node(ours, "", realRoom), 1, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, "in a cluster", len(build(t, fromCluster(t), tc.text).Nodes), tc.cluster)
			check(t, "in files", len(build(t, fromFiles(t), tc.text).Nodes), tc.files)
		})
	}
}

// A node of a pool is initialized by its claim. Without the claim, nothing could be recorded about its disruption.
func TestInitializedNodesHaveTheirClaim(t *testing.T) {
	t.Parallel()
	alone := node(settled, "providerID: 'cloud:///1'", realRoom)
	check(t, "before its claim is seen to have the instance", build(t, fromCluster(t), claim("", "")+alone).Nodes[0].Initialized, false)
	check(t, "without a claim", onlyNode(t, build(t, fromCluster(t), alone)).Initialized, false)
	check(t, "with its claim", onlyNode(t, build(t, fromCluster(t), claim("", launched)+alone)).Initialized, true)
	check(t, "in files, where claims may be left out", onlyNode(t, build(t, fromFiles(t), alone)).Initialized, true)
	check(t, "of no pool", onlyNode(t, build(t, fromCluster(t), node("", "", realRoom))).Initialized, true)
}

func TestLeavingNodes(t *testing.T) {
	t.Parallel()
	condition := func(name, status string) string {
		return "status: {providerID: 'cloud:///1', conditions: [{type: " + name + ", status: '" + status + "', reason: R, message: '', lastTransitionTime: 2026-01-01T00:00:00Z}]}\n"
	}
	cases := map[string]struct {
		text string
		want bool
	}{
		"staying":               {claim("", launched) + node(settled, "providerID: 'cloud:///1'", realRoom), false},
		"claim being deleted":   {claim("deletionTimestamp: 2026-01-01T00:00:00Z", launched), true},
		"instance terminating":  {claim("", condition("InstanceTerminating", "True")), true},
		"disruption has begun":  {claim("", condition("DisruptionReason", "True")), true},
		"disruption taken back": {claim("", condition("DisruptionReason", "False")), false},
		"drifted only":          {claim("", condition("Drifted", "True")), false},
		"node being deleted":    {strings.Replace(node("", "", realRoom), "labels", "deletionTimestamp: 2026-01-01T00:00:00Z, labels", 1), true},
		"disrupted taint":       {node(settled, "providerID: 'cloud:///1', taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]", realRoom), true},
		"cordoned":              {node("", "unschedulable: true", realRoom), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, "leaving", onlyNode(t, build(t, fromCluster(t), tc.text)).Leaving, tc.want)
		})
	}
}

func TestNodePrices(t *testing.T) {
	t.Parallel()
	bought := func(zone, kind, capacityType string) string {
		return node("karpenter.sh/nodepool: one, node.kubernetes.io/instance-type: "+kind+", topology.kubernetes.io/zone: "+zone+", "+capacityType, "providerID: x", realRoom)
	}
	cases := map[string]struct {
		text string
		want string
	}{
		"as bought":                 {bought("zone-a", "small", "karpenter.sh/capacity-type: spot"), "0.05"},
		"no capacity type":          {bought("zone-b", "small", ""), "0.11"},
		"a zone that is sold out":   {bought("zone-z", "small", "karpenter.sh/capacity-type: on-demand"), "0.1"},
		"a type that is not listed": {bought("zone-a", "huge", ""), "0"},
		"not of a pool":             {node("node.kubernetes.io/instance-type: small", "", realRoom), "0"},
		"a claim in flight":         {claim("", ""), "0.1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, "price", onlyNode(t, build(t, fromCluster(t), aPool("one", "")+tc.text)).Price, tc.want)
		})
	}
}

// What a node costs beyond its machine is set on its pool or, without that, in the settings; it is
// part of the node's price if the price of the machine is known.
func TestNodesHaveAPriceOfTheirOwn(t *testing.T) {
	t.Parallel()
	bought := node("karpenter.sh/nodepool: one, node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: zone-a, karpenter.sh/capacity-type: spot", "providerID: x", realRoom)
	unknown := strings.Replace(bought, "instance-type: small", "instance-type: huge", 1)
	options := fromCluster(t)
	options.NodePrice = 20_000
	pool := func(annotation string) string {
		return strings.Replace(aPool("one", ""), "{name: one}", "{name: one, annotations: {"+annotation+"}}", 1)
	}
	cases := map[string]struct {
		text, node, pool string
	}{
		"the setting":                      {pool("") + bought, "0.07", "0.02"},
		"the annotation before it":         {pool("tenon.sh/node-price: '0.1'") + bought, "0.15", "0.1"},
		"an annotation of nothing":         {pool("tenon.sh/node-price: '0'") + bought, "0.05", "0"},
		"an annotation that is no price":   {pool("tenon.sh/node-price: a lot") + bought, "0.07", "0.02"},
		"a claim in flight":                {pool("tenon.sh/node-price: '0.1'") + claim("", ""), "0.2", "0.1"},
		"a machine of which it is unknown": {pool("tenon.sh/node-price: '0.1'") + unknown, "0", "0.1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, options, tc.text)
			check(t, "price of the node", onlyNode(t, s).Price, tc.node)
			check(t, "price in the pool", s.Pools[0].NodePrice, tc.pool)
		})
	}
}

// A claim that the cloud has not answered yet counts with the room of the cheapest of its types,
// and without a catalogue with its requests.
func TestClaimsInFlight(t *testing.T) {
	t.Parallel()
	got := onlyNode(t, build(t, fromCluster(t), aPool("one", "")+claim("", "")))
	check(t, "allocatable of the cheapest", text(got.Allocatable), "cpu=1900 memory=4294967296 pods=16")
	check(t, "capacity of the largest, which limits count", text(got.Most), "cpu=8000 memory=17179869184 pods=64")
	check(t, "capacity type, the only single value", got.CapacityType+got.Zone, "on-demand")
	alone := onlyNode(t, build(t, fromCluster(t), claim("", "")))
	check(t, "allocatable without a catalogue", text(alone.Allocatable), "cpu=1500")
	launched := onlyNode(t, build(t, fromCluster(t), aPool("one", "")+claim("", "status:\n  capacity: {cpu: '2', memory: 4Gi}\n  allocatable: {cpu: '1', memory: 2Gi}\n")))
	check(t, "once launched, limits count what it has", text(launched.Most), "")
}

func TestVolumeLimits(t *testing.T) {
	t.Parallel()
	csi := "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: node-1}\nspec: {drivers: [{name: z, nodeID: x, allocatable: {count: 3}}, {name: a, nodeID: x, allocatable: {count: 25}}, {name: free, nodeID: x}]}\n"
	check(t, "limits", onlyNode(t, build(t, fromCluster(t), node("", "", realRoom)+csi)).VolumeLimits, "[{a 25} {z 3}]")
}

// "currently reschedulable: reschedulable and disruptable and not fully blocked by a PDB"
func TestMovablePods(t *testing.T) {
	t.Parallel()
	budget := func(name, spec string) string {
		return "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
	}
	pod := func(metadata, spec, status string) string {
		return strings.Replace(podNamed("p", metadata+"labels: {app: web}\n", bound+spec), "status:\n", "status:\n"+indented(2, status), 1)
	}
	annotated := func(value string) string { return "annotations: {karpenter.sh/do-not-disrupt: '" + value + "'}\n" }
	ready := func(status string) string {
		return strings.Replace(pod("", "", ""), "conditions: [", "conditions: [{type: Ready, status: '"+status+"'}, ", 1)
	}
	const gone = "deletionTimestamp: 2026-01-01T00:00:00Z\n"
	cases := map[string]struct {
		text string
		want bool
	}{
		"usual":                       {pod("", "", ""), true},
		"terminating":                 {pod(gone, "", ""), false},
		"terminating, of StatefulSet": {pod(gone+owned("apps/v1", "StatefulSet", "s"), "", ""), true},
		"of a DaemonSet":              {pod(owned("apps/v1", "DaemonSet", "d"), "", ""), false},
		"of a Node":                   {pod(owned("v1", "Node", "node-1"), "", ""), false},
		"not to be disrupted":         {pod(annotated("true"), "", ""), false},
		"not for an hour, just begun": {pod(annotated("1h"), "", "startTime: 2026-01-02T03:00:00Z"), false},
		"not for an hour, long past":  {pod(annotated("1h"), "", "startTime: 2026-01-02T01:00:00Z"), true},
		"not for an hour, no start":   {pod(annotated("1h"), "", ""), false},
		"said wrongly":                {pod(annotated("forever"), "", ""), true},
		"negative":                    {pod(annotated("-1h"), "", ""), true},
		"none may go":                 {pod("", "", "") + budget("b", "maxUnavailable: 0, selector: {matchLabels: {app: web}}"), false},
		"none may go, percent":        {pod("", "", "") + budget("b", "maxUnavailable: 0%, selector: {}"), false},
		"all must stay":               {pod("", "", "") + budget("b", "minAvailable: 100%, selector: {}"), false},
		"as many as there are":        {pod("", "", "") + budget("b", "minAvailable: 1, selector: {}"), true},
		"of other pods":               {pod("", "", "") + budget("b", "maxUnavailable: 0, selector: {matchLabels: {app: db}}"), true},
		"no selector":                 {pod("", "", "") + budget("b", "maxUnavailable: 0"), true},
		"two budgets":                 {pod("", "", "") + budget("b", "maxUnavailable: 1, selector: {}") + budget("c", "maxUnavailable: 1, selector: {}"), false},
		"two, tolerates disruption":   {pod("", "tolerations: [{key: karpenter.sh/disrupted, operator: Exists}]\n", "") + budget("b", "maxUnavailable: 1, selector: {}") + budget("c", "maxUnavailable: 1, selector: {}"), true},
		"unhealthy may go":            {ready("False") + budget("b", "maxUnavailable: 0, selector: {}, unhealthyPodEvictionPolicy: AlwaysAllow"), true},
		"healthy may not":             {ready("True") + budget("b", "maxUnavailable: 0, selector: {}, unhealthyPodEvictionPolicy: AlwaysAllow"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), leavesNode+tc.text)
			check(t, "movable", s.Pods[0].Movable, tc.want)
			staying := build(t, fromCluster(t), aNode+tc.text)
			check(t, "movable on a node that stays", staying.Pods[0].Movable, false)
		})
	}
}

// TestAKubeletSpeaksForNoOtherPool: a malicious kubelet gives its Node the labels of another pool and
// of a smaller machine, or of one that is sold otherwise. The node still counts for its own pool, at its price.
func TestAKubeletSpeaksForNoOtherPool(t *testing.T) {
	t.Parallel()
	bought := strings.Replace(claim("", launched), "team: red", "team: red, node.kubernetes.io/instance-type: large, topology.kubernetes.io/zone: zone-b, karpenter.sh/capacity-type: on-demand, example.com/reservation: r-1", 1)
	options := fromCluster(t)
	options.ReservationLabel = "example.com/reservation"
	for name, forged := range map[string]string{
		"nothing":      strings.NewReplacer("small", "large", "zone-a", "zone-b", ": spot", ": on-demand, example.com/reservation: r-1").Replace(settled),
		"everything":   strings.NewReplacer("nodepool: one", "nodepool: two", "zone-a", "zone-c", ": spot", ": reserved, example.com/reservation: r-2").Replace(settled),
		"a spot price": settled,
		"no labels":    "karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := onlyNode(t, build(t, options, bought+node(forged, "providerID: 'cloud:///1'", realRoom)))
			got := fmt.Sprint(n.Pool, " ", n.InstanceType, " ", n.Zone, " ", n.CapacityType, " ", n.Reservation)
			if want := "one large zone-b on-demand r-1"; got != want {
				t.Errorf("the node counts as %s, want %s", got, want)
			}
		})
	}
}

// TestAKubeletHasNoRoomForTheWholeCluster: a malicious kubelet reports a machine that is larger by far than the one
// that was bought. The pods of other nodes would be moved there, and a pool's limits would be used up. A node has
// a quarter more than was estimated at most; devices are what the node says, since a device plugin may share them.
func TestAKubeletHasNoRoomForTheWholeCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ labels, status, want string }{
		"a million cores": {settled, "status: {capacity: {cpu: '1000000', memory: 4Pi, pods: '16'}, allocatable: {cpu: '1000000', memory: 4Pi, pods: '16'}}\n",
			"cpu=2500 memory=5368709120 pods=16 of cpu=2500 memory=5368709120 pods=16"},
		"before it is initialized": {joined, "status: {capacity: {cpu: '1000000', memory: 4Pi, pods: '16'}, allocatable: {cpu: '1000000', memory: 4Pi, pods: '16'}}\n",
			"cpu=2500 memory=5368709120 nvidia.com/gpu=1 pods=16 of cpu=2500 memory=5368709120 nvidia.com/gpu=1 pods=16"},
		"allocatable beyond capacity": {settled, "status: {capacity: {cpu: '2', memory: 4Gi, pods: '16'}, allocatable: {cpu: '64', memory: 4Gi, pods: '16'}}\n",
			"cpu=2500 memory=4294967296 pods=16 of cpu=2000 memory=4294967296 pods=16"},
		"shared devices": {settled, "status: {capacity: {cpu: '2', memory: 4Gi, pods: '16', nvidia.com/gpu: '10'}, allocatable: {cpu: 1900m, memory: 3Gi, pods: '16', nvidia.com/gpu: '10'}}\n",
			"cpu=1900 memory=3221225472 nvidia.com/gpu=10 pods=16 of cpu=2000 memory=4294967296 nvidia.com/gpu=10 pods=16"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := onlyNode(t, build(t, fromCluster(t), claim("", launched)+node(tc.labels, "providerID: 'cloud:///1'", tc.status)))
			if got := text(n.Allocatable) + " of " + text(n.Capacity); got != tc.want {
				t.Errorf("room %s, want %s", got, tc.want)
			}
		})
	}
}
