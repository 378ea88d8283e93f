package nodegroups

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/lab/labtest"
)

// When AWS has no instances of a group's type, which no other story uses, its size is lowered to what there is, the object says why, and another group
// gets the pods. The group does not grow for a while, also when AWS has instances again, and is used after that.
func TestAGroupIsSoldOut(t *testing.T) {
	s := tell(t)
	s.native("cheap", "c6i.large", "a", size{0, 0, 5})
	s.native("dear", "c6i.4xlarge", "a", size{0, 0, 5})
	s.shown()
	t.Cleanup(func() { s.aws.Mend(t) })
	s.aws.Cause(t, `{"kind":"no-capacity","instanceTypes":["c6i.large"]}`)
	s.deploy("web", 2, "cheap", "dear")
	s.Running("web", 2)
	s.Eventually("the group says why", func(context.Context) (bool, string) {
		o, _ := s.object("cheap")
		c := meta.FindStatusCondition(o.Status.Conditions, tenonv1alpha1.ConditionBackedOff)
		return o.BackedOff() && c.Reason == "InsufficientInstanceCapacity", fmt.Sprintf("%+v", c)
	})
	s.awaitSizes(map[string]int32{"cheap": 0})
	o, _ := s.object("cheap")
	s.AwaitEvent(o, "ScaleUpFailed", "do not come", "InsufficientInstanceCapacity")
	if n := *s.described("dear").DesiredCapacity; n == 0 || n > 2 {
		t.Errorf("the other group has %d instances for two pods", n)
	}

	s.aws.Mend(t)
	s.deploy("only", 1, "cheap")
	only := s.Lab.AwaitPods(t, s.Namespace, "app=only", 1, labtest.PodPending)[0]
	s.AwaitEvent(&only, "FailedScheduling", "in backoff after failed scale-up")
	if n := *s.described("cheap").DesiredCapacity; n != 0 {
		t.Errorf("the group grew to %d before its time", n)
	}
	o, _ = s.object("cheap")
	before := o.DeepCopy()
	o.Status.Backoff.Until = metav1.Now() // instead of waiting for minutes
	if err := s.Lab.Client.Status().Patch(s.Context(), o, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.Running("only", 1)
	s.awaitSizes(map[string]int32{"cheap": 1})
	o, _ = s.object("cheap")
	if o.BackedOff() || o.Status.Backoff == nil || o.Status.Backoff.Failures != 1 {
		t.Errorf("the group is still backed off, or its failure forgotten: %+v", o.Status.Backoff)
	}
}
