package world_test

import (
	"fmt"
	"maps"
	"runtime"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"

	"tenon/core/catalog"
	"tenon/internal/ingest"
	"tenon/internal/trim"
	"tenon/internal/world"
)

// The benchmarks use a cluster as large as the largest that people run.
const (
	manyNodes = 2_000
	manyPods  = 60_000
	manySets  = 400
	manyPools = 10
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// region is a large cluster as its watches report it.
type region struct {
	world  *world.World
	keeper *trim.Keeper
	offers *catalog.Catalog
}

func newRegion() *region {
	built := instancetype.Build(instancetype.Defaults("us-west-2"))
	r := &region{
		world:  world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon)),
		keeper: trim.NewKeeper(false), offers: &built.Catalog,
	}
	for i := range manyPools {
		r.put(pool(i))
	}
	for i := range manySets {
		r.put(set(i))
	}
	for i := range manyNodes {
		r.put(claim(i))
		r.put(node(i))
	}
	for i := range manyPods {
		r.put(pod(i, fmt.Sprintf("node-%d", i%manyNodes)))
	}
	return r
}

// put reports an object as a cache does: trimmed.
func (r *region) put(o any) {
	trimmed, err := r.keeper.Trim(o)
	if err != nil {
		panic(err)
	}
	r.world.Put(trimmed)
}

// moment returns what the pools can buy, at noon.
func (r *region) moment() world.Moment {
	market := map[string]world.Sale{}
	for i := range manyPools {
		market[fmt.Sprintf("pool-%d", i)] = world.Sale{Catalog: r.offers}
	}
	return world.Moment{Now: noon, Market: market}
}

func pool(i int) *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pool-%d", i), UID: types.UID(fmt.Sprint("pool", i)), ResourceVersion: "1"}}
	p.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	return p
}

func set(i int) *appsv1.ReplicaSet {
	want := int32(manyPods / manySets)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("set-%d", i), UID: types.UID(fmt.Sprint("set", i)), ResourceVersion: "1"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &want, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}},
	}
}

func nodeLabels(i int) map[string]string {
	return map[string]string{
		karpenterv1.LabelNodePool: fmt.Sprintf("pool-%d", i%manyPools), karpenterv1.LabelRegistered: "true", karpenterv1.LabelInitialized: "true",
		karpenterv1.LabelCapacityType: "on-demand", corev1.LabelInstanceTypeStable: "m5.4xlarge", corev1.LabelTopologyZone: "us-west-2a",
		corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelHostname: fmt.Sprintf("node-%d", i),
		"karpenter.k8s.aws/instance-family": "m5", "karpenter.k8s.aws/instance-category": "m", "karpenter.k8s.aws/instance-generation": "5",
		"karpenter.k8s.aws/instance-cpu": "16", "karpenter.k8s.aws/instance-memory": "65536", "karpenter.k8s.aws/ec2nodeclass": "default",
	}
}

func room() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("15890m"), corev1.ResourceMemory: resource.MustParse("57Gi"), corev1.ResourcePods: resource.MustParse("234")}
}

func claim(i int) *karpenterv1.NodeClaim {
	c := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("claim-%d", i), UID: types.UID(fmt.Sprint("claim", i)), ResourceVersion: "1", Labels: nodeLabels(i)}}
	c.Status.ProviderID, c.Status.NodeName = fmt.Sprintf("aws:///us-west-2a/i-%d", i), fmt.Sprintf("node-%d", i)
	c.Status.Capacity, c.Status.Allocatable = room(), room()
	return c
}

func node(i int) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), UID: types.UID(fmt.Sprint("node", i)), ResourceVersion: "1", Labels: nodeLabels(i)}}
	n.Spec.ProviderID = fmt.Sprintf("aws:///us-west-2a/i-%d", i)
	n.Status.Capacity, n.Status.Allocatable = room(), room()
	return n
}

func pod(i int, on string) *corev1.Pod {
	yes, s := true, i%manySets
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprintf("set-%d-7d9c8b6f5-%05d", s, i), UID: types.UID(fmt.Sprintf("7b9f1c52-0d0c-4a3e-9c1a-%012d", i)), ResourceVersion: fmt.Sprint(i),
			CreationTimestamp: metav1.NewTime(noon), Labels: map[string]string{"app": fmt.Sprint(s), "pod-template-hash": "7d9c8b6f5", "team": "shop"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("set-%d", s), UID: types.UID(fmt.Sprint("set", s)), Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName: on, SchedulerName: corev1.DefaultSchedulerName,
			Containers: []corev1.Container{{Name: "app", Image: "registry.example.com/shop/app:v1.2.3",
				Env:       []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(100+10*(s%40)), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("512Mi")}}}},
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}},
	}
}

// BenchmarkPictureAfterOneChange measures how long a decision waits for its picture in a cluster of 2,000
// nodes and 60,000 pods after one object has changed. MiB is the memory of everything together: the
// trimmed objects, as a cache holds them, the world, and the copies of two readers.
func BenchmarkPictureAfterOneChange(b *testing.B) {
	before := heap()
	r := newRegion()
	reader, other := r.world.Reader(), r.world.Reader()
	reader.Picture(r.moment())
	other.Picture(r.moment())
	held := float64(heap()-before) / (1 << 20)
	on := func(i int) string { return fmt.Sprintf("node-%d", i%manyNodes) }
	picture := func() { reader.Picture(r.moment()) }
	cases := []struct {
		name   string
		change func(i int)
		look   func()
	}{
		{"a pod is bound", func(i int) { r.put(pod(i%manyPods, on(i+1))) }, picture},
		{"a pod takes another's place", func(i int) {
			r.world.Remove(pod((i+manyPods/2)%manyPods, on(i)))
			r.put(pod(manyPods+i, on(i)))
			r.put(pod((i+manyPods/2-1)%manyPods, on(i)))
			r.world.Remove(pod(manyPods+i-1, on(i)))
		}, picture},
		{"a node changes", func(i int) { r.put(changed(node(i%manyNodes), i)) }, picture},
		{"a claim changes", func(i int) { r.put(changed(claim(i%manyNodes), i)) }, picture},
		{"a node comes with its claim", func(i int) {
			r.put(claim(manyNodes + i))
			r.put(node(manyNodes + i))
		}, picture},
		{"a pod is bound, for good", func(i int) { r.put(pod(i%manyPods, on(i+1))) }, func() { r.world.Picture(r.moment()) }},
	}
	for _, tc := range cases {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			var worked time.Duration
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				tc.change(i)
				begun := processor()
				b.StartTimer()
				tc.look()
				worked += processor() - begun
			}
			b.ReportMetric(held, "MiB")
			b.ReportMetric(worked.Seconds()*1e3/float64(b.N), "cpu-ms/op") // a busy machine does not change it
		})
	}
	runtime.KeepAlive(other)
}

// changed returns an object with a label that it did not have before.
func changed[T metav1.Object](o T, i int) T {
	labels := maps.Clone(o.GetLabels())
	labels["round"] = fmt.Sprint(i)
	o.SetLabels(labels)
	o.SetResourceVersion(fmt.Sprint("changed-", i))
	return o
}

// processor returns the processor time of this process, garbage collection included.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
