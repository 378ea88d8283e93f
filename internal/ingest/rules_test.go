package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func TestNodeRules(t *testing.T) {
	t.Parallel()
	spec := container + `nodeSelector: {beta.kubernetes.io/arch: arm64, team: red}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions: [{key: failure-domain.beta.kubernetes.io/zone, operator: In, values: [zone-b, zone-a]}]
      - {}
      - matchExpressions: [{key: cores, operator: Gt, values: ['4']}, {key: cores, operator: Lt, values: ['9']}]
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 1, preference: {matchExpressions: [{key: light, operator: Exists}]}}
    - {weight: 50, preference: {matchExpressions: [{key: first, operator: Exists}]}}
    - {weight: 50, preference: {matchExpressions: [{key: second, operator: Exists}]}}
    - {weight: 99, preference: {}}
    - {weight: 99, preference: {matchFields: [{key: metadata.name, operator: In, values: [x]}]}}
`
	got := the(t, build(t, fromCluster(t), podWith(spec)))
	check(t, "selector, aliases spelled right", got.Selector, "kubernetes.io/arch In [arm64], team In [red]")
	check(t, "terms, empty ones left out", sets(got.Terms), "topology.kubernetes.io/zone In [zone-a zone-b] | cores Exists >=5 <=8")
	var preferred []string
	for _, p := range got.Preferred {
		preferred = append(preferred, fmt.Sprint(p.Weight, " ", p.Term))
	}
	check(t, "preferred, heaviest first and stable", strings.Join(preferred, " | "), "50 first Exists | 50 second Exists | 1 light Exists")
}

func TestTolerationsPortsAndPriority(t *testing.T) {
	t.Parallel()
	spec := `priority: 7
tolerations: [{key: a, operator: Exists}, {key: b, value: c, effect: NoSchedule}]
initContainers:
- {name: side, restartPolicy: Always, ports: [{containerPort: 1, hostPort: 9100}]}
- {name: once, ports: [{containerPort: 1, hostPort: 9200}]}
containers:
- {name: c, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 8081, hostIP: 10.0.0.1, protocol: UDP}]}
`
	got := the(t, build(t, fromCluster(t), podWith(spec)))
	check(t, "tolerations", got.Tolerations, "[{a Exists  } {b  c NoSchedule}]")
	check(t, "host ports", got.HostPorts, "[{ 9100 TCP} {10.0.0.1 8081 UDP}]")
	check(t, "priority", got.Priority, 7)
	onHost := the(t, build(t, fromCluster(t), podWith("hostNetwork: true\ncontainers: [{name: c, ports: [{containerPort: 80}]}]\n")))
	check(t, "ports on the host's network", onHost.HostPorts, "[{ 80 TCP}]")
}

func TestPriorityClasses(t *testing.T) {
	t.Parallel()
	const classes = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 100\n" +
		"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: usual}\nvalue: 5\nglobalDefault: true\n"
	for spec, want := range map[string]int{"": 5, "priorityClassName: high\n": 100, "priorityClassName: system-node-critical\n": 2000001000, "priorityClassName: high\npriority: 3\n": 3} {
		check(t, spec, the(t, build(t, fromFiles(t), podWith(container+spec)+classes)).Priority, want)
	}
}

