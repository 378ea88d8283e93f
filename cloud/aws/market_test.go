package aws

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	"tenon/cloud"
)

// For a claim whose class has no subnets, the error names the subnets and not the instance types.
func TestNoSubnets(t *testing.T) {
	t.Parallel()
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1}}
	class.Status.Conditions = []metav1.Condition{{Type: condition.Ready, Status: metav1.ConditionTrue, Reason: condition.Ready, ObservedGeneration: 1}}
	p := &Provider{class: func(context.Context, string) (*awsv1.EC2NodeClass, error) { return class, nil }}
	_, err := p.facts(t.Context(), cloud.ClassRef{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: "default"})
	if rejected, is := errors.AsType[*cloud.Rejected](err); !is || rejected.Reason != "SubnetResolutionFailed" || rejected.Message != "Error getting subnets" {
		t.Errorf("error %v, want SubnetResolutionFailed", err)
	}
}
