package wait

import (
	"testing"
	"time"
)

// What a ReplicaSet announces is believed up to four pods for each that it has, or as many as a set of its
// namespace has had; and of that the share that came the last time, one pod at least.
func TestBelieved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ have, missing, peak, share, want int }{
		"a small one":                    {have: 2, missing: 3, share: WholeShare, want: 3},
		"a large one that begins":        {have: 2, missing: 1000, share: WholeShare, want: 8},
		"others have been as large":      {have: 2, missing: 1000, peak: 500, share: WholeShare, want: 498},
		"half of them came last time":    {have: 2, missing: 1000, peak: 500, share: WholeShare / 2, want: 249},
		"almost none came last time":     {have: 1, missing: 1000, share: 1, want: 1},
		"none is missing":                {have: 5, share: 1},
		"none is there, and none before": {missing: 7, share: WholeShare},
	} {
		if got := Believed(tc.have, tc.missing, tc.peak, tc.share); got != tc.want {
			t.Errorf("%s: %d are believed in, want %d", name, got, tc.want)
		}
	}
}

// A promise is over when all pods have come, when they cannot come any more, or when none has come for half a
// minute. If it was kept, twice as much is believed next time, else as much as came.
func TestPromise(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for name, tc := range map[string]struct {
		have       int
		hopeless   bool
		quiet      time.Duration
		kept, over bool
		share      int // after it was half
	}{
		"all have come":           {have: 10, kept: true, over: true, share: WholeShare},
		"more than all":           {have: 12, kept: true, over: true, share: WholeShare},
		"some have come":          {have: 6, quiet: breach - 1},
		"none comes any more":     {have: 6, quiet: breach, over: true, share: WholeShare / 2},
		"the set is scaled down":  {have: 4, hopeless: true, over: true, share: WholeShare / 4},
		"a set that loses pods":   {have: 0, hopeless: true, over: true, share: 1},
		"all, and scaled down":    {have: 10, hopeless: true, kept: true, over: true, share: WholeShare},
		"all, and a while is ago": {have: 10, quiet: time.Hour, kept: true, over: true, share: WholeShare},
	} {
		p := Promise{From: 2, Due: 10, Last: now.Add(-tc.quiet)}
		kept, over := p.Kept(tc.have, tc.hopeless, now)
		if kept != tc.kept || over != tc.over {
			t.Errorf("%s: kept %t, over %t", name, kept, over)
		}
		if !over {
			continue
		}
		if share := p.Share(tc.have, kept, WholeShare/2); share != tc.share {
			t.Errorf("%s: the next share is %d, want %d", name, share, tc.share)
		}
	}
}

// A namespace that was waited for in vain is not waited for again for a minute.
func TestInVain(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	if !InVain(at, at.Add(time.Minute-1)) || InVain(at, at.Add(time.Minute)) {
		t.Error("it is not for a minute")
	}
}
