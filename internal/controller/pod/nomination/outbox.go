package nomination

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/world"
)

// outbox writes nominations of single pods without waiting for the answers: an API server that is busy opening nodes answers late, and
// another pod takes the room of one that has lost its nomination meanwhile. A later nomination of the same pod follows the earlier one.
type outbox struct {
	slots chan struct{}

	mu   sync.Mutex
	busy map[types.UID]*world.Nomination // pods of which a nomination is being written, with what follows it
}

func newOutbox(parallel int) *outbox {
	return &outbox{slots: make(chan struct{}, parallel), busy: map[types.UID]*world.Nomination{}}
}

// send has nominations written in the background.
func (o *outbox) send(ctx context.Context, list []world.Nomination, write func(context.Context, world.Nomination)) {
	for _, next := range list {
		if !o.begin(next) {
			continue
		}
		go func() {
			o.slots <- struct{}{}
			defer func() { <-o.slots }()
			for more := true; more; next, more = o.after(next.UID) {
				write(ctx, next)
			}
		}()
	}
}

// begin reports whether no nomination of the pod is being written; otherwise this one follows.
func (o *outbox) begin(n world.Nomination) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, busy := o.busy[n.UID]; busy {
		o.busy[n.UID] = &n
		return false
	}
	o.busy[n.UID] = nil
	return true
}

// after returns what follows the nomination that was just written, if anything does.
func (o *outbox) after(pod types.UID) (world.Nomination, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := o.busy[pod]
	if next == nil {
		delete(o.busy, pod)
		return world.Nomination{}, false
	}
	o.busy[pod] = nil
	return *next, true
}
