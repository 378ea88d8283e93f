package nodegroups

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
)

// ask makes a ProvisioningRequest for the pods of a deployment that comes later, and returns it with that deployment.
func (s *story) ask(name, class string, pods int32, group string) (*autoscalingv1.ProvisioningRequest, *appsv1.Deployment) {
	s.Helper()
	d := s.deployment(name, pods, func(*v1.PodSpec) {}, group)
	d.Spec.Template.Annotations = map[string]string{autoscalingv1.AnnotationConsume: name, autoscalingv1.AnnotationClass: class}
	named := metav1.ObjectMeta{Namespace: s.Namespace, Name: name}
	s.Create(&v1.PodTemplate{ObjectMeta: named, Template: d.Spec.Template})
	r := &autoscalingv1.ProvisioningRequest{ObjectMeta: named, Spec: autoscalingv1.ProvisioningRequestSpec{
		ProvisioningClassName: class, PodSets: []autoscalingv1.PodSet{{PodTemplateRef: autoscalingv1.Reference{Name: name}, Count: pods}},
	}}
	s.Create(r)
	return r, d
}

// A request that only checks finds no room in an empty group. One that may launch nodes and is too large for the group gets
// none; one that is not gets all of its instances with one write, and its pods run there. Once they do, the booking is over.
func TestProvisioningRequests(t *testing.T) {
	s := tell(t)
	s.native("jobs", "m5.large", "a", size{0, 0, 3})
	s.shown()
	look, _ := s.ask("look", autoscalingv1.ClassCheckCapacity, 1, "jobs")
	s.AwaitCondition(look, autoscalingv1.ConditionProvisioned, metav1.ConditionFalse, "1 of 1 pods have no room on nodes that there are")
	large, _ := s.ask("large", autoscalingv1.ClassBestEffortAtomic, 4, "jobs")
	s.AwaitCondition(large, autoscalingv1.ConditionProvisioned, metav1.ConditionFalse, "1 of 4 pods have no room")
	if n := s.changes(); n != 0 {
		t.Errorf("%d writes of the size for requests without room", n)
	}
	job, pods := s.ask("job", autoscalingv1.ClassBestEffortAtomic, 3, "jobs")
	s.AwaitCondition(job, autoscalingv1.ConditionProvisioned, metav1.ConditionTrue, "Nodes are launched for 3 of 3 pods")
	s.awaitSizes(map[string]int32{"jobs": 3})
	s.Create(pods)
	s.Running("job", 3)
	s.AwaitCondition(job, autoscalingv1.ConditionBookingExpired, metav1.ConditionTrue, "All 3 pods use the room")
	if n := s.changes(); n != 1 {
		t.Errorf("%d writes of the size, want 1", n)
	}
}
