package ingest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func onlyPool(t *testing.T, s *snapshot.Snapshot) snapshot.Pool {
	t.Helper()
	if len(s.Pools) != 1 {
		t.Fatalf("%d pools, want one", len(s.Pools))
	}
	return s.Pools[0]
}

// "requirements = pool requirements ∩ pool labels ∩ {nodepool, node-class label}"
func TestPool(t *testing.T) {
	t.Parallel()
	text := `---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: one}
spec:
  weight: 10
  limits: {cpu: 1500m, memory: 1Gi, nodes: 3, nvidia.com/gpu: 0}
  template:
    metadata: {labels: {team: red}, annotations: {note: x}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: dedicated, value: x, effect: NoSchedule}]
      startupTaints: [{key: cni, effect: NoExecute}]
      requirements:
      - {key: beta.kubernetes.io/instance-type, operator: In, values: [small, large], minValues: 2}
      - {key: cores, operator: Gte, values: ['4']}
`
	got := onlyPool(t, build(t, fromFiles(t), text))
	check(t, "requirements", got.Requirements, "cores Exists >=4, karpenter.k8s.aws/ec2nodeclass In [default], karpenter.sh/nodepool In [one], "+
		"node.kubernetes.io/instance-type In [large small] minValues 2, team In [red]")
	check(t, "labels", got.Labels, "map[karpenter.k8s.aws/ec2nodeclass:default karpenter.sh/nodepool:one team:red]")
	check(t, "annotations", got.Annotations, "map[note:x]")
	check(t, "taints", fmt.Sprint(got.Taints, got.StartupTaints), "[dedicated=x:NoSchedule] [cni:NoExecute]")
	check(t, "limits, zero among them", got.Limits, "[{cpu 1500} {memory 1073741824} {nodes 3} {nvidia.com/gpu 0}]")
	check(t, "weight", got.Weight, 10)
	check(t, "unready", got.Unready, reason.Unready{})
}

func TestUnreadyPools(t *testing.T) {
	t.Parallel()
	ready := func(status string) string {
		return aPool("one", "") + "status: {conditions: [{type: Ready, status: '" + status + "', reason: Why, message: no subnets, lastTransitionTime: 2026-01-01T00:00:00Z}]}\n"
	}
	invalid := strings.Replace(aPool("one", ""), "requirements: []", "requirements: [{key: kubernetes.io/hostname, operator: Exists}]", 1)
	cases := map[string]struct{ text, cluster, files string }{
		"ready":             {ready("True"), "", ""},
		"not ready":         {ready("False"), "not ready: no subnets", "not ready: no subnets"},
		"not judged yet":    {ready("Unknown"), "not ready: no subnets", ""},
		"without status":    {aPool("one", ""), "not ready: awaiting reconciliation", ""},
		"being deleted":     {strings.Replace(ready("True"), "{name: one}", "{name: one, deletionTimestamp: 2026-01-01T00:00:00Z}", 1), "is being deleted", "is being deleted"},
		"static":            {strings.Replace(ready("True"), "spec:\n", "spec:\n  replicas: 2\n", 1), "is static: its nodes follow spec.replicas, not the pods", "is static: its nodes follow spec.replicas, not the pods"},
		"of another kind":   {strings.Replace(ready("True"), "EC2NodeClass", "OtherClass", 1), "its node class is of a kind that is not managed here: OtherClass in group karpenter.k8s.aws", "its node class is of a kind that is not managed here: OtherClass in group karpenter.k8s.aws"},
		"against the rules": {invalid, "using label kubernetes.io/hostname is not allowed", "using label kubernetes.io/hostname is not allowed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, file := fromCluster(t), fromFiles(t)
			live.Managed = func(_, kind string) bool { return kind == "EC2NodeClass" }
			file.Managed = live.Managed
			for where, got := range map[string]string{tc.cluster: onlyPool(t, build(t, live, tc.text)).Unready.Text(), tc.files: onlyPool(t, build(t, file, tc.text)).Unready.Text()} {
				if where == "" && got != "" || !strings.Contains(got, where) {
					t.Errorf("got %q, want %q", got, where)
				}
			}
		})
	}
}