func TestSpreads(t *testing.T) {
	t.Parallel()
	spec := container + `topologySpreadConstraints:
- {maxSkew: 2, topologyKey: failure-domain.beta.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3,
   labelSelector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [b, a]}]}, matchLabelKeys: [app, pod-template-hash, missing]}
- {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, labelSelector: {}}
- {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}
`
	got := the(t, build(t, fromCluster(t), podNamed("p", "labels: {app: web, pod-template-hash: abc}\n", spec))).Spreads
	want := []snapshot.Spread{
		{Key: requirement.KeyZone, MaxSkew: 2, MinDomains: 3, Selector: model.Selector{Expressions: []model.Expression{
			{Key: "app", Operator: "In", Values: []string{"web"}}, // and not twice, although matchLabelKeys names it too
			{Key: "tier", Operator: "In", Values: []string{"a", "b"}},
			{Key: "pod-template-hash", Operator: "In", Values: []string{"abc"}},
		}}},
		{Key: requirement.KeyHostname, MaxSkew: 1, Soft: true, IgnoreNodeAffinity: true, HonorTaints: true, Selector: model.Selector{All: true}},
		{Key: "rack", MaxSkew: 1}, // without a selector it counts nothing
	}
	check(t, "spreads", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
}

// "a pod with no topologySpreadConstraints of its own gets copies of the defaults …
// equality labels of every Service in the namespace whose (non-nil) selector matches the
// pod, merged; then the controller's selector … Nothing deduced → not injected."
func TestDefaultSpreads(t *testing.T) {
	t.Parallel()
	service := func(name, selector string) string {
		return "---\napiVersion: v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: {" + selector + "}\n"
	}
	replicaSet := "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, uid: u}\nspec: {replicas: 0, selector: {matchLabels: {app: web}, matchExpressions: [{key: hash, operator: Exists}]}, template: {}}\n"
	replicator := "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: web-1, uid: u}\nspec: {replicas: 0, selector: {app: other}}\n"
	pod := func(metadata, spec string) string {
		return podNamed("p", metadata+"labels: {app: web, hash: x}\n", container+spec)
	}
	cases := map[string]struct{ text, want string }{
		"nothing deduced":           {pod("", ""), ""},
		"no selector at all":        {pod("", "") + service("s", "type: ExternalName"), ""},
		"a service":                 {pod("", "") + service("s", "selector: {app: web}"), "app In [web]"},
		"a service of others":       {pod("", "") + service("s", "selector: {app: db}"), ""},
		"services, merged":          {pod("", "") + service("s", "selector: {app: web}") + service("t", "selector: {hash: x}"), "app In [web]; hash In [x]"},
		"a ReplicaSet":              {pod(owned("apps/v1", "ReplicaSet", "web-1"), "") + replicaSet, "app In [web]; hash Exists []"},
		"a controller overwrites":   {pod(owned("v1", "ReplicationController", "web-1"), "") + replicator + service("s", "selector: {app: web}"), "app In [other]"},
		"constraints of its own":    {pod("", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]\n") + service("s", "selector: {app: web}"), ""},
		"a Deployment without pods": {deployment("web", "replicas: 1\nselector: {matchLabels: {app: web}}\n"), "app In [web]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := fromFiles(t)
			options.DefaultSpreads = []corev1.TopologySpreadConstraint{{MaxSkew: 3, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway}}
			var got []string
			for _, s := range the(t, build(t, options, tc.text)).Spreads {
				if s.Key != requirement.KeyZone || s.MaxSkew != 3 || !s.Soft {
					continue
				}
				for _, e := range s.Selector.Expressions {
					got = append(got, fmt.Sprintf("%s %s %v", e.Key, e.Operator, e.Values))
				}
			}
			check(t, "deduced", strings.Join(got, "; "), tc.want)
		})
	}
}

// "both absent → pod's namespace; namespaces and/or namespaceSelector union otherwise
// (empty selector = all namespaces)"; matchLabelKeys and mismatchLabelKeys are folded in.
func TestPodAffinity(t *testing.T) {
	t.Parallel()
	const namespaces = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: red, labels: {team: red}}\n" +
		"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: blue, labels: {team: blue}}\n"
	cases := map[string]struct{ term, want string }{
		"own namespace":       {"labelSelector: {matchLabels: {a: b}}", "{zone {false [{a In [b]}]} [default]}"},
		"listed":              {"namespaces: [x, w]", "{zone {false []} [w x]}"},
		"selected":            {"namespaceSelector: {matchLabels: {team: red}}", "{zone {false []} [red]}"},
		"listed and selected": {"namespaces: [x, red], namespaceSelector: {matchLabels: {team: red}}", "{zone {false []} [red x]}"},
		"all":                 {"namespaceSelector: {}, labelSelector: {}", "{zone {true []} [blue default red]}"},
		"nothing selected":    {"namespaceSelector: {matchLabels: {team: green}}", "{zone {false []} []}"},
		"keys":                {"labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [app, missing], mismatchLabelKeys: [tier]", "{zone {false [{a In [b]} {app In [web]} {tier NotIn [front]}]} [default]}"},
		"folded in already":   {"labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}, matchLabelKeys: [app]", "{zone {false [{app In [web]}]} [default]}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := "{topologyKey: zone, " + tc.term + "}"
			spec := fmt.Sprintf("%saffinity:\n  podAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution: [%s]\n"+
				"    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: rack}}, {weight: 9, podAffinityTerm: %s}]\n"+
				"  podAntiAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution: [%s]\n"+
				"    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 9, podAffinityTerm: %s}]\n", container, term, term, term, term)
			got := the(t, build(t, fromCluster(t), namespaces+podNamed("p", "labels: {app: web, tier: front}\n", spec)))
			check(t, "affinity", got.Affinity, "["+tc.want+"]")
			check(t, "anti-affinity", got.AntiAffinity, "["+tc.want+"]")
			check(t, "preferred affinity, heaviest first", got.PreferredAffinity, "[{9 "+tc.want+"} {1 {rack {false []} [default]}}]")
			check(t, "preferred anti-affinity", got.PreferredAntiAffinity, "[{9 "+tc.want+"}]")
		})
	}
}

