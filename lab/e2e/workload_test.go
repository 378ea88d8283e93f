package e2e

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tenon/lab/machine"
)

// teamLabel keeps tests that share the lab apart: a test's pods go to its own nodes.
const teamLabel = "e2e.tenon.dev/team"

// form is a machine for the pods of one test.
func form(team string) machine.Form {
	return machine.Form{CPU: "4", Memory: "16Gi", Labels: map[string]string{teamLabel: team}}
}

func podSpec(team, image string) v1.PodSpec {
	return v1.PodSpec{
		NodeSelector: map[string]string{teamLabel: team},
		Containers: []v1.Container{{
			Name:  "main",
			Image: image,
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("1Gi"),
			}},
		}},
	}
}

func template(team string) v1.PodTemplateSpec {
	return v1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": team}},
		Spec:       podSpec(team, "example.com/web:1"),
	}
}

func deployment(team string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: team},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": team}},
			Template: template(team),
		},
	}
}

func job(team string, annotations map[string]string) *batchv1.Job {
	pod := template(team)
	pod.Annotations = annotations
	pod.Spec.RestartPolicy = v1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: team}, Spec: batchv1.JobSpec{Template: pod}}
}

func budget(team string, minAvailable int) *policyv1.PodDisruptionBudget {
	available := intstr.FromInt(minAvailable)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: team},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &available,
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": team}},
		},
	}
}
