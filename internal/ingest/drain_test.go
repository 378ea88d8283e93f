package ingest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// The facts for Cluster Autoscaler's rules about a pod come from the pod, its controller and the
// budgets.
func TestDrainFacts(t *testing.T) {
	t.Parallel()
	controlled := func(apiVersion, kind, name string) func(*corev1.Pod) {
		yes := true
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "uid-web", Controller: &yes}}
		}
	}
	replica := controlled("apps/v1", "ReplicaSet", "web")
	annotated := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, "cluster-autoscaler.kubernetes.io/"+key, value)
		}
	}
	volume := func(name string, source corev1.VolumeSource) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		}
	}
	scratch := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	in := func(namespace string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Namespace = namespace } }
	priority := func(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	at := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	one := int32(1)
	few := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "few", UID: "uid-web"}, Spec: appsv1.ReplicaSetSpec{Replicas: &one}}
	cases := map[string]struct {
		pod  []func(*corev1.Pod)
		want *snapshot.DrainFacts
	}{
		"a replica":                    {pod: []func(*corev1.Pod){replica}},
		"one of a StatefulSet":         {pod: []func(*corev1.Pod){controlled("apps/v1", "StatefulSet", "db")}},
		"no controller":                {want: &snapshot.DrainFacts{Bare: true}},
		"a controller of another kind": {pod: []func(*corev1.Pod){controlled("example.com/v1", "Game", "chess")}, want: &snapshot.DrainFacts{Custom: true}},
		"a ReplicaSet that is gone":    {pod: []func(*corev1.Pod){controlled("apps/v1", "ReplicaSet", "old")}, want: &snapshot.DrainFacts{Orphaned: true}},
		"a low priority":               {pod: []func(*corev1.Pod){replica, priority(-10)}},
		"one below the cutoff":         {pod: []func(*corev1.Pod){replica, priority(-11)}, want: &snapshot.DrainFacts{Expendable: true}},
		"few replicas":                 {pod: []func(*corev1.Pod){controlled("apps/v1", "ReplicaSet", "few")}, want: &snapshot.DrainFacts{Counted: true, Replicas: 1}},
		"a daemon":                     {pod: []func(*corev1.Pod){controlled("apps/v1", "DaemonSet", "log")}, want: &snapshot.DrainFacts{Custom: true, Daemon: true}},
		"one that only says so":        {pod: []func(*corev1.Pod){annotated("daemonset-pod", "true")}, want: &snapshot.DrainFacts{Bare: true, Daemon: true}},
		"a mirror":                     {pod: []func(*corev1.Pod){controlled("v1", "Node", "n")}, want: &snapshot.DrainFacts{Custom: true, Mirror: true}},
		"an annotation":                {pod: []func(*corev1.Pod){replica, annotated("safe-to-evict", "on-completion")}, want: &snapshot.DrainFacts{SafeToEvict: "on-completion"}},
		"kube-system":                  {pod: []func(*corev1.Pod){replica, controlled("batch/v1", "Job", "j"), in("kube-system")}, want: &snapshot.DrainFacts{System: true}},
		"kube-system with a budget":    {pod: []func(*corev1.Pod){controlled("batch/v1", "Job", "j"), in("kube-system"), func(p *corev1.Pod) { p.Labels = map[string]string{"app": "dns"} }}},
		"a directory":                  {pod: []func(*corev1.Pod){replica, volume("tmp", scratch)}, want: &snapshot.DrainFacts{Local: true}},
		"one in memory":                {pod: []func(*corev1.Pod){replica, volume("tmp", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}})}},
		"one of the node":              {pod: []func(*corev1.Pod){replica, volume("host", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}})}, want: &snapshot.DrainFacts{Local: true}},
		"all given up":                 {pod: []func(*corev1.Pod){replica, volume("a", scratch), volume("b", scratch), annotated("safe-to-evict-local-volumes", "b,a")}},
		"one not given up":             {pod: []func(*corev1.Pod){replica, volume("a", scratch), volume("b", scratch), annotated("safe-to-evict-local-volumes", "a, b")}, want: &snapshot.DrainFacts{Local: true}},
		"one that is being deleted":    {pod: []func(*corev1.Pod){func(p *corev1.Pod) { p.DeletionTimestamp = &at }}, want: &snapshot.DrainFacts{Bare: true, Overdue: at.Add(30 * time.Second)}},
		"one that has ended":           {pod: []func(*corev1.Pod){func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }}, want: &snapshot.DrainFacts{Bare: true, Ended: true}},
		"one that succeeds, to go on":  {pod: []func(*corev1.Pod){func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }}, want: &snapshot.DrainFacts{Bare: true}},
		"one that succeeds, for the end": {pod: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.Phase, p.Spec.RestartPolicy = corev1.PodSucceeded, corev1.RestartPolicyNever
		}}, want: &snapshot.DrainFacts{Bare: true, Ended: true}},
	}
	index := ingest.NewIndex()
	index.Put(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"}, Spec: appsv1.ReplicaSetSpec{Replicas: func() *int32 { n := int32(2); return &n }()}})
	index.Put(few)
	index.Put(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "dns"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "dns"}}}})
	rules := &snapshot.ScaleDown{Drain: snapshot.DrainRules{MinReplicaCount: 2, ExpendableBelow: -10}}
	for name, tc := range cases {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
		for _, change := range tc.pod {
			change(pod)
		}
		if diff := cmp.Diff(tc.want, ingest.NewTranslator(index, ingest.Options{ScaleDown: rules}).Tie(pod).Drain); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if ingest.NewTranslator(index, ingest.Options{}).Tie(pod).Drain != nil {
			t.Errorf("%s: facts where no group asks for them", name)
		}
	}
}
