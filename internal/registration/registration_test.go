package registration_test

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/registration"
)

// TestHealth: a story is a letter an event, F(ailure), S(uccess), R(eset), h and u for a
// seed of a healthy and an unhealthy pool.
func TestHealth(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		story string
		want  registration.Health
	}{
		"nothing was seen":                               {"", registration.Unknown},
		"one success":                                    {"S", registration.Healthy},
		"one failure may be chance":                      {"F", registration.Healthy},
		"two failures are too many":                      {"FF", registration.Unhealthy},
		"two failures among four":                        {"FSSF", registration.Unhealthy},
		"the fifth outcome takes the place of the first": {"FSSSF", registration.Healthy},
		"successes heal":                                 {"FFFFSSS", registration.Healthy},
		"but not too soon":                               {"FFFFSS", registration.Unhealthy},
		"a reset forgets":                                {"FFR", registration.Unknown},
		"and counting begins again":                      {"FFRF", registration.Healthy},
		"seeded healthy":                                 {"h", registration.Healthy},
		"seeded unhealthy":                               {"u", registration.Unhealthy},
		"seeded unhealthy counts as two failures":        {"uSSS", registration.Healthy},
		"a seed does not change what is remembered":      {"Su", registration.Healthy},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracker := registration.New()
			for _, event := range tc.story {
				switch event {
				case 'S':
					tracker.Succeed("pool")
				case 'F':
					tracker.Fail("pool")
				case 'R':
					tracker.Reset("pool")
				default:
					tracker.Seed("pool", event == 'h')
				}
			}
			if got := tracker.Health("pool"); got != tc.want {
				t.Errorf("%s is %s, want %s", tc.story, got, tc.want)
			}
			if got := tracker.Health("other"); got != registration.Unknown {
				t.Errorf("another pool is %s", got)
			}
		})
	}
}

// TestManyAtOnce is for the race detector, and counts.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	tracker := registration.New()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, uid := range []types.UID{"a", "b"} {
				tracker.Seed(uid, true)
				tracker.Fail(uid)
				tracker.Health(uid)
			}
		})
	}
	all.Wait()
	if got := tracker.Health("a"); got != registration.Unhealthy {
		t.Errorf("after eight failures the pool is %s", got)
	}
}
