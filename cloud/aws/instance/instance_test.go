package instance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
)

// An instance's fields determine its capacity type; reservations count only if the gate is on.
func TestCapacityTypes(t *testing.T) {
	t.Parallel()
	only := &types.CapacityReservationSpecificationResponse{CapacityReservationPreference: types.CapacityReservationPreferenceCapacityReservationsOnly}
	open := &types.CapacityReservationSpecificationResponse{CapacityReservationPreference: types.CapacityReservationPreferenceOpen}
	cases := map[string]struct {
		instance types.Instance
		gate     bool
		want     string
	}{
		"on demand":             {types.Instance{}, true, "on-demand   false"},
		"spot":                  {types.Instance{SpotInstanceRequestId: aws.String("sir-1")}, true, "spot   false"},
		"reserved":              {types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only}, true, "reserved cr-1 default false"},
		"a block":               {types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only, InstanceLifecycle: "capacity-block"}, true, "reserved cr-1 capacity-block false"},
		"interruptible":         {types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only, InstanceLifecycle: "interruptible-capacity-reservation"}, true, "reserved cr-1 default true"},
		"in an open one":        {types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: open}, true, "on-demand   false"},
		"without the gate":      {types.Instance{CapacityReservationId: aws.String("cr-1"), CapacityReservationSpecification: only}, false, "on-demand   false"},
		"its reservation ended": {types.Instance{CapacityReservationSpecification: only}, true, "on-demand   false"},
	}
	for name, tc := range cases {
		m := instance.Of(tc.instance, tc.gate)
		if got := fmt.Sprint(m.CapacityType, " ", m.Reservation, " ", m.ReservationKind, " ", m.Interruptible); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Parse reads provider IDs as Kubernetes writes them.
func TestProviderID(t *testing.T) {
	t.Parallel()
	zone, id, ok := instance.Parse(instance.ProviderID("us-west-2a", "i-1"))
	if zone != "us-west-2a" || id != "i-1" || !ok {
		t.Errorf("read %s, %s, %t", zone, id, ok)
	}
	for _, text := range []string{"", "aws:///us-west-2a/", "i-1"} {
		if _, _, ok := instance.Parse(text); ok {
			t.Errorf("%q is read as an instance", text)
		}
	}
}

// fakeEC2 holds instances as EC2 describes them; it refuses some by name.
type fakeEC2 struct {
	api.EC2Instances
	mu        sync.Mutex
	instances []types.Instance
	missing   []string
	refused   []string
	calls     int
}

func ec2Instance(id, cluster string) types.Instance {
	return types.Instance{
		InstanceId: &id, Placement: &types.Placement{AvailabilityZone: aws.String("z")}, State: &types.InstanceState{Name: types.InstanceStateNameRunning},
		Tags: []types.Tag{
			{Key: aws.String(awsv1.TagNodePool), Value: aws.String("default")}, {Key: aws.String(awsv1.TagNodeClass), Value: aws.String("class")},
			{Key: aws.String(awsv1.TagClusterName), Value: &cluster}, {Key: aws.String(instance.TagClaimUID), Value: aws.String("uid-" + id)},
		},
	}
}

func (p *fakeEC2) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...api.EC2Options) (*ec2.DescribeInstancesOutput, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	out := &ec2.DescribeInstancesOutput{}
	for _, i := range p.instances {
		for _, f := range in.Filters {
			if *f.Name == "instance-id" && slices.Contains(f.Values, *i.InstanceId) {
				out.Reservations = append(out.Reservations, types.Reservation{Instances: []types.Instance{i}})
			}
		}
	}
	return out, nil
}