// Pools that share a catalogue share it in the snapshot, and an error of the catalogue is
// why a pool cannot be used.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	options := fromFiles(t)
	shared := options.Catalog
	options.Catalog = func(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
		if pool.Name == "three" {
			return nil, errors.New("node class default was not given")
		}
		if class != nil {
			return &catalog.Catalog{Types: []catalog.Type{{Name: class.GetName()}}}, nil
		}
		return shared(pool, class)
	}
	text := aPool("one", "") + aPool("two", "") + aPool("three", "") + strings.Replace(aPool("four", ""), "name: default", "name: special", 1) +
		"---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: special}\nspec: {}\n"
	s := build(t, options, text)
	var got []string
	for _, p := range s.Pools {
		kinds := len(s.Catalogs[p.Catalog].Types)
		got = append(got, fmt.Sprintf("%s: %d %q", p.Name, kinds, p.Unready.Text()))
	}
	check(t, "pools, by name", strings.Join(got, "; "), `four: 1 ""; one: 2 ""; three: 0 "node class default was not given"; two: 2 ""`)
	check(t, "catalogues", len(s.Catalogs), 3)
}

func TestDaemons(t *testing.T) {
	t.Parallel()
	live := func(name, created, cpu string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: kube-system\n  creationTimestamp: " + created + "\n  labels: {app: agent}\n" +
			indented(2, owned("apps/v1", "DaemonSet", "agent")) + "spec:\n  nodeName: node-1\n  containers: [{name: c, resources: {requests: {cpu: " + cpu + "}}}]\n" +
			"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}]}}}\n"
	}
	const required = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}, {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}]}}}\n"
	limits := "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: kube-system}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 70m, memory: 1Mi}}]}\n"
	cases := map[string]struct{ text, requests, terms, selector string }{
		"by its template":        {aDaemon(required), "cpu=50 pods=1", "kubernetes.io/arch In [amd64] | kubernetes.io/arch In [arm64]", ""},
		"by its latest pod":      {aDaemon(required) + live("x", "2026-01-01T00:00:00Z", "80m") + live("w", "2026-01-02T00:00:00Z", "90m") + aNode, "cpu=90 pods=1", "kubernetes.io/arch In [amd64] | kubernetes.io/arch In [arm64]", ""},
		"defaults of a range":    {aDaemon("") + limits, "cpu=50 memory=1048576 pods=1", "", ""},
		"limits without request": {strings.Replace(aDaemon(""), "requests: {cpu: 50m}", "limits: {cpu: 60m}", 1) + limits, "cpu=60 memory=1048576 pods=1", "", ""},
		"labels of joined nodes": {aDaemon("nodeSelector: {karpenter.sh/registered: 'true', team: red}\n"), "cpu=50 pods=1", "", "team In [red]"},
		"labels of left nodes":   {aDaemon("nodeSelector: {karpenter.sh/registered: 'false'}\n"), "cpu=50 pods=1", "", "karpenter.sh/registered In [false]"},
		"a hostname":             {aDaemon("nodeSelector: {kubernetes.io/hostname: node-1}\n"), "cpu=50 pods=1", "", "kubernetes.io/hostname In [node-1]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromCluster(t), tc.text)
			if len(s.Daemons) != 1 {
				t.Fatalf("%d daemons", len(s.Daemons))
			}
			got := s.Templates[s.Daemons[0].Template]
			check(t, "requests", text(got.Requests), tc.requests)
			check(t, "terms", sets(got.Terms), tc.terms)
			check(t, "selector", sets([]requirement.Set{got.Selector}), tc.selector)
			check(t, "daemon, owner", fmt.Sprint(got.Daemon, " ", got.Owner), "true DaemonSet/agent")
		})
	}
}

