package zonalshift_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/offering"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/zonalshift"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

type watch struct {
	changes []offering.ZoneShift
	err     error
}

func (w watch) Update(context.Context) ([]offering.ZoneShift, error) { return w.changes, w.err }

func pool(name string, requirements ...karpenterv1.Requirement) *karpenterv1.NodePool {
	p := harness.Pool(name)
	p.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
	p.Spec.Template.Spec.Requirements = requirements
	return p
}

// Pools that can have nodes in the zone are told, and no others.
func TestPoolsThatAreTold(t *testing.T) {
	t.Parallel()
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: awsv1.EC2NodeClassStatus{
		Subnets: []awsv1.Subnet{{ID: "subnet-1", Zone: "us-west-2a", ZoneID: "usw2-az1"}, {ID: "subnet-2", Zone: "us-west-2b", ZoneID: "usw2-az2"}},
	}}
	r := harness.New(t, memory.Options{}, class, pool("any"), pool("in-b", harness.Requirement(corev1.LabelTopologyZone, "us-west-2b")),
		pool("old-b", harness.Requirement("failure-domain.beta.kubernetes.io/zone", "us-west-2b")),
		pool("in-az1", harness.Requirement(awsv1.LabelZoneID, "usw2-az1")))
	r.Run(zonalshift.New(r.Kit, watch{changes: []offering.ZoneShift{{ZoneID: "usw2-az1", Active: true}, {ZoneID: "usw2-az2"}, {ZoneID: "usw2-az9", Active: true}}}), "")
	const active = ": Zonal shift detected: offerings in zone us-west-2a (usw2-az1) are unavailable for this NodePool"
	const cleared = ": Zonal shift cleared: offerings in zone us-west-2b (usw2-az2) are restored for this NodePool"
	want := []string{
		"Warning ZonalShiftActive any" + active, "Normal ZonalShiftCleared any" + cleared,
		"Warning ZonalShiftActive in-az1" + active, "Normal ZonalShiftCleared in-b" + cleared, "Normal ZonalShiftCleared old-b" + cleared,
	}
	if diff := cmp.Diff(want, r.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// What cannot be asked is tried again.
func TestErrors(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	if _, err := zonalshift.New(r.Kit, watch{err: errors.New("boom")}).Reconcile(t.Context(), reconcile.Key{}); err == nil {
		t.Error("no error")
	}
}