const (
	claimHead = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, uid: c, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}\n"
	boundTo   = claimHead + "spec: {volumeName: vol}\nstatus: {phase: Bound}\n"
	unbound   = claimHead + "spec: {storageClassName: fast}\nstatus: {phase: Pending}\n"
	mounts    = container + "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: w, emptyDir: {}}]\n"
)

func volume(metadata, spec string) string {
	return "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: vol, " + metadata + "}\nspec:\n" + indented(2, spec)
}

func class(text string) string {
	return "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: ebs.csi.aws.com\n" + text
}

const zonal = "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, operator: In, values: [zone-a]}]}]}}\n"

func TestVolumes(t *testing.T) {
	t.Parallel()
	const later = "volumeBindingMode: WaitForFirstConsumer\n"
	hostTerm := func(more string) string {
		return "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-9]}" + more + "]}]}}\n"
	}
	cases := map[string]struct{ text, want, refused string }{
		"bound, zonal":            {boundTo + volume("", "csi: {driver: ebs.csi.aws.com, volumeHandle: x}\n"+zonal), "default/data ebs.csi.aws.com topology.kubernetes.io/zone In [zone-a]", ""},
		"in-tree, zone by label":  {boundTo + volume("labels: {failure-domain.beta.kubernetes.io/zone: zone-a__zone-b}", "awsElasticBlockStore: {volumeID: x}\n"), "default/data ebs.csi.aws.com topology.kubernetes.io/zone In [zone-a zone-b]", ""},
		"everywhere":              {boundTo + volume("", "nfs: {path: /, server: x}\n"), "default/data  ", ""},
		"local, only its host":    {boundTo + volume("", "local: {path: /x}\n"+hostTerm("")), "default/data  ", ""},
		"local, and a zone":       {boundTo + volume("", "local: {path: /x}\n"+hostTerm(", {key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}")), "default/data  topology.kubernetes.io/zone In [zone-a]", ""},
		"CSI on one host":         {boundTo + volume("", "csi: {driver: d, volumeHandle: x}\n"+hostTerm("")), "default/data d kubernetes.io/hostname In [node-9]", ""},
		"the volume is gone":      {boundTo, "default/data  ", `volume v: persistentvolume "vol" not found`},
		"the volume is leaving":   {boundTo + volume("deletionTimestamp: 2026-01-01T00:00:00Z", "nfs: {path: /, server: x}\n"), "default/data  ", "volume v: persistentvolume is being deleted"},
		"the claim is leaving":    {strings.Replace(boundTo, "uid: c,", "deletionTimestamp: 2026-01-01T00:00:00Z,", 1), "default/data  ", "volume v: persistentvolumeclaim is being deleted"},
		"lost":                    {strings.Replace(boundTo, "Bound", "Lost", 1), "default/data  ", "volume v: persistentvolumeclaim bound to non-existent persistentvolume"},
		"not bound yet":           {strings.Replace(boundTo, "pv.kubernetes.io/bind-completed: 'yes'", "a: b", 1) + volume("", "nfs: {path: /, server: x}\n"), "default/data  ", "volume v: pvc is considered unbound because it does not contain annotation"},
		"unbound":                 {unbound + class(later), "default/data ebs.csi.aws.com ", ""},
		"unbound, allowed places": {unbound + class(later+"allowedTopologies: [{matchLabelExpressions: [{key: topology.ebs.csi.aws.com/zone, values: [zone-b]}]}, {matchLabelExpressions: [{key: rack, values: [r1, r2]}]}]\n"), "default/data ebs.csi.aws.com topology.kubernetes.io/zone In [zone-b] | rack In [r1 r2]", ""},
		"unbound, in-tree":        {unbound + strings.Replace(class(later), "ebs.csi.aws.com", "kubernetes.io/gce-pd", 1), "default/data pd.csi.storage.gke.io ", ""},
		"binds at once":           {unbound + class("volumeBindingMode: Immediate\n"), "default/data  ", "volume v: pvc with immediate volume binding mode must be bound"},
		"no class":                {strings.Replace(unbound, "storageClassName: fast", "", 1), "default/data  ", "volume v: unbound pvc must define a storage class"},
		"a lost class":            {unbound, "default/data  ", `volume v: storageclass "fast" not found`},
		"an unsupported driver":   {unbound + strings.Replace(class(later), "ebs.csi.aws.com", "old.example.com", 1), "default/data old.example.com ", "volume v: provisioner is not supported"},
		"an unsupported key":      {unbound + class(later+"allowedTopologies: [{matchLabelExpressions: [{key: bad, values: [x]}]}]\n"), "default/data ebs.csi.aws.com ", "volume v: storage class uses unsupported topology key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := fromCluster(t)
			options.Vocabulary = options.Vocabulary.With(requirement.Words{Aliases: map[string]string{"topology.ebs.csi.aws.com/zone": requirement.KeyZone}})
			options.UnsupportedDrivers = requirement.NewKeySet("old.example.com")
			options.UnsupportedTopologyKeys = requirement.NewKeySet("bad")
			s := build(t, options, podWith(mounts)+tc.text)
			check(t, "volumes", volumeText(the(t, s).Volumes), tc.want)
			check(t, "refused", s.Pods[0].Refused.Text(), tc.refused)
		})
	}
}

