package inventory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/inventory"
)

// service is EKS with one cluster.
type service struct {
	cluster types.Cluster
	asked   int
	err     error
}

func (s *service) DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error) {
	s.asked++
	return &eks.DescribeClusterOutput{Cluster: &s.cluster}, s.err
}

func options(s *service) inventory.ClusterOptions {
	return inventory.ClusterOptions{
		Name: "lab", EKS: s, Clock: clocktesting.NewFakePassiveClock(time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)),
		APIVersion: func(context.Context) (string, error) { return "1.34+", nil },
		DNS:        func(context.Context) (string, error) { return "10.96.0.10", nil },
	}
}

// Cluster asks once for the facts that nodes need, and does not ask for facts in the settings.
func TestFacts(t *testing.T) {
	t.Parallel()
	s := &service{cluster: types.Cluster{
		Endpoint: aws.String("https://lab"), Version: aws.String("1.35"),
		KubernetesNetworkConfig: &types.KubernetesNetworkConfigResponse{ServiceIpv6Cidr: aws.String("fd00::/108")},
	}}
	h := inventory.NewCluster(options(s))
	for range 2 {
		// The AWS SDK says (eks v1.105.3, KubernetesNetworkConfigResponse.ServiceIpv6Cidr): "The CIDR block that Kubernetes pod and service
		// IP addresses are assigned from if you … specified ipv6 for ipFamily when you created the cluster."
		facts, err := h.Facts(t.Context(), awsv1.FamilyAL2023)
		if err != nil || facts.Endpoint != "https://lab" || facts.ServiceCIDR != "fd00::/108" || facts.DNS != "10.96.0.10" || facts.Name != "lab" {
			t.Errorf("facts %+v, %v", facts, err)
		}
	}
	if s.asked != 1 {
		t.Errorf("asked %d times, want once for all", s.asked)
	}
	said := options(s)
	said.Endpoint = "https://said"
	facts, err := inventory.NewCluster(said).Facts(t.Context(), awsv1.FamilyBottlerocket)
	if err != nil || facts.Endpoint != "https://said" || facts.ServiceCIDR != "" || s.asked != 1 {
		t.Errorf("facts %+v, %v, asked %d times", facts, err, s.asked)
	}
}

// The version comes from the source that the setting names, without a trailing plus.
func TestVersion(t *testing.T) {
	t.Parallel()
	s := &service{cluster: types.Cluster{Version: aws.String("1.35")}}
	if v, err := inventory.NewCluster(options(s)).Version(t.Context()); err != nil || v != "1.34" {
		t.Errorf("%s, %v", v, err)
	}
	o := options(s)
	o.EKSVersion = true
	if v, err := inventory.NewCluster(o).Version(t.Context()); err != nil || v != "1.35" {
		t.Errorf("%s, %v", v, err)
	}
}

// Cluster returns failures as errors and does not remember them.
func TestTrouble(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	s := &service{err: boom}
	o := options(s)
	clock := clocktesting.NewFakePassiveClock(o.Clock.Now())
	o.Clock = clock
	h := inventory.NewCluster(o)
	if _, err := h.ServiceRange(t.Context()); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	s.err = nil
	if _, err := h.ServiceRange(t.Context()); err == nil {
		t.Error("a cluster without a range of services has one")
	}
	s.cluster.KubernetesNetworkConfig = &types.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: aws.String("10.96.0.0/12")}
	clock.SetTime(clock.Now().Add(time.Minute))
	if r, err := h.ServiceRange(t.Context()); err != nil || r != "10.96.0.0/12" {
		t.Errorf("%s, %v", r, err)
	}
}

// Check reports invalid settings with the messages that users of the reference know.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		o    inventory.ClusterOptions
		want error
	}{
		"no name":         {inventory.ClusterOptions{}, inventory.ErrClusterName},
		"good":            {inventory.ClusterOptions{Name: "lab", Endpoint: "https://lab.example"}, nil},
		"to be asked for": {inventory.ClusterOptions{Name: "lab"}, nil},
		"no host":         {inventory.ClusterOptions{Name: "lab", Endpoint: "https://"}, inventory.ErrEndpoint},
		"no scheme":       {inventory.ClusterOptions{Name: "lab", Endpoint: "lab.example"}, inventory.ErrEndpoint},
	} {
		tc.o.Clock = clocktesting.NewFakePassiveClock(time.Time{})
		if err := inventory.NewCluster(tc.o).Check(); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}
