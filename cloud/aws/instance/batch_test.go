package instance_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tenon/cloud/aws/instance"
)

// recorder answers keys with themselves, and notes the size of each call.
type recorder struct {
	mu    sync.Mutex
	sizes []int
}

func (r *recorder) call(_ context.Context, keys []int) map[int]instance.Answer[string] {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sizes = append(r.sizes, len(keys))
	answers := map[int]instance.Answer[string]{}
	for _, key := range keys {
		answers[key] = instance.Answer[string]{Value: fmt.Sprint(key)}
		if key < 0 {
			answers[key] = instance.Answer[string]{Err: errors.New("negative")}
		}
	}
	return answers
}

func (r *recorder) expect(t *testing.T, sizes ...int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if fmt.Sprint(r.sizes) != fmt.Sprint(sizes) {
		t.Errorf("calls of %v, want %v", r.sizes, sizes)
	}
}

var options = instance.BatchOptions{Idle: 100 * time.Millisecond, Longest: time.Second, Most: 5}

// Callers that ask at the same time share a call, and each gets the answer to its own key.
func TestTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		b := instance.NewBatcher(options, r.call)
		var group sync.WaitGroup
		for key := range 4 {
			group.Go(func() {
				time.Sleep(time.Duration(key) * 50 * time.Millisecond)
				if got, err := b.Ask(t.Context(), key); err != nil || got != fmt.Sprint(key) {
					t.Errorf("%d got %q, error %v", key, got, err)
				}
			})
		}
		group.Go(func() {
			if _, err := b.Ask(t.Context(), 0); err != nil {
				t.Errorf("the same key twice: %v", err)
			}
		})
		group.Wait()
		r.expect(t, 4)
	})
}

// A batch waits no longer than its limit, and takes no more keys than fit.
func TestBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		b := instance.NewBatcher(instance.BatchOptions{Idle: 100 * time.Millisecond, Longest: 250 * time.Millisecond, Most: 100}, r.call)
		var group sync.WaitGroup
		for key := range 6 {
			group.Go(func() {
				time.Sleep(time.Duration(key) * 80 * time.Millisecond)
				_, _ = b.Ask(t.Context(), key) // only the sizes of the batches matter
			})
		}
		group.Wait()
		r.expect(t, 4, 2)

		full := &recorder{}
		b = instance.NewBatcher(options, full.call)
		for key := range 7 {
			group.Go(func() { _, _ = b.Ask(t.Context(), key) })
		}
		group.Wait()
		full.expect(t, 5, 2)
	})
}

// A caller that gives up returns at once; the others get their answers.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		b := instance.NewBatcher(options, r.call)
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := b.Ask(impatient, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want the end of the context", err)
			}
		})
		group.Go(func() {
			if _, err := b.Ask(t.Context(), -2); err == nil {
				t.Error("want an error of its own")
			}
		})
		group.Wait()
		if _, err := b.Ask(impatient, 3); err == nil {
			t.Error("a context that has ended asks nothing")
		}
		r.expect(t, 2)
	})
}
