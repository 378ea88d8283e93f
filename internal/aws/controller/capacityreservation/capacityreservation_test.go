package capacityreservation_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/aws/controller/capacityreservation"
	"tenon/internal/testing/harness"
)

type ledger map[string]bool

func (l ledger) Expiring(_ context.Context, id string) (bool, error) { return l[id], nil }

// listed is a cloud with instances that a test thinks up.
type listed struct {
	cloud.Provider
	instances []cloud.Instance
}

func (l listed) List(context.Context) ([]cloud.Instance, error) { return l.instances, nil }

func reserved(id string) func(*karpenterv1.NodeClaim) {
	return func(c *karpenterv1.NodeClaim) {
		c.Labels[karpenterv1.LabelCapacityType] = "reserved"
		c.Labels[awsv1.LabelCapacityReservationID] = id
		c.Labels[awsv1.LabelCapacityReservationType] = "default"
		c.Labels[awsv1.LabelCapacityReservationInterruptible] = "false"
		c.Status.ProviderID = "aws:///a/" + c.Name
	}
}

// A claim and its node say so when EC2 has taken the instance out of its reservation.
func TestDemotion(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Named("left", "web", reserved("cr-1"))
	r.Named("stays", "web", reserved("cr-1"))
	r.Must(r.API.Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "left", Labels: map[string]string{
			karpenterv1.LabelRegistered: "true", karpenterv1.LabelCapacityType: "reserved", awsv1.LabelCapacityReservationID: "cr-1",
		}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///a/left"},
	}))
	instances := []cloud.Instance{
		{ProviderID: "aws:///a/left", Offer: cloud.Offer{CapacityType: "on-demand"}},
		{ProviderID: "aws:///a/stays", Offer: cloud.Offer{CapacityType: "reserved", Reservation: "cr-1"}},
	}
	r.Cloud(func(p cloud.Provider) cloud.Provider { return listed{p, instances} })
	r.Run(capacityreservation.New(r.Kit, ledger{})[0], "")
	of := func(labels map[string]string) map[string]string {
		kept := map[string]string{}
		for _, key := range []string{karpenterv1.LabelCapacityType, awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible} {
			if value, there := labels[key]; there {
				kept[key] = value
			}
		}
		return kept
	}
	want := map[string]string{karpenterv1.LabelCapacityType: "on-demand", awsv1.LabelCapacityReservationInterruptible: "false"}
	if diff := cmp.Diff(want, of(r.Claim("left").Labels)); diff != "" {
		t.Errorf("claim (-want +got):\n%s", diff)
	}
	var node corev1.Node
	r.Get("left", &node)
	if node.Labels[karpenterv1.LabelCapacityType] != "on-demand" || node.Labels[awsv1.LabelCapacityReservationID] != "" {
		t.Errorf("node %v", node.Labels)
	}
	if got := r.Claim("stays").Labels[karpenterv1.LabelCapacityType]; got != "reserved" {
		t.Errorf("a claim that stays is %s", got)
	}
}

// Claims in a block that ends are deleted, and no others.
func TestExpiration(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Named("ends", "web", reserved("cr-1"))
	r.Named("lasts", "web", reserved("cr-2"))
	r.Named("plain", "web")
	r.Run(capacityreservation.New(r.Kit, ledger{"cr-1": true})[1], "")
	for name, want := range map[string]bool{"ends": false, "lasts": true, "plain": true} {
		var claim karpenterv1.NodeClaim
		if there := r.Get(name, &claim) && claim.DeletionTimestamp.IsZero(); there != want {
			t.Errorf("claim %s is there: %t, want %t", name, there, want)
		}
	}
}

// Without reservations instances are not listed.
func TestNothingReserved(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Named("plain", "web")
	r.Cloud(func(p cloud.Provider) cloud.Provider { return unlisted{p, t} })
	if got := r.Run(capacityreservation.New(r.Kit, ledger{})[0], ""); got.After != time.Minute {
		t.Errorf("looks again after %s", got.After)
	}
}

// unlisted is a cloud that refuses to list.
type unlisted struct {
	cloud.Provider
	t *testing.T
}

func (u unlisted) List(context.Context) ([]cloud.Instance, error) {
	u.t.Error("lists the instances")
	return nil, nil
}
