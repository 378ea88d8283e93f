package disruption

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// recently remembers for which claims something was found out a short time ago. It saves
// work and makes nothing right or wrong: a process that starts finds out again.
type recently struct {
	keep time.Duration

	mu    sync.Mutex
	when  map[types.UID]time.Time // guarded by mu
	swept time.Time               // guarded by mu
}

func newRecently(keep time.Duration) *recently {
	return &recently{keep: keep, when: map[types.UID]time.Time{}}
}

func (r *recently) has(claim types.UID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	when, found := r.when[claim]
	return found && now.Sub(when) < r.keep
}

func (r *recently) note(claim types.UID, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.when[claim] = now
	if now.Sub(r.swept) < r.keep {
		return
	}
	r.swept = now
	for id, when := range r.when { // claims that are gone leave this way
		if now.Sub(when) >= r.keep {
			delete(r.when, id)
		}
	}
}
