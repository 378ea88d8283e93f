package nodegroup_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/nodegroup"
	"tenon/internal/testing/harness"
)

// Two instances end at the same time, and the later end is shown first: the size that the cloud keeps now stays. A size that is
// too large would stand for an instance to come, on which pods are planned.
func TestSizesAreShownInTheOrderOfTheCloud(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, &tenonv1alpha1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "web", Mode: tenonv1alpha1.ModeHandover},
		Status: tenonv1alpha1.NodeGroupStatus{
			Size: &tenonv1alpha1.NodeGroupSize{Max: 9, Desired: 3}, Instances: &tenonv1alpha1.NodeGroupInstances{Total: 3, Ready: 1, Unready: 2},
		},
	})
	groups := memory.NewGroups(cloud.Group{Name: "web", Max: 9, Desired: 3, Types: []string{"m5.large"}, Zones: []string{"a"}})
	r.Kit.Groups = groups
	list, err := groups.Groups(t.Context())
	r.Must(err)
	var o tenonv1alpha1.NodeGroup
	r.Get("web", &o)
	var sizes []int64
	for _, i := range list[0].Instances[:2] {
		desired, err := groups.End(t.Context(), "web", i.ProviderID)
		r.Must(err)
		sizes = append(sizes, desired)
	}
	for _, desired := range []int64{sizes[1], sizes[0]} {
		_, err := nodegroup.Show(t.Context(), r.Kit, &o, desired, nodegroup.Shrunk)
		r.Must(err)
	}
	r.Get("web", &o)
	if o.Status.Size.Desired != 1 {
		t.Errorf("%d are shown after sizes %v, want 1", o.Status.Size.Desired, sizes)
	}
	// The counts are those of the same moment: until the group is looked at again, further instances are to come if the size is larger.
	if want := (tenonv1alpha1.NodeGroupInstances{Total: 3, Unready: 1, Leaving: 2}); *o.Status.Instances != want {
		t.Errorf("instances %+v, want %+v", *o.Status.Instances, want)
	}
}
