package offering_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/offering"
)

type fakeZonalShift struct {
	shifts []types.ZonalShiftInResource
	err    error
}

func (a *fakeZonalShift) GetManagedResource(context.Context, *arczonalshift.GetManagedResourceInput, ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error) {
	return &arczonalshift.GetManagedResourceOutput{ZonalShifts: a.shifts}, a.err
}

func away(zone string, status types.AppliedStatus, until time.Duration) types.ZonalShiftInResource {
	return types.ZonalShiftInResource{AwayFrom: aws.String(zone), AppliedStatus: status, ExpiryTime: aws.Time(start.Add(until))}
}

// A zone is shifted while its shift is applied and has not ended; the end shows by itself.
func TestShifts(t *testing.T) {
	t.Parallel()
	clock, a := clocktesting.NewFakePassiveClock(start), &fakeZonalShift{}
	w := offering.NewShiftedZones(a, clock, func(context.Context) (string, error) { return "arn", nil })
	update := func(want ...offering.ZoneShift) {
		t.Helper()
		got, err := w.Update(t.Context())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("changes %v, %v; want %v", got, err, want)
		}
	}
	update()
	_, none := w.Shifted()
	a.shifts = []types.ZonalShiftInResource{
		away("az2", types.AppliedStatusApplied, time.Hour), away("az1", types.AppliedStatusApplied, time.Minute), away("az3", types.AppliedStatusNotApplied, time.Hour),
	}
	update(offering.ZoneShift{ZoneID: "az1", Active: true}, offering.ZoneShift{ZoneID: "az2", Active: true})
	zones, two := w.Shifted()
	if !zones["az1"] || !zones["az2"] || zones["az3"] || two == none {
		t.Errorf("shifted %v", zones)
	}
	clock.SetTime(start.Add(2 * time.Minute))
	if zones, one := w.Shifted(); zones["az1"] || !zones["az2"] || one == two {
		t.Errorf("shifted %v after one has ended", zones)
	}
	a.shifts = nil
	update(offering.ZoneShift{ZoneID: "az1"}, offering.ZoneShift{ZoneID: "az2"}) // both are news
}

// What cannot be asked stays as it was.
func TestErrors(t *testing.T) {
	t.Parallel()
	clock, a := clocktesting.NewFakePassiveClock(start), &fakeZonalShift{shifts: []types.ZonalShiftInResource{away("az1", types.AppliedStatusApplied, time.Hour)}}
	w := offering.NewShiftedZones(a, clock, func(context.Context) (string, error) { return "arn", nil })
	if _, err := w.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.err = errors.New("boom")
	if _, err := w.Update(t.Context()); err == nil {
		t.Error("no error")
	}
	if zones, _ := w.Shifted(); !zones["az1"] {
		t.Error("the shift is forgotten")
	}
}
