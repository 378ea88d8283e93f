package aws_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/nodeclass"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// A class becomes ready in front of the emulator, stops being ready when a permission is missing and
// something changes, recovers on its own, and leaves nothing behind.
func TestClassFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	ctx := context.WithoutCancel(t.Context())
	got(s.UpdateTypes(ctx))(t)
	class := nodeClass("al2023@latest")
	r := harness.New(t, memory.Options{}, class)
	r.Kit.Settings.FeatureGates.ReservedCapacity = true
	both := nodeclass.New(r.Kit, s, "Y2E=")
	status := both[0]
	r.Run(both[1], "default")
	look := func() *awsv1.EC2NodeClass {
		t.Helper()
		var now awsv1.EC2NodeClass
		if !r.Get("default", &now) {
			t.Fatal("the class is gone")
		}
		return &now
	}
	settle := func() (again time.Duration, err error) {
		result, err := status.Reconcile(ctx, reconcile.Key{Name: "default"})
		return result.After, err
	}
	says := func(name string) (string, metav1.ConditionStatus) {
		for _, c := range look().Status.Conditions {
			if c.Type == name {
				return c.Reason, c.Status
			}
		}
		return "", metav1.ConditionUnknown
	}

	if again, err := settle(); err != nil || again != time.Minute {
		t.Fatalf("again after %s, %v", again, err)
	}
	if reason, ready := says(condition.Ready); ready != metav1.ConditionTrue {
		t.Fatalf("Ready is %s because of %s: %+v", ready, reason, look().Status.Conditions)
	}

	// Nothing has changed: the verdict holds, and AWS is not asked again.
	before := len(e.Calls().Last())
	if _, err := settle(); err != nil {
		t.Fatal(err)
	}
	if after := len(e.Calls().Last()); after != before {
		t.Errorf("%d calls although nothing has changed", after-before)
	}

	e.cause(`{"kind": "unauthorized", "service": "ec2", "operations": ["CreateFleet"]}`)
	changed := look()
	changed.Spec.Tags = map[string]string{"team": "a"}
	changed.Generation++
	r.Must(r.API.Update(ctx, changed))
	if _, err := settle(); err != nil {
		t.Fatal(err)
	}
	if reason, ok := says(awsv1.ConditionValidationSucceeded); ok != metav1.ConditionFalse || reason != "CreateFleetAuthCheckFailed" {
		t.Errorf("validation is %s because of %q", ok, reason)
	}

	e.Faults().Clear()
	e.pass(6 * time.Minute) // as long as a bad verdict holds
	if _, err := settle(); err != nil {
		t.Fatal(err)
	}
	if _, ready := says(condition.Ready); ready != metav1.ConditionTrue {
		t.Errorf("not ready again: %+v", look().Status.Conditions)
	}

	r.Must(r.API.Delete(ctx, look()))
	if _, err := settle(); err != nil {
		t.Fatal(err)
	}
	if r.Get("default", &awsv1.EC2NodeClass{}) {
		t.Error("the class is still there")
	}
	templates := got(s.Clients.EC2.DescribeLaunchTemplates(ctx, nil))(t)
	profiles := got(s.Profiles.Clean(ctx, nil))(t)
	if len(templates.LaunchTemplates)+len(profiles) > 0 {
		t.Errorf("left behind: %d templates, profiles %v", len(templates.LaunchTemplates), profiles)
	}
}

// While credentials have expired the class keeps its status; it recovers on its own afterwards.
func TestClassWithExpiredCredentials(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, withCluster("1.36"))
	s := inventoryOf(t, e)
	ctx := context.WithoutCancel(t.Context())
	got(s.UpdateTypes(ctx))(t)
	r := harness.New(t, memory.Options{}, nodeClass("bottlerocket@latest"))
	status := nodeclass.New(r.Kit, s, "")[0]
	r.Run(status, "default")
	e.cause(`{"kind": "expired-credentials"}`)
	e.pass(2 * time.Minute)
	if _, err := status.Reconcile(ctx, reconcile.Key{Name: "default"}); err == nil {
		t.Error("no error")
	}
	var class awsv1.EC2NodeClass
	r.Get("default", &class)
	if len(class.Status.Subnets) == 0 || len(class.Status.AMIs) == 0 {
		t.Errorf("the status is lost: %+v", class.Status)
	}
	e.Faults().Clear()
	r.Run(status, "default")
}
