package ingest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/ingest/manifest"
)

// arbitrary makes some objects of every kind with arbitrary content, most of it nothing that
// an API server would accept. Names come from a few words, so that objects refer to each
// other.
func arbitrary(seed int64, ofEach int) *ingest.Objects {
	dice := rand.New(rand.NewPCG(uint64(seed), 0))
	out := &ingest.Objects{}
	for range ofEach {
		for _, k := range kinds {
			v := reflect.New(k.of)
			k.fill(dice, v.Elem())
			out.Add(v.Interface().(metav1.Object))
		}
	}
	return out
}

// kind is a kind of objects, and how one is filled.
type kind struct {
	of   reflect.Type
	fill fill
}

// kinds are read only.
var kinds = func() []kind {
	f := &filler{texts: words, fills: map[reflect.Type]fill{}}
	particular(f)
	var out []kind
	for _, o := range []metav1.Object{
		&corev1.Pod{}, &corev1.Pod{}, &corev1.Node{}, &karpenterv1.NodePool{}, &karpenterv1.NodeClaim{}, &karpenterv1alpha1.NodeOverlay{}, &tenonv1alpha1.NodeGroup{},
		&appsv1.DaemonSet{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &batchv1.Job{}, &corev1.ReplicationController{},
		&corev1.Namespace{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{}, &corev1.Service{}, &corev1.LimitRange{}, &corev1.ResourceQuota{},
		&policyv1.PodDisruptionBudget{}, &schedulingv1.PriorityClass{}, &storagev1.StorageClass{}, &storagev1.CSINode{},
	} {
		t := reflect.TypeOf(o).Elem()
		out = append(out, kind{t, f.of(t)})
	}
	return out
}()

var words = []string{
	"", "a", "b", "default", "app", "zone-a", "true", "3", "-1", "99999999999999999999", "not a label/!", "<&\u2028é", "small",
	"karpenter.sh/nodepool", "karpenter.sh/do-not-disrupt", "topology.kubernetes.io/zone", "kubernetes.io/hostname",
	"Deployment", "ReplicaSet", "apps/v1", "DaemonSet", "NoSchedule", "Ready", "True", "100%", "+10%", "cpu", "Container",
}

var quantities = []resource.Quantity{
	resource.MustParse("0"), resource.MustParse("1"), resource.MustParse("100m"), resource.MustParse("1Gi"), resource.MustParse("-3"),
	resource.MustParse("1e30"), resource.MustParse("1n"), resource.MustParse("0.5"), resource.MustParse("9223372036854775807"),
}

// particular adds the rules of types of which arbitrary content would say little.
func particular(f *filler) {
	rule(f, func(dice *rand.Rand, q *resource.Quantity) { *q = quantities[dice.IntN(len(quantities))].DeepCopy() })
	rule(f, func(dice *rand.Rand, t *metav1.Time) { *t = metav1.Unix(dice.Int64N(1<<30), 0) })
	rule(f, func(dice *rand.Rand, d *karpenterv1.NillableDuration) {
		*d = []karpenterv1.NillableDuration{{}, karpenterv1.NeverEnding(), karpenterv1.DurationOf(time.Duration(dice.Int64N(int64(time.Hour))))}[dice.IntN(3)]
	})
	rule(f, func(dice *rand.Rand, s *tenonv1alpha1.NodeGroupSize) {
		*s = tenonv1alpha1.NodeGroupSize{Min: dice.Int64N(4) - 1, Max: dice.Int64N(6) - 1, Desired: dice.Int64N(6) - 1}
	})
	rule(f, func(dice *rand.Rand, i *tenonv1alpha1.NodeGroupInstances) {
		*i = tenonv1alpha1.NodeGroupInstances{Total: dice.Int64N(6) - 1, Ready: dice.Int64N(4) - 1, Unready: dice.Int64N(3), Leaving: dice.Int64N(3)}
	})
	values(f, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist, "?")
	values(f, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
		corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, "Gte", "?")
	values(f, corev1.TolerationOpEqual, corev1.TolerationOpExists, "", "?")
	values(f, corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, "?")
	values(f, tenonv1alpha1.ModeObserve, tenonv1alpha1.ModeNative, tenonv1alpha1.ModeCAS, tenonv1alpha1.ModeHandover, "?")
	// Nothing reads these.
	empty[metav1.ManagedFieldsEntry](f)
	empty[runtime.RawExtension](f)
	empty[corev1.EphemeralContainer](f)
	empty[corev1.Probe](f)
	empty[corev1.Lifecycle](f)
	empty[corev1.EnvVar](f)
	empty[corev1.EnvFromSource](f)
	empty[corev1.SecurityContext](f)
	empty[corev1.PodSecurityContext](f)
	// Volumes are more than half of what pods may have, and a snapshot has nothing of most kinds.
	some(f, reflect.TypeFor[corev1.VolumeSource](), "EmptyDir", "HostPath", "PersistentVolumeClaim", "Ephemeral", "CSI")
	// Pods on nodes that the snapshot does not have are left out: half of the pods have no node.
	spec := f.of(reflect.TypeFor[corev1.PodSpec]())
	rule(f, func(dice *rand.Rand, s *corev1.PodSpec) {
		if spec(dice, reflect.ValueOf(s).Elem()); dice.IntN(2) == 0 {
			s.NodeName = ""
		}
	})
}

// All objects are translated without a panic and without changes to them, and the snapshot can be
// written and read.
func TestBuildArbitraryObjects(t *testing.T) {
	t.Parallel()
	options := fromFiles(t)
	for seed := range int64(50) {
		checkArbitrary(t, options, seed, 4)
	}
}

func FuzzBuild(f *testing.F) {
	options := fromFiles(f)
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) { checkArbitrary(t, options, seed, 1+int(uint64(seed)%2)) }) // more objects cost time, not variety
}

