package memory_test

import (
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/cloud/conformance"
	"tenon/cloud/memory"
)

// start is a time that nothing depends on.
var start = time.Date(2031, 5, 17, 8, 0, 0, 0, time.UTC)

// harness puts a provider in front of a cloud with these options.
func harness(o memory.Options) conformance.Harness {
	clock := clocktesting.NewFakeClock(start)
	var lose atomic.Bool
	o.Clock = clock
	o.Classes = map[string]memory.Class{
		"ready":   {Image: "image-1"},
		"unready": {NotReady: "no image was found"},
	}
	o.Trouble = func(c memory.Call) memory.Fault {
		if c.Method == memory.Create && lose.CompareAndSwap(true, false) {
			return memory.Fault{After: memory.ErrLost}
		}
		return memory.Fault{}
	}
	far := memory.New(o)
	near := far.Connect()
	kind := near.Describe().Classes[0]
	return conformance.Harness{
		Provider:     near,
		Class:        kind.Ref("ready"),
		UnreadyClass: kind.Ref("unready"),
		Advance:      clock.Step,
		EndsWithin:   o.Stop,
		Exhaust:      func(offer cloud.Offer) { far.SetStock(offer, 0) },
		LoseAnswer:   func() { lose.Store(true) },
		Kill:         func(id string) { far.Kill(id) },
		Drift:        func(string) { far.SetClass("ready", memory.Class{Image: "image-2"}) },
		Restart:      func() cloud.Provider { return far.Connect() },
		Bought:       far.Bought,
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]memory.Options{
		"at once":    {},
		"takes time": {Boot: time.Minute, Stop: 40 * time.Second},
		"behind":     {Boot: 20 * time.Second, Stop: 30 * time.Second, Lag: 10 * time.Second},
		"far behind": {Stop: time.Second, Lag: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, func(*testing.T) conformance.Harness { return harness(options) })
		})
	}
}
