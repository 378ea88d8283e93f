package kubelet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// kind is the kind of object that a key names, and so decides which function serves it.
type kind string

const (
	kindInstance   kind = "instance"
	kindNode       kind = "node"
	kindLease      kind = "lease"
	kindPod        kind = "pod"
	kindAttachment kind = "attachment"
	kindClaim      kind = "claim"
	kindVolume     kind = "volume"
)

// key names one object to look at. Keys of Nodes and pods carry the UID, so that a successor of the same
// name is another key with its own memory.
type key struct {
	kind            kind
	namespace, name string
	uid             types.UID
}

// loop is a queue of keys with their due times and the workers that serve them.
// A key is never served twice at the same time.
type loop struct {
	queue workqueue.TypedRateLimitingInterface[key]
	clock clock.Clock
	log   *slog.Logger
	serve func(context.Context, key) (time.Time, error)
}

func newLoop(c Config, serve func(context.Context, key) (time.Time, error)) *loop {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[key](50*time.Millisecond, 10*time.Second)
	return &loop{
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[key]{Clock: c.Clock}),
		clock: c.Clock,
		log:   c.Log,
		serve: serve,
	}
}

func (l *loop) add(k key) { l.queue.Add(k) }

// run serves until the context ends, and returns when the last worker has.
func (l *loop) run(ctx context.Context, workers int) {
	stop := context.AfterFunc(ctx, l.queue.ShutDown)
	defer stop()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for l.serveNext(ctx) {
			}
		})
	}
	running.Wait()
}

func (l *loop) serveNext(ctx context.Context) bool {
	k, closed := l.queue.Get()
	if closed {
		return false
	}
	defer l.queue.Done(k)
	at, err := l.serve(ctx, k)
	if err != nil {
		l.retry(ctx, k, err)
		return true
	}
	l.queue.Forget(k)
	if !at.IsZero() {
		l.queue.AddAfter(k, at.Sub(l.clock.Now()))
	}
	return true
}

// retry looks again later. A conflict is normal: another client wrote first.
func (l *loop) retry(ctx context.Context, k key, err error) {
	if !apierrors.IsConflict(err) && ctx.Err() == nil {
		l.log.Warn("step failed, trying again", "kind", string(k.kind), "namespace", k.namespace, "name", k.name, "err", err)
	}
	l.queue.AddRateLimited(k)
}