func TestDaemonsLeftOut(t *testing.T) {
	t.Parallel()
	devices := aDaemon("resourceClaims: [{name: gpu, resourceClaimName: x}]\n")
	check(t, "with devices", len(build(t, fromCluster(t), devices).Daemons), 0)
	gone := strings.Replace(aDaemon(""), "namespace: kube-system", "namespace: kube-system, deletionTimestamp: 2026-01-01T00:00:00Z", 1)
	check(t, "being deleted", len(build(t, fromCluster(t), gone).Daemons), 0)
}

// The daemon pods of many nodes differ only in their node: they share a template.
func TestDaemonPodsShareATemplate(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for i := range 5 {
		name := fmt.Sprint("node-", i)
		all.WriteString(strings.Replace(aNode, "node-1", name, 1))
		all.WriteString(podNamed("agent-"+name, owned("apps/v1", "DaemonSet", "agent"), "nodeName: "+name+"\n"+container+
			"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: ["+name+"]}]}]}}}\n"))
	}
	s := build(t, fromCluster(t), all.String())
	check(t, "pods and templates", fmt.Sprint(len(s.Pods), " ", len(s.Templates)), "5 1")
	check(t, "terms", sets(s.Templates[0].Terms), "")
}

// "Deployments/StatefulSets/Jobs (their unplaced replicas count as pending pods when no Pod
// objects of theirs are given)"; "named NAMESPACE/NAME-N, N from 0".
func TestReplicas(t *testing.T) {
	t.Parallel()
	set := func(spec, status string) string {
		return "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  selector: {}\n" + indented(2, spec) + "  template:\n    spec:\n" + indented(6, container) + status
	}
	job := func(spec, status string) string {
		return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: run}\nspec:\n" + indented(2, spec) + "  template:\n    spec:\n" + indented(6, container) + status
	}
	replicaSet := "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: web-1\n  namespace: default\n  uid: u\n" + indented(2, owned("apps/v1", "Deployment", "web")) +
		"spec:\n  replicas: 2\n  selector: {}\n  template:\n    spec:\n" + indented(6, container)
	ofReplicaSet := podNamed("web-1-x", owned("apps/v1", "ReplicaSet", "web-1")+"labels: {pod-template-hash: '1'}\n", container)
	const two = "default/web-0 +pending; default/web-1 +pending"
	cases := map[string]struct{ text, want string }{
		"a deployment":             {deployment("web", "replicas: 2\n"), two},
		"one by default":           {deployment("web", ""), "default/web-0 +pending"},
		"none":                     {deployment("web", "replicas: 0\n"), ""},
		"some run already":         {deployment("web", "replicas: 3\n") + "status: {replicas: 3, readyReplicas: 1}\n", two},
		"more run than asked":      {deployment("web", "replicas: 3\n") + "status: {readyReplicas: 5}\n", ""},
		"with its ReplicaSet":      {deployment("web", "replicas: 2\n") + replicaSet, two},
		"the ReplicaSet alone":     {replicaSet, "default/web-1-0 +pending; default/web-1-1 +pending"},
		"with pods":                {deployment("web", "replicas: 2\n") + ofReplicaSet, "default/web-1-x +pending"},
		"with pods and ReplicaSet": {deployment("web", "replicas: 2\n") + replicaSet + ofReplicaSet, "default/web-1-x +pending"},
		"a stateful set":           {set("replicas: 2\n", ""), "default/db-0 +pending; default/db-1 +pending"},
		"a job":                    {job("parallelism: 2\n", ""), "default/run-0 +pending; default/run-1 +pending"},
		"a job, nearly done":       {job("parallelism: 5\ncompletions: 7\n", "status: {succeeded: 6}\n"), "default/run-0 +pending"},
		"a job, done":              {job("parallelism: 2\n", "status: {conditions: [{type: Complete, status: 'True'}]}\n"), ""},
		"a job, waiting":           {job("suspend: true\n", ""), ""},
		"gated":                    {strings.Replace(job("", ""), "containers:", "schedulingGates: [{name: g}]\n      containers:", 1), ""},
		"names that clash":         {deployment("db", "") + set("", ""), "default/db-0 +pending; default/db-0-statefulset +pending"},
		"being deleted":            {strings.Replace(deployment("web", ""), "{name: web, uid: u}", "{name: web, deletionTimestamp: 2026-01-01T00:00:00Z}", 1), ""},
		"negative":                 {deployment("web", "replicas: -2\n"), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromFiles(t), tc.text)
			check(t, "pods", podList(s), tc.want)
			if live := podList(build(t, fromCluster(t), tc.text)); strings.Contains(live, "-0 ") {
				t.Errorf("in a cluster, whose controllers make pods themselves: %s", live)
			}
		})
	}
}

