package ingest_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/core/requirement"
	"tenon/internal/ingest"
)

// halfCore is a template of pods that ask for 500m.
func halfCore() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			NodeName: "elsewhere",
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("500m")}}}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}},
		},
	}
}

func buffer(spec autoscalingv1beta1.CapacityBufferSpec) *autoscalingv1beta1.CapacityBuffer {
	return &autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "spare"}, Spec: spec}
}

func buffered(b *autoscalingv1beta1.CapacityBuffer) *ingest.Index {
	x := ingest.NewIndex()
	x.Put(&corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "half-core"}, Template: halfCore()})
	x.Put(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(7)), Template: halfCore()}})
	x.Put(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}, Spec: appsv1.StatefulSetSpec{Template: halfCore()}})
	x.Put(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "none"}, Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To(int32(0)), Template: halfCore()}})
	x.Put(b)
	return x
}

// What a buffer asks for: "desired = maximum of the candidates; limits caps it at min over limited
// resources of floor(limit/request) of one pod (requested, non-zero resources only; if nothing
// matches no cap); with limits only, that count is used."
func TestWhatBuffersAskFor(t *testing.T) {
	t.Parallel()
	template := &autoscalingv1beta1.LocalObjectRef{Name: "half-core"}
	of := func(group, kind, name string) *autoscalingv1beta1.ScalableRef {
		return &autoscalingv1beta1.ScalableRef{APIGroup: group, Kind: kind, Name: name}
	}
	cores := func(text string) autoscalingv1beta1.Limits {
		return autoscalingv1beta1.Limits{corev1.ResourceCPU: resource.MustParse(text)}
	}
	n := func(n int32) *int32 { return &n }
	for name, tc := range map[string]struct {
		spec    autoscalingv1beta1.CapacityBufferSpec
		pods    int32
		problem string
		reason  string
	}{
		"replicas":                        {spec: autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: template, Replicas: n(3)}, pods: 3},
		"replicas, more than limits bear": {spec: autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: template, Replicas: n(9), Limits: cores("1900m")}, pods: 3},
		"limits alone":                    {spec: autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: template, Limits: cores("2")}, pods: 4},
		"a limit of what no pod requests": {spec: autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: template, Replicas: n(2), Limits: autoscalingv1beta1.Limits{"example.com/gpu": resource.MustParse("1")}}, pods: 2},
		"a share, rounded up":             {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("apps", "Deployment", "web"), Percentage: n(30)}, pods: 3},
		"a share of nearly nothing":       {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("", "StatefulSet", "db"), Percentage: n(0)}, pods: 1},
		"a share of no replicas":          {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("apps", "ReplicaSet", "none"), Percentage: n(50)}, pods: 0},
		"the larger of share and number":  {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("apps", "Deployment", "web"), Percentage: n(100), Replicas: n(2)}, pods: 7},
		"a typing error":                  {spec: autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: template, Replicas: n(2_000_000_000)}, pods: 20_000},
		"no such template":                {spec: autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "x"}, Replicas: n(1)}, reason: "PodTemplateNotFound", problem: `PodTemplate "x" not found`},
		"no such workload":                {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("apps", "Deployment", "x"), Replicas: n(1)}, reason: "ScalableRefNotFound", problem: `Deployment "x" not found`},
		"another group":                   {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("batch", "Deployment", "web"), Replicas: n(1)}, reason: "ResolutionFailed", problem: `unsupported scalableRef API group "batch"`},
		"another kind":                    {spec: autoscalingv1beta1.CapacityBufferSpec{ScalableRef: of("apps", "DaemonSet", "web"), Replicas: n(1)}, reason: "ResolutionFailed", problem: `unsupported kind "DaemonSet"`},
		"nothing":                         {spec: autoscalingv1beta1.CapacityBufferSpec{Replicas: n(1)}, reason: "ResolutionFailed", problem: "Neither podTemplateRef nor scalableRef is set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := buffer(tc.spec)
			room := buffered(b).Room(b)
			if room.Pods != tc.pods || room.Problem != tc.problem || room.Reason != tc.reason {
				t.Errorf("%d pods, %s %s", room.Pods, room.Reason, room.Problem)
			}
		})
	}
}

// The pods that stand for a buffer have the lowest priority, their template's labels, and neither
// its node nor claims for volumes.
func TestBuffersInASnapshot(t *testing.T) {
	t.Parallel()
	b := buffer(autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "half-core"}, Replicas: ptr.To(int32(2))})
	for _, on := range []bool{true, false} {
		tr := ingest.NewTranslator(buffered(b), ingest.Options{Vocabulary: requirement.Core(), Buffers: on})
		got := tr.Buffers()
		if !on {
			if len(got) != 0 {
				t.Errorf("switched off: %v", got)
			}
			continue
		}
		if len(got) != 1 || got[0].Key() != "default/spare" || got[0].Pods != 2 || len(got[0].Refused) > 0 {
			t.Fatalf("got %+v", got)
		}
		made := tr.Templates()[got[0].Template]
		if made.Priority != -2147483648 || made.Labels["app"] != "web" || made.Requests.Get("cpu") != 500 || len(made.Volumes) != 0 || made.Owner != "CapacityBuffer/spare" {
			t.Errorf("template %+v", made)
		}
	}
}
