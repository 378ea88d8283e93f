package nodegroup_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"tenon/cloud"
	"tenon/cloud/aws/nodegroup"
	"tenon/cloud/conformance"
)

// TestConformance tries the laws of groups on Auto Scaling groups.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.RunGroups(t, func(*testing.T) conformance.GroupHarness {
		a := newAccount(group("web", nil), group("other", nil))
		r, _ := reader(a, nodegroup.Discovery{Static: []nodegroup.Static{{Name: "web", Min: 1, Max: 4}, {Name: "other", Max: 9}}})
		return conformance.GroupHarness{
			Groups: r, Group: "web",
			Set:     func(n int64) { a.groups[0].DesiredCapacity = aws.Int32(int32(n)) },
			Desired: func() int64 { return int64(*a.groups[0].DesiredCapacity) },
			Writes:  func() int { return a.calls["SetDesiredCapacity"] },
		}
	})
}

// TestResizeFails: an error names the group and a missing permission, and the list that a caller has got does not change.
func TestResizeFails(t *testing.T) {
	t.Parallel()
	a := newAccount(group("web", nil))
	r, _ := reader(a, all)
	before, err := r.Groups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Resize(context.Background(), "web", 2, 3); err != nil || before[0].Desired != 2 {
		t.Errorf("error %v, and the first list has a desired size of %d", err, before[0].Desired)
	}
	a.fail["SetDesiredCapacity web"] = &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
	err = r.Resize(context.Background(), "web", 3, 4)
	if _, changed := errors.AsType[*cloud.GroupChanged](err); err == nil || changed || !strings.Contains(err.Error(), "Auto Scaling group web to 4: a permission is missing, allow the controller autoscaling:SetDesiredCapacity") {
		t.Errorf("error %v", err)
	}
}
