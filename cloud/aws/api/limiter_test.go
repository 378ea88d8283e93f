package api_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"tenon/cloud/aws/api"
)

// service refuses calls beyond a bucket that fills at a steady rate, as AWS does.
type service struct {
	mu              sync.Mutex
	tokens          float64
	rate, burst     float64
	at              time.Time
	taken, refusals int
}

func newService(rate, burst float64) *service {
	return &service{tokens: burst, rate: rate, burst: burst, at: time.Now()}
}

func (s *service) call() (refused bool) {
	time.Sleep(20 * time.Millisecond) // the network
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.tokens = min(s.burst, s.tokens+now.Sub(s.at).Seconds()*s.rate)
	s.at = now
	if s.tokens < 1 {
		s.refusals++
		return true
	}
	s.tokens--
	s.taken++
	return false
}

// until repeats a call until the service accepts it, and counts the refusals.
func until(ctx context.Context, t *testing.T, l *api.Limiter, s *service) (refusals int) {
	for {
		permit, err := l.Wait(ctx, "CreateFleet")
		if err != nil {
			t.Error(err)
			return refusals
		}
		refused := s.call()
		permit.Done(refused)
		if !refused {
			return refusals
		}
		refusals++
	}
}

// Three hundred calls at once meet a limit of five a second: the service answers all of them at nearly that
// rate, and refuses no call more than a few times.
func TestBurstAgainstALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, s := api.NewLimiter(clock.RealClock{}), newService(5, 50)
		begun := time.Now()
		var group sync.WaitGroup
		var mu sync.Mutex
		worst := 0
		for range 300 {
			group.Go(func() {
				n := until(t.Context(), t, l, s)
				mu.Lock()
				defer mu.Unlock()
				worst = max(worst, n)
			})
		}
		group.Wait()
		took := time.Since(begun)
		// 250 calls beyond the burst take 50 seconds at best.
		if took > 75*time.Second {
			t.Errorf("took %s", took)
		}
		if worst > 5 || s.refusals > 350 {
			t.Errorf("a call was refused %d times, all together %d times", worst, s.refusals)
		}
	})
}

// While calls wait, terminations go before launches, and launches before all others.
func TestImportantCallsGoFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := api.NewLimiter(clock.RealClock{})
		first, err := l.Wait(t.Context(), "op")
		if err != nil {
			t.Fatal(err)
		}
		first.Done(true) // from now on calls wait
		var mu sync.Mutex
		var order []string
		var group sync.WaitGroup
		for _, c := range []struct {
			name     string
			priority api.Priority
		}{{"background", api.Background}, {"launch 1", api.Launch}, {"launch 2", api.Launch}, {"terminate", api.Terminate}} {
			group.Go(func() {
				permit, err := l.Wait(api.WithPriority(t.Context(), c.priority), "op")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, c.name)
				mu.Unlock()
				permit.Done(true) // so that the rate stays, and no two calls go at the same instant
			})
			synctest.Wait() // it waits, and the next one comes after it
		}
		group.Wait()
		if want := []string{"terminate", "launch 1", "launch 2", "background"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

// A caller that gives up gets an error, and the others still get their turn.
func TestGivingUpWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := api.NewLimiter(clock.RealClock{})
		first, _ := l.Wait(t.Context(), "op")
		first.Done(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Wait(ctx, "op"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if _, err := l.Wait(t.Context(), "op"); err != nil {
			t.Error(err)
		}
	})
}

// A limit on one operation does not delay the others, and ends after a while without refusals.
func TestLimitsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := api.NewLimiter(clock.RealClock{})
		permit, _ := l.Wait(t.Context(), "op")
		permit.Done(true)
		if l.Rate("op") == 0 || l.Rate("other") != 0 {
			t.Errorf("rates %g and %g", l.Rate("op"), l.Rate("other"))
		}
		time.Sleep(11 * time.Minute)
		if _, err := l.Wait(t.Context(), "op"); err != nil || l.Rate("op") != 0 {
			t.Errorf("rate %g after eleven minutes, %v", l.Rate("op"), err)
		}
	})
}
