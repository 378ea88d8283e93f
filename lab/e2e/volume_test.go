package e2e

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/lab/labtest"
)

func TestAVolumeIsMadeAndAttachedWhereItsPodRuns(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	namespace := lab.Namespace(t)
	machines := form("stateful")
	machines.Zone = "zone-v"
	lab.Nodes(t, machines, "stateful-1")
	create(t, lab, namespace, &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: v1.PersistentVolumeClaimSpec{
			AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources:   v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	})
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stateful", Labels: map[string]string{"app": "stateful"}},
		Spec:       podSpec("stateful", "example.com/db:1"),
	}
	pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	create(t, lab, namespace, pod)
	lab.AwaitPods(t, namespace, "app=stateful", 1, labtest.PodReady)

	claim := &v1.PersistentVolumeClaim{}
	if err := lab.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "data"}, claim); err != nil {
		t.Fatal(err)
	}
	if class := claim.Spec.StorageClassName; class == nil || *class != "gp3" {
		t.Errorf("the class is %v, want the default, gp3", class)
	}
	lab.Eventually(t, "the volume is attached", func(ctx context.Context) (bool, string) {
		attachments, err := lab.Clients.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, a := range attachments.Items {
			if name := a.Spec.Source.PersistentVolumeName; name != nil && *name == claim.Spec.VolumeName {
				return a.Status.Attached && a.Spec.NodeName == "stateful-1", fmt.Sprintf("%+v", a.Status)
			}
		}
		return false, fmt.Sprintf("none of %d attachments is of volume %s", len(attachments.Items), claim.Spec.VolumeName)
	})
}