func checkArbitrary(t *testing.T, options ingest.Options, seed int64, ofEach int) {
	t.Helper()
	given := arbitrary(seed, ofEach)
	for _, files := range []bool{false, true} {
		options.Files = files
		options.DefaultSpreads = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}
		first := encoded(t, ingest.Build(given, options))
		if _, err := snapshot.Read(strings.NewReader(first)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := encoded(t, ingest.Build(given, options)); again != first {
			t.Fatalf("seed %d: the same objects gave another snapshot", seed)
		}
	}
	if !reflect.DeepEqual(given, arbitrary(seed, ofEach)) {
		t.Fatalf("seed %d: objects were changed", seed)
	}
}

// everything is a pod that sets every field that a template reads.
const everything = `{
 "apiVersion": "v1", "kind": "Pod",
 "metadata": {"name": "p", "namespace": "red", "labels": {"app": "web", "tier": "front", "stage": "test", "pod-template-hash": "abc"},
  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-abc", "uid": "u", "controller": true}]},
 "spec": {
  "nodeSelector": {"team": "red", "rack": "r1"}, "priorityClassName": "high", "priority": 3, "hostNetwork": false,
  "overhead": {"cpu": "10m"}, "resources": {"requests": {"memory": "1Gi"}}, "resourceClaims": [{"name": "x"}],
  "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}, "ports": [{"containerPort": 9, "hostPort": 99}]}],
  "containers": [{"name": "c", "resources": {"requests": {"cpu": "0.2", "nvidia.com/gpu": "1"}, "claims": [{"name": "x"}]},
    "ports": [{"containerPort": 81}, {"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1", "protocol": "UDP"}]}],
  "tolerations": [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}],
  "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2,
    "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["tier"],
    "labelSelector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}}],
  "affinity": {
   "nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v", "w"]}]}, {"matchExpressions": [{"key": "l", "operator": "Gt", "values": ["1"]}]}]},
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}}, {"weight": 2, "preference": {"matchExpressions": [{"key": "m", "operator": "Exists"}]}}]},
   "podAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "namespaces": ["n"], "labelSelector": {"matchLabels": {"app": "web"}}, "namespaceSelector": {"matchLabels": {"team": "red"}}, "matchLabelKeys": ["stage"], "mismatchLabelKeys": ["tier"]}],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {}}}]},
   "podAntiAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "rack", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {}}}]}}},
 "status": {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "0.2", "nvidia.com/gpu": "1"}}}]}}`

