package trim_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/snapshot"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/ingest"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/trim"
)

// TestDecisionsSeeTheSame: random clusters are translated to the same snapshot from
// trimmed objects as from whole ones.
func TestDecisionsSeeTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		c := randomcluster.World(seed, 25)
		options := c.Options()
		options.Files = false
		want := ingest.Build(c.Listing(), options)
		keeper := trim.NewKeeper(false)
		for _, o := range c.Objects {
			if _, err := keeper.Trim(o); err != nil {
				t.Fatal(err)
			}
		}
		got := ingest.Build(c.Listing(), options)
		if diff := cmp.Diff(bytes(t, want), bytes(t, got)); diff != "" {
			t.Errorf("seed %d (-whole +trimmed):\n%s", seed, diff)
		}
	}
}

func bytes(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var text strings.Builder
	if err := snapshot.Write(&text, s); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestWhatDrainsLookAtStays: grace, priority class, annotations of ours and start time are
// what termination decides by, and whether a pod ends by itself what consolidation does.
func TestWhatDrainsLookAtStays(t *testing.T) {
	t.Parallel()
	grace, now := int64(17), metav1.Now()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"karpenter.sh/do-not-disrupt": "5m", "controller.kubernetes.io/pod-deletion-cost": "3", "autoscaling.x-k8s.io/consume-provisioning-request": "job", "other": "x",
		}, Finalizers: []string{"f"}, DeletionTimestamp: &now},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, PriorityClassName: "system-node-critical", RestartPolicy: corev1.RestartPolicyNever,
			Volumes: []corev1.Volume{
				{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}},
				{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(1, resource.BinarySI)}}},
				{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
			},
			Containers: []corev1.Container{{Name: "c", Image: "large", Env: []corev1.EnvVar{{Name: "x"}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, Message: "long",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "long"}}},
	}
	if _, err := trim.NewKeeper(false).Trim(pod); err != nil {
		t.Fatal(err)
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"karpenter.sh/do-not-disrupt": "5m", "controller.kubernetes.io/pod-deletion-cost": "3", "autoscaling.x-k8s.io/consume-provisioning-request": "job",
		}, Finalizers: []string{"f"}, DeletionTimestamp: &now},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, PriorityClassName: "system-node-critical", RestartPolicy: corev1.RestartPolicyNever,
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}},
				{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}},
				{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
			},
			Containers: []corev1.Container{{Name: "c"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}},
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

// TestClusterAutoscalerStays: no group is changed beside a Cluster Autoscaler, which is known by its image or its command, and whose
// flags say which groups it changes. Of other Deployments no container is kept.
func TestClusterAutoscalerStays(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		container corev1.Container
		want      bool
	}{
		"by its image":         {corev1.Container{Image: "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0", Args: []string{"--nodes=1:9:web"}}, true},
		"by its command":       {corev1.Container{Image: "mirror/ca", Command: []string{"./cluster-autoscaler", "--nodes=1:9:web"}}, true},
		"another Deployment's": {corev1.Container{Image: "web", Command: []string{"web"}}, false},
	} {
		d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{tc.container}}}}}
		if _, err := trim.NewKeeper(false).Trim(d); err != nil {
			t.Fatal(err)
		}
		command, is := clusterautoscaler.CommandOf(d)
		if is != tc.want || is && !slices.Equal(command.Values("nodes"), []string{"1:9:web"}) || !is && len(d.Spec.Template.Spec.Containers) > 0 {
			t.Errorf("%s: read as %t %v, want %t; kept %v", name, is, command, tc.want, d.Spec.Template.Spec.Containers)
		}
	}
}

// TestPodsOfOneOwnerShare: equal parts are the same memory.
func TestPodsOfOneOwnerShare(t *testing.T) {
	t.Parallel()
	yes := true
	make := func(image string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "rs", Kind: "ReplicaSet", Controller: &yes}}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
		}
	}
	keeper := trim.NewKeeper(false)
	a, b := make("one"), make("two")
	for _, p := range []*corev1.Pod{a, b} {
		if _, err := keeper.Trim(p); err != nil {
			t.Fatal(err)
		}
	}
	if &a.Spec.Containers[0] != &b.Spec.Containers[0] {
		t.Error("two pods of one ReplicaSet have containers of their own")
	}
}

// TestNodesAndClaimsShare: what those of one type have in common is the same memory, what they
// do not stays their own, and what is never read goes.
func TestNodesAndClaimsShare(t *testing.T) {
	t.Parallel()
	has := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	keeper := trim.NewKeeper(false)
	node := func(name, cpu string) *corev1.Node {
		n := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelInstanceTypeStable: "large", corev1.LabelHostname: name}},
			Status: corev1.NodeStatus{Capacity: has(cpu), Images: make([]corev1.ContainerImage, 3), NodeInfo: corev1.NodeSystemInfo{KernelVersion: "6"},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Message: "well"}}},
		}
		if _, err := keeper.Trim(n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	a, b, other := node("a", "4"), node("b", "4"), node("c", "8")
	if !same(a.Status.Capacity, b.Status.Capacity) || same(a.Status.Capacity, other.Status.Capacity) {
		t.Error("two nodes have their own memory for what they have in common, or the same for what they have not")
	}
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{corev1.LabelInstanceTypeStable: "large", corev1.LabelHostname: "c"}},
		Status:     corev1.NodeStatus{Capacity: has("8"), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Message: "well"}}},
	}
	if diff := cmp.Diff(want, other); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
	claim := func(name, kind string) *karpenterv1.NodeClaim {
		c := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{karpenterv1.LabelNodePool: "web"}}}
		c.Spec.Requirements = []karpenterv1.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{kind}}}
		if _, err := keeper.Trim(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	x, y, z := claim("x", "large"), claim("y", "large"), claim("z", "small")
	if &x.Spec.Requirements[0] != &y.Spec.Requirements[0] || z.Spec.Requirements[0].Values[0] != "small" {
		t.Error("two claims of a pool have their own memory for the same types, or a third lost its own")
	}
}

// same reports whether two maps are one.
func same(a, b corev1.ResourceList) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// TestStatusesThatSayNothingGo: since Kubernetes 1.33 every container says what it was given.
func TestStatusesThatSayNothingGo(t *testing.T) {
	t.Parallel()
	asked := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
	for name, tc := range map[string]struct {
		given, aside string
		want         int
	}{"as asked": {"1000m", "1", 0}, "resized": {"2", "2", 1}, "being resized": {"1", "2", 1}} {
		given := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.given)}}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: asked}}}, Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodInitialized}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.ContainersReady}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Resources: &given, AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.aside)}}},
		}}
		if _, err := trim.NewKeeper(false).Trim(pod); err != nil {
			t.Fatal(err)
		}
		if got := len(pod.Status.ContainerStatuses); got != tc.want || len(pod.Status.Conditions) != 1 {
			t.Errorf("%s: %d statuses, want %d; conditions %v", name, got, tc.want, pod.Status.Conditions)
		}
	}
}
