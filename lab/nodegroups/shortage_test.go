package nodegroups

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// When AWS has no instances of a group's type, which no other story uses, its size is lowered to what there is, the object says why, and another group
// gets the pods.
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
}