// A fingerprint represents the template: after any change of a pod, translating it after its copy
// gives the same result as translating it alone.
func TestFingerprintsTellTemplatesApart(t *testing.T) {
	t.Parallel()
	index := ingest.NewIndex()
	index.Put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"team": "red"}}})
	index.Put(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 9})
	together := ingest.NewTranslator(index, fromFiles(t))
	different := map[snapshot.TemplateIndex]bool{}
	pods := variations(t, everything)
	for _, less := range []string{`"priority": 3, `, `"resourceClaims": [{"name": "x"}],`, `, "claims": [{"name": "x"}]`} {
		maps.Copy(pods, variations(t, strings.Replace(everything, less, "", 1)))
	}
	pods["no devices"] = variations(t, strings.NewReplacer(`"resourceClaims": [{"name": "x"}],`, "", `, "claims": [{"name": "x"}]`, "").Replace(everything))[fmt.Sprint(len(everything)-len(`"resourceClaims": [{"name": "x"}],`)-len(`, "claims": [{"name": "x"}]`), " nothing")]
	for _, change := range slices.Sorted(maps.Keys(pods)) {
		pod := pods[change]
		want, _ := together.Pod(pod)
		alone := ingest.NewTranslator(index, fromFiles(t))
		got, _ := alone.Pod(pod)
		if a, b := jsonOf(t, together.Templates()[want.Template]), jsonOf(t, alone.Templates()[got.Template]); a != b || !slices.Equal(want.Refused, got.Refused) {
			t.Errorf("%s:\ntogether %s %q\nalone    %s %q", change, a, want.Refused.Text(), b, got.Refused.Text())
		}
		different[want.Template] = true
	}
	if len(pods) < 200 || len(different) < 100 {
		t.Errorf("%d variations gave %d templates: too few to say anything", len(pods), len(different))
	}
}

// variations are the object and copies of it, each changed in one place: another value, or a
// missing field.
func variations(t *testing.T, text string) map[string]*corev1.Pod {
	t.Helper()
	out := map[string]*corev1.Pod{}
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	try := func(change string) {
		pod := &corev1.Pod{}
		if json.Unmarshal([]byte(jsonText(t, tree)), pod) == nil {
			out[fmt.Sprint(len(text), " ", change)] = pod
		}
	}
	try("nothing")
	vary(tree, "", try)
	return out
}

func jsonText(t *testing.T, v any) string {
	text := jsonOf(t, v)
	return text[1 : len(text)-1] // jsonOf makes a list
}

// vary changes the tree in each place in turn, and back.
func vary(tree any, path string, try func(string)) {
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			inner := path + "." + name
			delete(node, name)
			try(inner + " left out")
			for _, other := range others(value) {
				node[name] = other
				try(fmt.Sprint(inner, " = ", other))
			}
			node[name] = value
			vary(value, inner, try)
		}
	case []any:
		for i, value := range node {
			inner := fmt.Sprintf("%s[%d]", path, i)
			for _, other := range others(value) {
				node[i] = other
				try(fmt.Sprint(inner, " = ", other))
			}
			node[i] = value
			vary(value, inner, try)
		}
	}
}

func others(value any) []any {
	switch v := value.(type) {
	case string:
		return []any{v + "0", "NotIn", "Exists", "Never", "ScheduleAnyway", "Honor", "Ignore", "1500m", "7"}
	case float64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case []any:
		return []any{append(append([]any{}, v...), v...), []any{}}
	}
	return nil
}

// FuzzManifest reads arbitrary text and builds a snapshot of its objects.
func FuzzManifest(f *testing.F) {
	options := fromFiles(f)
	f.Add(podWith(container) + aNode + aPool("one", "") + aDaemon("") + deployment("web", "replicas: 2\n"))
	f.Add(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]}`)
	f.Add("---\n--- # x\n...\n---\n- a\n")
	f.Fuzz(func(t *testing.T, text string) {
		found, _, err := manifest.Read([]string{manifest.Stdin}, manifest.Options{Stdin: strings.NewReader(text)})
		if err != nil {
			return
		}
		encoded(t, ingest.Build(found, options))
	})
}
