package api

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Cache remembers answers by key for a while, so that many callers need one call of AWS. Callers that ask
// for the same at the same time wait for one call. Errors are never remembered. All callers share the
// answers and must not change them. It may be used by many goroutines.
type Cache[K comparable, V any] struct {
	clock clock.PassiveClock
	ttl   time.Duration

	mu      sync.Mutex
	entries map[K]*cached[V]
	swept   time.Time
}

type cached[V any] struct {
	// asking is held by the caller that asks. It has room for one.
	asking chan struct{}
	value  V
	known  bool
	until  time.Time
}

// NewCache makes a cache that keeps its answers for ttl.
func NewCache[K comparable, V any](c clock.PassiveClock, ttl time.Duration) *Cache[K, V] {
	return &Cache[K, V]{clock: c, ttl: ttl, entries: map[K]*cached[V]{}, swept: c.Now()}
}

// Get returns the remembered answer, or else calls ask for one.
func (c *Cache[K, V]) Get(ctx context.Context, key K, ask func(context.Context) (V, error)) (V, error) {
	e := c.entry(key)
	select {
	case e.asking <- struct{}{}:
		defer func() { <-e.asking }()
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
	if value, known := c.Peek(key); known {
		return value, nil
	}
	value, err := ask(ctx)
	if err == nil {
		c.Put(key, value)
	}
	return value, err
}

// Peek returns the answer if the cache remembers it.
func (c *Cache[K, V]) Peek(key K) (value V, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.entries[key]
	if !found || !e.known || !c.clock.Now().Before(e.until) {
		return value, false
	}
	return e.value, true
}

// Put remembers an answer.
func (c *Cache[K, V]) Put(key K, value V) { c.PutFor(key, value, c.ttl) }

// PutFor remembers an answer for a given time.
func (c *Cache[K, V]) PutFor(key K, value V, ttl time.Duration) {
	e := c.entry(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[key] = e
	e.value, e.known, e.until = value, true, c.clock.Now().Add(ttl)
}

// Forget forgets an answer.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, found := c.entries[key]; found {
		e.known = false
	}
}

// Keys returns the keys of all remembered answers, in no particular order.
func (c *Cache[K, V]) Keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	var keys []K
	for key, e := range c.entries {
		if e.known && now.Before(e.until) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *Cache[K, V]) entry(key K) *cached[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	e, found := c.entries[key]
	if !found {
		e = &cached[V]{asking: make(chan struct{}, 1)}
		c.entries[key] = e
	}
	return e
}

// sweep drops expired answers, once a minute. The caller holds the lock.
func (c *Cache[K, V]) sweep() {
	now := c.clock.Now()
	if now.Sub(c.swept) < time.Minute {
		return
	}
	c.swept = now
	for key, e := range c.entries {
		if len(e.asking) == 0 && (!e.known || !now.Before(e.until)) {
			delete(c.entries, key)
		}
	}
}
