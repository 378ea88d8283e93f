package provisioner

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/telemetry"
	"tenon/internal/world"
)

// refusals remembers, for every pod that claims were made for in vain, how many in a row, and
// when the next one may be made. A launch that is refused changes nothing in what is decided,
// unless the provider's catalogue shows it: without a pause the same claim would be made and
// refused many times a second.
type refusals struct {
	tries map[types.UID]try
}

// try is the last claim that was made for a pod.
type try struct {
	pod   world.Guest
	node  string // on which the pod was, if it is to leave there
	claim string // empty once it is known to have come to nothing
	stock uint64 // what its pool could buy then
	times int    // how many in a row came to nothing
	until time.Time
}

const (
	// firstPause follows the second refusal in a row; each further one doubles it.
	firstPause   = time.Second
	longestPause = time.Minute
	// mostHopes is how many refusals in a row a change of what can be bought ends the pause of.
	mostHopes = 10
)

// note enters the claims that were made.
func (r *refusals) note(s *snapshot.Snapshot, outcomes []execute.Outcome, market map[string]world.Sale) {
	stocks := map[string]uint64{}
	for _, o := range outcomes {
		if o.Claim == nil {
			continue
		}
		pool := o.Order.Pool.Name
		if _, known := stocks[pool]; !known {
			stocks[pool] = stockOf(pool, market)
		}
		for _, p := range o.Order.For {
			if uid := types.UID(s.Pods[p].UID); uid != "" {
				if r.tries == nil {
					r.tries = map[types.UID]try{}
				}
				r.tries[uid] = try{pod: world.GuestOf(&s.Pods[p]), node: s.Pods[p].Node, claim: o.Claim.Name, stock: stocks[pool], times: r.tries[uid].times}
			}
		}
	}
}

// settle finds out which claims came to nothing, and forgets pods that run or are gone.
func (r *refusals) settle(w *world.World, now time.Time) {
	for uid, t := range r.tries {
		pod, found := w.Pod(t.pod.Namespace, t.pod.Name)
		switch {
		case !found || pod.UID != uid || pod.Spec.NodeName != t.node:
			delete(r.tries, uid)
		case t.claim == "":
		case w.Launched(t.claim):
			t.times = 0
			r.tries[uid] = t
		case !w.Expects(t.claim):
			t.claim, t.times = "", t.times+1
			t.until = now.Add(pauseAfter(t.times))
			r.tries[uid] = t
		}
	}
}

func pauseAfter(times int) time.Duration {
	if times < 2 {
		return 0 // once may be chance
	}
	pause := firstPause
	for range times - 2 {
		if pause *= 2; pause >= longestPause {
			return longestPause
		}
	}
	return pause
}

// paused reports whether no claim is to be made for a pod yet.
func (r *refusals) paused(pod *snapshot.Pod, stock func() uint64, now time.Time) (try, bool) {
	t, tried := r.tries[types.UID(pod.UID)]
	if !tried || pod.UID == "" || t.claim != "" || !now.Before(t.until) {
		return t, false
	}
	return t, t.times > mostHopes || t.stock == stock()
}

// hold leaves claims out of a selection that are for paused pods only; announced pods come with
// those that are there. It answers the pods, and when the first of them may be tried again.
func (r *refusals) hold(s *snapshot.Snapshot, chosen *selection, market map[string]world.Sale) (held []try) {
	if len(r.tries) == 0 {
		return nil
	}
	kept := chosen.claims[:0:0]
	for _, c := range chosen.claims {
		tries := r.waiting(s, c, market)
		if tries == nil {
			kept = append(kept, c)
		}
		held = append(held, tries...)
	}
	chosen.claims = kept
	return held
}

// waiting are the tries of a claim's pods if all of them are paused.
func (r *refusals) waiting(s *snapshot.Snapshot, c *plan.Claim, market map[string]world.Sale) []try {
	var out []try
	stock, known := uint64(0), false
	for _, p := range c.Pods {
		if s.Pods[p].UID == "" {
			continue
		}
		t, paused := r.paused(&s.Pods[p], func() uint64 {
			if !known {
				stock, known = stockOf(c.Pool, market), true
			}
			return stock
		}, s.Now)
		if !paused {
			return nil
		}
		out = append(out, t)
	}
	return out
}

// stockOf tells apart what a pool can buy at one time and at another.
func stockOf(pool string, market map[string]world.Sale) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pool)) // a hash takes everything
	if c := market[pool].Catalog; c != nil {
		var number [8]byte
		for n := range available(c) {
			binary.LittleEndian.PutUint64(number[:], uint64(n))
			_, _ = h.Write(number[:])
		}
	}
	return h.Sum64()
}

// available numbers the offerings that can be had.
func available(c *catalog.Catalog) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		n := 0
		for t := range c.Types {
			for o := range c.Types[t].Offerings {
				if n++; c.Types[t].Offerings[o].Available && !yield(n) {
					return
				}
			}
		}
	}
}

// tellHeld says on pods why nothing is bought for them now.
func (l *loop) tellHeld(held []try) {
	for _, t := range held {
		pod, found := l.o.World.Pod(t.pod.Namespace, t.pod.Name)
		if !found || pod.UID != t.pod.UID {
			continue
		}
		text := fmt.Sprintf("Failed to schedule pod, the last %d nodeclaims for it came to nothing; the next is made at %s, or sooner if other instances are in stock",
			t.times, t.until.UTC().Format(time.RFC3339))
		l.kit.Events.Publish(telemetry.Warning(pod, "FailedScheduling", text, string(pod.UID), "refused").Within(5 * time.Minute).Each())
	}
}

// soonest is the earlier of a time and those at which held pods may be tried; zero is never.
func soonest(at time.Time, held []try) time.Time {
	for _, t := range held {
		if at.IsZero() || t.until.Before(at) {
			at = t.until
		}
	}
	return at
}
