package class_test

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
)

// TestPrint: what nodes are made from tells classes apart, and nothing else does.
func TestPrint(t *testing.T) {
	t.Parallel()
	plain := func() *awsv1.EC2NodeClass {
		c := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1}}
		c.Status.AMIs = []awsv1.AMI{{ID: "ami-1"}, {ID: "ami-0"}}
		return c
	}
	print := func(c *awsv1.EC2NodeClass, ref cloud.ClassRef) string {
		t.Helper()
		got, err := reader(t, c).Print(context.Background(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	was := print(plain(), typed.Ref("default"))
	cases := map[string]struct {
		change func(*awsv1.EC2NodeClass)
		same   bool
	}{
		"an order":  {func(c *awsv1.EC2NodeClass) { slices.Reverse(c.Status.AMIs) }, true},
		"nothing":   {func(*awsv1.EC2NodeClass) {}, true},
		"a label":   {func(c *awsv1.EC2NodeClass) { c.Labels = map[string]string{"a": "b"} }, true},
		"an edit":   {func(c *awsv1.EC2NodeClass) { c.Spec.Role = "other" }, false},
		"an image":  {func(c *awsv1.EC2NodeClass) { c.Status.AMIs[0].ID = "ami-2" }, false},
		"a subnet":  {func(c *awsv1.EC2NodeClass) { c.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "a"}} }, false},
		"readiness": {func(c *awsv1.EC2NodeClass) { c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}} }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := plain()
			tc.change(c)
			if got := print(c, typed.Ref("default")); (got == was) != tc.same {
				t.Errorf("%s was %s", got, was)
			}
		})
	}
	for _, ref := range []cloud.ClassRef{typed.Ref("other"), unknown.Ref("default"), {Group: "x", Kind: "Y", Name: "default"}} {
		if got := print(plain(), ref); got != "" {
			t.Errorf("%s, which is not there, has %s", ref, got)
		}
	}
}
