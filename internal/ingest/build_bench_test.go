package ingest

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/core/requirement"
)

// deployedPods are pods of workloads with all usual fields, each object with its own copy of
// everything, as decoders make them.
func deployedPods(n, workloads int) []*corev1.Pod {
	yes := true
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		app := fmt.Sprintf("app-%03d", i%workloads)
		requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprintf("%dm", 100+10*(i%workloads))), corev1.ResourceMemory: resource.MustParse("256Mi")}
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: fmt.Sprintf("%s-5d8f9c-%06d", app, i), UID: types.UID(fmt.Sprint("uid-", i)),
				Labels:          map[string]string{"app": app, "pod-template-hash": "5d8f9c", "app.kubernetes.io/part-of": "shop"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-5d8f9c", Controller: &yes}},
			},
			Spec: corev1.PodSpec{
				Containers:  []corev1.Container{{Name: "app", Image: "app", Resources: corev1.ResourceRequirements{Requests: requests}}},
				Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
				}},
				Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
					}}},
				}}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
			}},
		}
	}
	return pods
}

// BenchmarkBuild ingests 100,000 pending pods of 500 workloads.
func BenchmarkBuild(b *testing.B) {
	objects := &Objects{Pods: deployedPods(100_000, 500)}
	options := Options{Vocabulary: requirement.Core()}
	b.ReportAllocs()
	for b.Loop() {
		if s := Build(objects, options); len(s.Templates) != 500 || len(s.Pods) != 100_000 {
			b.Fatalf("%d templates, %d pods", len(s.Templates), len(s.Pods))
		}
	}
}
