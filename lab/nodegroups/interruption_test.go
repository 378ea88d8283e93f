package nodegroups

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// A spot instance of a group is interrupted: its pod runs on another node of the group before AWS takes the instance.
func TestASpotInstanceIsInterrupted(t *testing.T) {
	s := tell(t)
	s.groupWith("web", "m5.large", "a", size{0, 0, 5}, func(in *eks.CreateNodegroupInput) { in.CapacityType = ekstypes.CapacityTypesSpot })
	s.modes["web"] = tenonv1alpha1.ModeNative
	s.shown()
	s.deploy("web", 2, "web")
	s.Running("web", 2)
	s.awaitSizes(map[string]int32{"web": 2})
	id := *s.described("web").Instances[0].InstanceId
	// The order counts, not the time: on a busy machine another member may take longer than the usual two minutes.
	if struck := s.aws.Cause(t, fmt.Sprintf(`{"kind":"spot-interruption","notice":"10m","instances":[%q]}`, id)); len(struck) != 1 {
		t.Fatalf("interrupted: %v", struck)
	}
	s.Eventually("the pods run where nothing is interrupted", func(ctx context.Context) (bool, string) {
		on := map[string]bool{}
		for _, pod := range s.Running("web", 2) {
			on[pod.Spec.NodeName] = true
		}
		for _, i := range s.aws.Instances(t) {
			if i.ID == id && on[i.Node] {
				return false, "node " + i.Node + " has a pod"
			}
		}
		return ctx.Err() == nil, ""
	})
	for _, i := range s.aws.Instances(t) {
		if i.ID == id && strings.Contains(i.Why, "Spot") {
			t.Error("AWS took the instance before its pod ran elsewhere")
		}
	}
}