// Each replica of a StatefulSet has its own claims; existing ones are read, the others follow from
// their templates.
func TestReplicasWithClaims(t *testing.T) {
	t.Parallel()
	text := `---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]
  template:
    spec:
      containers: [{name: c}]
` + strings.Replace(boundTo, "name: data", "name: data-db-0", 1) + volume("", "csi: {driver: ebs.csi.aws.com, volumeHandle: x}\n"+strings.Replace(zonal, "ebs.csi.aws.com", "kubernetes.io", 1)) +
		strings.Replace(class("allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [zone-b]}]}]\n"), "{name: fast}", "{name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}", 1)
	s := build(t, fromFiles(t), text)
	check(t, "pods", podList(s), "default/db-0 +pending; default/db-1 +pending")
	check(t, "the claim that exists", volumeText(s.Templates[s.Pods[0].Template].Volumes), "default/data-db-0 ebs.csi.aws.com topology.kubernetes.io/zone In [zone-a]")
	check(t, "the claim to come", volumeText(s.Templates[s.Pods[1].Template].Volumes), "default/data-db-1 ebs.csi.aws.com topology.kubernetes.io/zone In [zone-b]")
	check(t, "refused", s.Pods[0].Refused.Text()+s.Pods[1].Refused.Text(), "")
}

func TestOverlays(t *testing.T) {
	t.Parallel()
	overlay := func(name, spec string) string {
		return "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
	}
	const small, spot = "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [small]}]", "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]"
	none := "small 0.05 0.1 0.11; large 0.4"
	cases := map[string]struct{ text, want string }{
		"none":                     {"", none},
		"an absolute price":        {overlay("a", small+", price: '0.2'"), "small* 0.2 0.2 0.2; large 0.4"},
		"only spot":                {overlay("a", spot+", priceAdjustment: '-10%'"), "small* 0.045 0.1 0.11; large 0.4"},
		"an amount more":           {overlay("a", small+", priceAdjustment: '+0.01'"), "small* 0.06 0.11 0.12; large 0.4"},
		"never below zero":         {overlay("a", small+", priceAdjustment: '-1'"), "small* 0 0 0; large 0.4"},
		"the heavier decides":      {overlay("a", small+", price: '1', weight: 5") + overlay("b", small+", price: '2', weight: 9"), "small* 2 2 2; large 0.4"},
		"each offering its own":    {overlay("a", spot+", price: '1', weight: 5") + overlay("b", small+", price: '2'"), "small* 1 2 2; large 0.4"},
		"conflict":                 {overlay("a", small+", price: '1'") + overlay("b", small+", price: '2'"), "small* 2 2 2; large 0.4"},
		"conflict with a third":    {overlay("a", small+", price: '1', weight: 5") + overlay("b", small+", price: '2', weight: 5") + overlay("c", small+", price: '3', weight: 7"), "small* 3 3 3; large 0.4"},
		"for another pool":         {overlay("a", "requirements: [{key: karpenter.sh/nodepool, operator: In, values: [two]}], price: '1'"), none},
		"for this pool":            {overlay("a", "requirements: [{key: karpenter.sh/nodepool, operator: In, values: [one]}], price: '1'"), "small* 1 1 1; large* 1"},
		"a label that no node has": {overlay("a", "requirements: [{key: rack, operator: Exists}], price: '1'"), none},
		"capacity":                 {overlay("a", small+", capacity: {example.com/widget: 3}"), "small+3 0.05 0.1 0.11; large 0.4"},
		"capacities, ranked":       {overlay("a", small+", capacity: {example.com/widget: 3}, weight: 2") + overlay("b", small+", capacity: {example.com/widget: 4}, weight: 1"), "small+3 0.05 0.1 0.11; large 0.4"},
		"of the same weight":       {overlay("a", small+", capacity: {example.com/widget: 3}") + overlay("b", small+", capacity: {example.com/widget: 4}"), "small+4 0.05 0.1 0.11; large 0.4"},
		"restricted capacity":      {overlay("a", small+", capacity: {cpu: 3}, price: '1'"), none},
		"a restricted label":       {overlay("a", "requirements: [{key: kubernetes.io/hostname, operator: Exists}], price: '1'"), none},
		"being deleted":            {strings.Replace(overlay("a", small+", price: '1'"), "{name: a}", "{name: a, deletionTimestamp: 2026-01-01T00:00:00Z}", 1), none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, fromFiles(t), aPool("one", "")+tc.text)
			check(t, "offers", offerText(&s.Catalogs[s.Pools[0].Catalog]), tc.want)
			off := fromFiles(t)
			off.Overlays = false
			s = build(t, off, aPool("one", "")+tc.text)
			check(t, "offers without the gate", offerText(&s.Catalogs[s.Pools[0].Catalog]), none)
		})
	}
}

