package capacityreservation

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "tenon/api/aws/v1"
)

var start = time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)

// Counts follow launches and terminations, and EC2's figures override them.
func TestCounts(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(start)
	c := NewCounts(clock)
	expect := func(why string, want int64) {
		t.Helper()
		if got := c.Available("cr-1"); got != want {
			t.Errorf("%s: %d, want %d", why, got, want)
		}
	}
	expect("unknown", 0)
	c.Synced("cr-1", 2)
	before := c.Revision()
	c.Launched("cr-1", start)
	expect("a launch", 1)
	if c.Revision() == before {
		t.Error("the revision does not show the launch")
	}
	c.Launched("cr-1", start.Add(-time.Minute))
	expect("a launch that EC2 has counted", 1)
	c.Launched("cr-1", start)
	c.Launched("cr-1", start)
	expect("more launches than there are", 0)
	c.Terminated("i-1")
	expect("an end of an instance without a reservation", 0)
	c.Leaves("i-1", "cr-1")
	expect("an instance that still ends", 0)
	c.Terminated("i-1")
	c.Terminated("i-1")
	expect("an end", 1)
	c.Leaves("i-2", "cr-1")
	clock.SetTime(start.Add(time.Minute))
	c.Synced("cr-1", 2)
	c.Terminated("i-2")
	expect("an end that EC2 may have counted", 2)
	c.Exhausted("cr-1")
	expect("a refusal", 0)
	c.Synced("cr-1", 5)
	expect("EC2's word", 5)
	clock.SetTime(start.Add(25 * time.Hour))
	expect("after a day without a word", 0)
}

// The status leaves out reservations that have ended or are of unknown kinds, and marks blocks that end soon.
func TestStatus(t *testing.T) {
	t.Parallel()
	made := func(kind types.CapacityReservationType, ends time.Duration) types.CapacityReservation {
		r := types.CapacityReservation{
			CapacityReservationId: aws.String("cr-1"), ReservationType: kind, InstanceMatchCriteria: types.InstanceMatchCriteriaTargeted,
		}
		if ends != 0 {
			r.EndDate = aws.Time(start.Add(ends))
		}
		return r
	}
	cases := map[string]struct {
		found types.CapacityReservation
		want  string // state
	}{
		"without end":                {made(types.CapacityReservationTypeDefault, 0), "active"},
		"over":                       {made(types.CapacityReservationTypeDefault, -time.Second), ""},
		"an ordinary one ends soon":  {made(types.CapacityReservationTypeDefault, time.Minute), "active"},
		"a block":                    {made(types.CapacityReservationTypeCapacityBlock, time.Hour), "active"},
		"a block ends in 40 minutes": {made(types.CapacityReservationTypeCapacityBlock, 40*time.Minute), "expiring"},
		"a kind that is not known":   {made("future", 0), ""},
	}
	f := New(nil, clocktesting.NewFakePassiveClock(start), nil)
	for name, tc := range cases {
		all := f.status(t.Context(), []types.CapacityReservation{tc.found, tc.found})
		switch {
		case tc.want == "" && len(all) != 0, tc.want != "" && (len(all) != 1 || all[0].State != tc.want):
			t.Errorf("%s: %+v, want %q", name, all, tc.want)
		}
	}
}

// The next look is when the first one ends, or in a minute.
func TestAgain(t *testing.T) {
	t.Parallel()
	ends := metav1.NewTime(start.Add(20 * time.Second))
	if got := Again([]awsv1.CapacityReservation{{}, {EndTime: &ends}}, start); got != 20*time.Second {
		t.Errorf("again after %s", got)
	}
	if got := Again(nil, start); got != time.Minute {
		t.Errorf("again after %s", got)
	}
}
