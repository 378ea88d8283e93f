package market

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Failures counts, for a pool, the consecutive nodes that failed to join.
type Failures interface {
	Failures(pool types.UID) int
}

// pauses keep pools from repeatedly buying instances that never join: each costs a quarter of an
// hour of its price. Pods go to other pools meanwhile, or wait.
type pauses struct {
	failures Failures // nil means that none ever fail
	pools    map[types.UID]pause
}

type pause struct {
	failures int
	until    time.Time
}

// The first pause, after two failures in a row, and the longest. Each is twice the last.
const (
	tolerated    = 1
	firstPause   = time.Minute
	longestPause = 15 * time.Minute
)

// check says why nothing may be bought for a pool now; nil if it may.
func (p *pauses) check(pool types.UID, now time.Time) error {
	if p.failures == nil {
		return nil
	}
	row := p.failures.Failures(pool)
	if row <= tolerated {
		delete(p.pools, pool)
		return nil
	}
	last := p.pools[pool]
	if row != last.failures {
		last = pause{failures: row, until: now.Add(pauseAfter(row))}
		p.pools[pool] = last
	}
	if now.Before(last.until) {
		return fmt.Errorf("pauses until %s, because the last %d of its nodes never joined the cluster", last.until.UTC().Format(time.RFC3339), row)
	}
	return nil
}

func pauseAfter(row int) time.Duration {
	length := firstPause
	for range row - tolerated - 1 {
		length = min(2*length, longestPause)
	}
	return length
}