func offerText(c *catalog.Catalog) string {
	var out []string
	for i := range c.Types {
		kind := &c.Types[i]
		line := kind.Name
		if kind.PriceOverlay {
			line += "*"
		}
		if kind.CapacityOverlay {
			line += fmt.Sprint("+", kind.Capacity.Get("example.com/widget"))
		}
		for _, o := range kind.Offerings {
			line += " " + o.Price.String()
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// Overlays treat pools alike unless they name them: the changed catalogue is shared.
func TestOverlaysShareCatalogs(t *testing.T) {
	t.Parallel()
	const all = "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: {requirements: [{key: kubernetes.io/arch, operator: Exists}], priceAdjustment: '-50%'}\n"
	const one = "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: b}\nspec: {weight: 3, requirements: [{key: karpenter.sh/nodepool, operator: In, values: [one]}], price: '1'}\n"
	pools := aPool("one", "") + aPool("two", "") + aPool("three", "")
	check(t, "catalogues", len(build(t, fromFiles(t), pools+all).Catalogs), 1)
	check(t, "catalogues with one for itself", len(build(t, fromFiles(t), pools+all+one).Catalogs), 2)
}

// An offering without a price is unavailable until an overlay sets one; an overlay can only adjust
// an existing price.
func TestOverlaysPriceWhatHasNone(t *testing.T) {
	t.Parallel()
	options := fromFiles(t)
	sold := options.Catalog
	options.Catalog = func(pool *karpenterv1.NodePool, class metav1.Object) (*catalog.Catalog, error) {
		found, err := sold(pool, class)
		if err != nil {
			return nil, err
		}
		copied := *found
		copied.Types = slices.Clone(found.Types)
		for i := range copied.Types {
			t := &copied.Types[i]
			t.Offerings = slices.Clone(t.Offerings)
			for j := range t.Offerings {
				o := &t.Offerings[j]
				o.Price, o.Available, o.Unpriced = 0, false, true
			}
		}
		return &copied, nil
	}
	for name, tc := range map[string]struct {
		spec string
		want bool
	}{
		"a price":           {"price: '0.2'", true},
		"a change of price": {"priceAdjustment: '+0.2'", false},
	} {
		s := build(t, options, aPool("one", "")+"---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\n"+
			"spec: {requirements: [{key: kubernetes.io/arch, operator: Exists}], "+tc.spec+"}\n")
		for _, kind := range s.Catalogs[s.Pools[0].Catalog].Types {
			for _, o := range kind.Offerings {
				if o.Available != tc.want || o.Unpriced == tc.want {
					t.Errorf("%s: %s can be had: %t", name, kind.Name, o.Available)
				}
			}
		}
	}
}
