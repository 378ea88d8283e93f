package wait

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"
	"time"

	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

const (
	// firstPause follows the second refusal in a row; each further one doubles it.
	firstPause   = time.Second
	longestPause = time.Minute
)

// Pause is for how long no claim is made after so many that failed in a row.
func Pause(refusals int) time.Duration {
	if refusals < 2 {
		return 0 // once may be chance
	}
	pause := firstPause
	for range refusals - 2 {
		if pause *= 2; pause >= longestPause {
			return longestPause
		}
	}
	return pause
}

// mostHopes is how many refusals in a row a change of what can be bought ends the pause of.
const mostHopes = 10

// refused has claims wait that are only for pods whose last claims failed; announced pods
// come with those that are there. A launch that is refused changes nothing in what is
// decided, unless the provider's catalogue shows it: without a pause the same claim would be made
// and refused many times a second.
func refused(s *snapshot.Snapshot) func(*plan.Claim) plan.Delay {
	paused := make(map[string]*snapshot.Refused, len(s.Waiting.Refused))
	for i := range s.Waiting.Refused {
		if r := &s.Waiting.Refused[i]; r.Until.After(s.Now) {
			paused[r.UID] = r
		}
	}
	stocks := map[string]string{}
	if len(paused) > 0 {
		for i := range s.Pools {
			stocks[s.Pools[i].Name] = Stock(s, &s.Pools[i])
		}
	}
	return func(c *plan.Claim) plan.Delay {
		out := plan.Delay{}
		for _, pod := range c.Pods {
			uid := s.Pods[pod].UID
			if uid == "" {
				continue
			}
			r := paused[uid]
			if r == nil || r.Times <= mostHopes && r.Stock != stocks[c.Pool] {
				return plan.Delay{}
			}
			if out.Until.IsZero() || r.Until.Before(out.Until) {
				out = plan.Delay{Code: reason.LaunchesRefused, Until: r.Until}
			}
		}
		return out
	}
}

// Stock tells apart what a pool can buy at one time and at another.
func Stock(s *snapshot.Snapshot, pool *snapshot.Pool) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pool.Name)) // a hash takes everything
	var number [8]byte
	for n := range available(&s.Catalogs[pool.Catalog]) {
		binary.LittleEndian.PutUint64(number[:], uint64(n))
		_, _ = h.Write(number[:])
	}
	return strconv.FormatUint(h.Sum64(), 16)
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
