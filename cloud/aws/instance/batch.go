package instance

import (
	"context"
	"sync"
	"time"
)

// BatchOptions say how long keys are collected.
type BatchOptions struct {
	// Idle is how long the batcher waits for a further key before it makes the call; Longest is how long the
	// first key waits at most.
	Idle, Longest time.Duration
	// Most is how many keys a call may have.
	Most int
	// Observe receives the size of every batch and how long its first key waited for the call. It may be nil.
	Observe func(size int, waited time.Duration)
}

// Answer is the result for one key.
type Answer[V any] struct {
	Value V
	Err   error
}

// Batcher combines requests that come at about the same time into one call: it collects keys until no key has
// come for a moment, and then asks for all of them together. A caller that gives up does not stop the call,
// since others may wait for it. A key that several callers ask for at the same time is in the call once.
type Batcher[K comparable, V any] struct {
	options BatchOptions
	call    func(context.Context, []K) map[K]Answer[V]

	mu   sync.Mutex
	open *batch[K, V]
}

// NewBatcher makes a batcher. call gets each key once, in the order in which the keys came; a key that it
// leaves out gets a zero answer. Its context has the values of the first caller's context, but not its end.
func NewBatcher[K comparable, V any](o BatchOptions, call func(context.Context, []K) map[K]Answer[V]) *Batcher[K, V] {
	return &Batcher[K, V]{options: o, call: call}
}

type batch[K comparable, V any] struct {
	keys    []K
	seen    map[K]bool
	touched chan struct{} // another key came
	full    chan struct{} // closed when no more fit
	done    chan struct{} // closed when the answers are there
	answers map[K]Answer[V]
}

// Ask waits for the answer to a key.
func (b *Batcher[K, V]) Ask(ctx context.Context, key K) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	mine := b.join(ctx, key)
	select {
	case <-mine.done:
		answer := mine.answers[key]
		return answer.Value, answer.Err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (b *Batcher[K, V]) join(ctx context.Context, key K) *batch[K, V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.open
	if mine == nil {
		mine = &batch[K, V]{seen: map[K]bool{}, touched: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{})}
		b.open = mine
		go b.run(context.WithoutCancel(ctx), mine)
	}
	if !mine.seen[key] {
		mine.seen[key] = true
		mine.keys = append(mine.keys, key)
	}
	select {
	case mine.touched <- struct{}{}:
	default:
	}
	if len(mine.keys) >= b.options.Most {
		b.open = nil
		close(mine.full)
	}
	return mine
}

// run collects keys for one batch and makes the call. The SDK limits how long the call takes.
func (b *Batcher[K, V]) run(ctx context.Context, mine *batch[K, V]) {
	begun := time.Now()
	b.collect(mine)
	b.mu.Lock()
	if b.open == mine {
		b.open = nil
	}
	b.mu.Unlock()
	if b.options.Observe != nil {
		b.options.Observe(len(mine.keys), time.Since(begun))
	}
	mine.answers = b.call(ctx, mine.keys)
	close(mine.done)
}

func (b *Batcher[K, V]) collect(mine *batch[K, V]) {
	longest := time.NewTimer(b.options.Longest)
	defer longest.Stop()
	idle := time.NewTimer(b.options.Idle)
	defer idle.Stop()
	for {
		select {
		case <-mine.touched:
			idle.Reset(b.options.Idle)
		case <-idle.C:
			return
		case <-longest.C:
			return
		case <-mine.full:
			return
		}
	}
}