func volumeText(list []snapshot.Volume) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%s %s %s", v.ID, v.Driver, sets(v.Terms)))
	}
	return strings.Join(out, "; ")
}

// "ephemeral volumes resolve to <pod>-<volume>"
func TestEphemeralVolumes(t *testing.T) {
	t.Parallel()
	spec := container + "volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}]\n"
	storage := class("volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [zone-b]}]}]\n")
	made := strings.Replace(unbound, "name: data", "name: p-scratch", 1)
	const want = "default/p-scratch ebs.csi.aws.com topology.kubernetes.io/zone In [zone-b]"

	live := build(t, fromCluster(t), podWith(spec)+storage+made)
	check(t, "with its claim", volumeText(the(t, live).Volumes), want)
	missing := build(t, fromCluster(t), podWith(spec)+storage)
	check(t, "before its claim is made", missing.Pods[0].Refused.Text(), `volume scratch: persistentvolumeclaim "p-scratch" not found`)
	file := build(t, fromFiles(t), podWith(spec)+storage)
	check(t, "in files, by its template", volumeText(the(t, file).Volumes), want)
	check(t, "refused", file.Pods[0].Refused.Text(), "")
}

// Pods of one workload with claims of their own have templates of their own.
func TestVolumesTellTemplatesApart(t *testing.T) {
	t.Parallel()
	pods := podNamed("a", "", mounts) + podNamed("b", "", strings.Replace(mounts, "claimName: data", "claimName: other", 1)) + podNamed("c", "", mounts)
	s := build(t, fromCluster(t), pods+boundTo+strings.Replace(boundTo, "name: data", "name: other", 1)+volume("", "nfs: {path: /, server: x}\n"))
	var got []snapshot.TemplateIndex
	for _, p := range s.Pods {
		got = append(got, p.Template)
	}
	check(t, "templates", got, "[0 1 0]")
}