func (p *fakeEC2) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...api.EC2Options) (*ec2.TerminateInstancesOutput, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	out := &ec2.TerminateInstancesOutput{}
	for _, id := range in.InstanceIds {
		if slices.Contains(p.missing, id) {
			return nil, &smithy.GenericAPIError{Code: "InvalidInstanceID.NotFound"}
		}
		if slices.Contains(p.refused, id) {
			return nil, &smithy.GenericAPIError{Code: "OperationNotPermitted"}
		}
		out.TerminatingInstances = append(out.TerminatingInstances, types.InstanceStateChange{
			InstanceId: aws.String(id), CurrentState: &types.InstanceState{Name: types.InstanceStateNameShuttingDown},
		})
	}
	return out, nil
}

func clientOf(p *fakeEC2) *instance.Client {
	return instance.NewClient(p, instance.Options{Cluster: "lab", Idle: 20 * time.Millisecond, Longest: time.Second})
}

// A terminated or foreign instance does not hide the others. Tags do not decide whether an instance exists:
// Look finds one that lost any of them. Another cluster's instance gives ErrForeign and not ErrGone.
func TestLook(t *testing.T) {
	t.Parallel()
	p := &fakeEC2{instances: []types.Instance{
		ec2Instance("i-1", "lab"), ec2Instance("i-2", "other"), without(ec2Instance("i-4", "lab"), awsv1.TagNodePool),
		without(ec2Instance("i-5", "lab"), awsv1.TagNodeClass), without(ec2Instance("i-6", "lab"), awsv1.TagClusterName),
	}}
	y := clientOf(p)
	var group sync.WaitGroup
	for id, want := range map[string]error{"i-1": nil, "i-2": instance.ErrForeign, "i-3": instance.ErrGone, "i-4": nil, "i-5": nil, "i-6": nil} {
		group.Go(func() {
			m, err := y.Look(t.Context(), id)
			if !errors.Is(err, want) || err == nil && (m.Instance().ClaimUID != "uid-"+id || m.StateOf() != cloud.Running) {
				t.Errorf("%s: %+v, error %v, want %v", id, m, err, want)
			}
		})
	}
	group.Wait()
}

// without returns an instance that lost a tag.
func without(i types.Instance, key string) types.Instance {
	i.Tags = slices.DeleteFunc(slices.Clone(i.Tags), func(t types.Tag) bool { return *t.Key == key })
	return i
}

// List recognizes an instance by the UID of its claim, or by pool and class together, so that one lost tag
// does not hide it.
func TestOurs(t *testing.T) {
	t.Parallel()
	whole := ec2Instance("i-1", "lab")
	for name, tc := range map[string]struct {
		instance types.Instance
		want     bool
	}{
		"whole":                         {whole, true},
		"the pool is lost":              {without(whole, awsv1.TagNodePool), true},
		"the class is lost":             {without(whole, awsv1.TagNodeClass), true},
		"the token is lost":             {without(whole, instance.TagClaimUID), true},
		"the token and a name are lost": {without(without(whole, instance.TagClaimUID), awsv1.TagNodeClass), false},
		"another cluster's":             {ec2Instance("i-1", "other"), false},
	} {
		if got := instance.Of(tc.instance, false).Ours("lab"); got != tc.want {
			t.Errorf("%s: ours %t, want %t", name, got, tc.want)
		}
	}
}

// If EC2 refuses a call as a whole, the client splits it: each instance gets its own answer. (AWS SDK, ec2 v1.344.0, TerminateInstances:
// "If you specify multiple instances and the request fails (for example, because of a single incorrect instance ID), none of the
// instances are terminated.")
func TestEnd(t *testing.T) {
	t.Parallel()
	p := &fakeEC2{missing: []string{"i-3"}, refused: []string{"i-5"}}
	y := clientOf(p)
	var group sync.WaitGroup
	for n := range 8 {
		id := fmt.Sprintf("i-%d", n)
		group.Go(func() {
			err := y.End(t.Context(), id)
			switch id {
			case "i-3":
				if !errors.Is(err, instance.ErrGone) {
					t.Errorf("%s: error %v, want that it is gone", id, err)
				}
			case "i-5":
				if api.Code(err) != "OperationNotPermitted" {
					t.Errorf("%s: error %v, want the refusal", id, err)
				}
			default:
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	group.Wait()
}
