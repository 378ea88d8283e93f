package world_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"tenon/core/snapshot"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/world"
)

// TestSameIsSaidOfWhatIsTheSame: a picture that claims to equal the last one equals it in every part, and
// a picture taken while nothing happens makes that claim.
func TestSameIsSaidOfWhatIsTheSame(t *testing.T) {
	t.Parallel()
	same, seeds := 0, uint64(60)
	if testing.Short() { // with the race detector, which has nothing to find in one goroutine
		seeds = 5
	}
	for seed := range seeds {
		dice := rand.New(rand.NewPCG(seed, 2))
		c := randomcluster.World(seed, 25)
		options := c.Options()
		options.Files = false
		w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
		reader := w.Reader()
		market := map[string]world.Sale{}
		moment := world.Moment{Now: options.Now, Settings: options.Settings, Market: market}
		last := ""
		for _, o := range history(dice, c) {
			if o.gone {
				w.Remove(o.object)
			} else {
				w.Put(o.object)
			}
			for _, p := range w.Pools() {
				if _, known := market[p.Name]; !known || dice.IntN(8) == 0 {
					offers, err := options.Catalog(p, nil)
					market[p.Name] = world.Sale{Catalog: offers, Err: err}
				}
			}
			p := reader.Picture(moment)
			lasting := *p.Snapshot
			lasting.Waiting = snapshot.Waiting{}
			text := content(t, &lasting)
			if p.Same {
				if same++; text != last {
					t.Fatalf("seed %d: said to be the same, and is not", seed)
				}
			}
			if again := reader.Picture(moment); !again.Same && again.Next.IsZero() {
				t.Fatalf("seed %d: nothing happened, and it is said to be different", seed)
			}
			last = text
		}
	}
	if same == 0 {
		t.Error("no picture was the same as the one before")
	}
}

// TestSameTimeAside: a different time or different waiting pods do not make a different picture. The
// comparison knows every part of a snapshot except the pods, which are compared separately.
func TestSameTimeAside(t *testing.T) {
	t.Parallel()
	c := randomcluster.World(1, 25)
	options := c.Options()
	w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
	reader := w.Reader()
	moment := world.Moment{Now: options.Now}
	if reader.Picture(moment).Same {
		t.Error("the first picture is said to be the same as none")
	}
	moment.Now = moment.Now.Add(time.Second)
	if !reader.Picture(moment).Same {
		t.Error("a second later nothing is said to be the same")
	}
	moment.Settings.BestEffortMinimum = true
	if reader.Picture(moment).Same {
		t.Error("a setting is not compared")
	}
	moment.Waiting.Arrivals.Moving = moment.Now
	if p := reader.Picture(moment); !p.Same || p.Snapshot.Waiting.Arrivals.Moving.IsZero() {
		t.Error("what waits makes another picture, or is not in it")
	}
	if n := reflect.TypeFor[snapshot.Snapshot]().NumField(); n != 13 { // not compared: Gated, on which no decision depends, and Answers, which no picture has
		t.Errorf("a snapshot has %d fields: is the new one compared?", n)
	}
}
