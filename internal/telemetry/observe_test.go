package telemetry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/core/catalog"
)

// slow is a provider whose every call takes two seconds and ends in an error.
type slow struct {
	clock *testclock.FakePassiveClock
	err   error
}

func (s slow) wait() error {
	s.clock.SetTime(s.clock.Now().Add(2 * time.Second))
	return s.err
}

func (s slow) Describe() cloud.Description { return cloud.Description{Name: "slow"} }
func (s slow) Create(context.Context, cloud.Claim) (cloud.Instance, error) {
	return cloud.Instance{}, s.wait()
}
func (s slow) Delete(context.Context, string) error                { return s.wait() }
func (s slow) Get(context.Context, string) (cloud.Instance, error) { return cloud.Instance{}, s.wait() }
func (s slow) List(context.Context) ([]cloud.Instance, error)      { return nil, s.wait() }
func (s slow) Catalog(context.Context, cloud.ClassRef) (*catalog.Catalog, error) {
	return nil, s.wait()
}
func (s slow) Drifted(context.Context, cloud.Claim, cloud.Instance) (cloud.DriftReason, error) {
	return "", s.wait()
}

// guarded is slow and has a gate.
type guarded struct{ slow }

func (g guarded) Admit(context.Context, cloud.Claim, cloud.Instance) (cloud.Admission, error) {
	return cloud.Admission{}, g.wait()
}

// Every call is timed under its documented name, and its errors are counted by their kind.
func TestObserve(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry, Labels{})
	if err != nil {
		t.Fatal(err)
	}
	clock := testclock.NewFakePassiveClock(time.Unix(0, 0))
	call := func(ctx context.Context, p cloud.Provider) {
		_, _ = p.Create(ctx, cloud.Claim{})
		_ = p.Delete(ctx, "")
		_, _ = p.Get(ctx, "")
		_, _ = p.List(ctx)
		_, _ = p.Catalog(ctx, cloud.ClassRef{})
		_, _ = p.Drifted(ctx, cloud.Claim{}, cloud.Instance{})
		_, _ = p.(cloud.Gate).Admit(ctx, cloud.Claim{}, cloud.Instance{})
	}
	ctx := WithController(t.Context(), "some.controller")
	call(ctx, Observe(guarded{slow{clock: clock}}, m, clock))
	call(ctx, Observe(guarded{slow{clock, fmt.Errorf("wrapped: %w", &cloud.NoCapacity{})}}, m, clock))
	_ = Observe(slow{clock, errors.New("no type")}, m, clock).Delete(t.Context(), "")

	var times, failures []string
	for _, f := range gathered(t, registry) {
		for _, metric := range f.GetMetric() {
			switch f.GetName() {
			case "karpenter_cloudprovider_duration_seconds":
				h := metric.GetHistogram()
				times = append(times, fmt.Sprintf("%s %d %v", labels(metric), h.GetSampleCount(), h.GetSampleSum()))
			case "karpenter_cloudprovider_errors_total":
				failures = append(failures, fmt.Sprintf("%s %v", labels(metric), metric.GetCounter().GetValue()))
			}
		}
	}
	var wantTimes, wantFailures []string
	wantTimes = append(wantTimes, "controller= method=Delete provider=slow 1 2")
	wantFailures = append(wantFailures, "controller= error= method=Delete provider=slow 1")
	for _, method := range []string{"Admit", "Create", "Delete", "Get", "GetInstanceTypes", "IsDrifted", "List"} {
		wantTimes = append(wantTimes, fmt.Sprintf("controller=some.controller method=%s provider=slow 2 4", method))
		wantFailures = append(wantFailures, fmt.Sprintf("controller=some.controller error=InsufficientCapacityError method=%s provider=slow 1", method))
	}
	if diff := cmp.Diff(wantTimes, times); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantFailures, failures); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// Observing a provider without a gate does not give it one.
func TestObserveAddsNoGate(t *testing.T) {
	t.Parallel()
	m, err := NewMetrics(prometheus.NewRegistry(), Labels{})
	if err != nil {
		t.Fatal(err)
	}
	clock := testclock.NewFakePassiveClock(time.Unix(0, 0))
	if _, gate := Observe(slow{clock: clock}, m, clock).(cloud.Gate); gate {
		t.Error("it has a gate")
	}
}

// The well-known labels of a provider, and the names of its classes, come from its description.
func TestLabelsOf(t *testing.T) {
	t.Parallel()
	d := cloud.Description{Classes: []cloud.ClassKind{{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}}}
	d.Words.WellKnown = []string{"a/b"}
	want := Labels{WellKnown: []string{"a/b"}, Classes: []string{"karpenter.k8s.aws/ec2nodeclass"}}
	if diff := cmp.Diff(want, LabelsOf(d)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := SafeName("karpenter.k8s.aws/ec2nodeclass"); got != "karpenter_k8s_aws_ec2nodeclass" {
		t.Errorf("spelled %s", got)
	}
}
