package detour_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/detour"
)

type arc struct {
	shifts []types.ZonalShiftInResource
	err    error
}

func (a *arc) GetManagedResource(_ context.Context, in *arczonalshift.GetManagedResourceInput, _ ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error) {
	if *in.ResourceIdentifier != "arn" {
		return nil, errors.New("another resource")
	}
	return &arczonalshift.GetManagedResourceOutput{ZonalShifts: a.shifts}, a.err
}

func shift(zone string, status types.AppliedStatus, until time.Time) types.ZonalShiftInResource {
	return types.ZonalShiftInResource{AwayFrom: aws.String(zone), AppliedStatus: status, ExpiryTime: &until}
}

// Shifts begin and end once each, by their end or because somebody ends them.
func TestPoll(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	far := &arc{}
	w := detour.New(far, func(context.Context) (string, error) { return "arn", nil }, clock)
	_, last := w.Shifted()
	expect := func(what, change string, zones int, changes bool) {
		t.Helper()
		got, err := w.Poll(t.Context())
		shifted, revision := w.Shifted()
		if err != nil || fmt.Sprint(got) != change || len(shifted) != zones || (revision != last) != changes {
			t.Errorf("%s: %v, error %v, %d zones, revision %d after %d", what, got, err, len(shifted), revision, last)
		}
		last = revision
	}
	expect("nothing", "{[] []}", 0, false)
	far.shifts = []types.ZonalShiftInResource{
		shift("b", types.AppliedStatusApplied, clock.Now().Add(time.Hour)), shift("a", types.AppliedStatusApplied, clock.Now().Add(time.Minute)),
		shift("c", types.AppliedStatusNotApplied, clock.Now().Add(time.Hour)), shift("d", types.AppliedStatusApplied, clock.Now()),
	}
	if _, err := w.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	shifted, revision := w.Shifted()
	if len(shifted) != 2 || !shifted["a"] || !shifted["b"] || revision == last {
		t.Errorf("shifted are %v, revision %d after %d", shifted, revision, last)
	}
	last = revision
	far.shifts = far.shifts[:2]
	expect("the same", "{[] []}", 2, false)
	clock.Step(time.Minute)
	expect("one is over", "{[] [a]}", 1, true)
	far.shifts = nil
	expect("one was cancelled", "{[] [b]}", 0, true)
	far.err = errors.New("down")
	if _, err := w.Poll(t.Context()); !errors.Is(err, far.err) {
		t.Errorf("error %v, want %v", err, far.err)
	}
}
