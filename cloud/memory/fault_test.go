package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud"
	"tenon/cloud/memory"
)

func TestFaultsComeBeforeOrAfterTheEffect(t *testing.T) {
	t.Parallel()
	var calls []memory.Call
	faults := map[int]memory.Fault{1: {Before: memory.ErrUnreachable}, 2: {After: memory.ErrLost}}
	_, far, near := world(memory.Options{Trouble: func(c memory.Call) memory.Fault {
		calls = append(calls, c)
		return faults[c.Attempt]
	}})
	for attempt, want := range []struct {
		err  error
		sold int
	}{{memory.ErrUnreachable, 0}, {memory.ErrLost, 1}, {nil, 1}} {
		if _, err := near.Create(t.Context(), claim("a")); !errors.Is(err, want.err) {
			t.Errorf("attempt %d: %v, want %v", attempt+1, err, want.err)
		}
		if far.Bought() != want.sold {
			t.Errorf("after attempt %d %d were sold, want %d", attempt+1, far.Bought(), want.sold)
		}
	}
	want := []memory.Call{
		{Method: memory.Create, Subject: "a", Attempt: 1}, {Method: memory.Create, Subject: "a", Attempt: 2},
		{Method: memory.Create, Subject: "a", Attempt: 3},
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A bubble has its own time, which the system's clock follows.
func TestSlowCallsWaitOrGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := memory.New(memory.Options{Trouble: func(memory.Call) memory.Fault { return memory.Fault{Delay: time.Minute} }})
		near := far.Connect()
		began := time.Now()
		i := mustCreate(t, near, claim("a"))
		if took := time.Since(began); took != time.Minute || !i.Launched.Equal(began.Add(time.Minute)) {
			t.Errorf("create took %s, and launched at %s", took, i.Launched)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := near.Create(short, claim("b")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the end of the context", err)
		}
		if far.Bought() != 1 {
			t.Errorf("%d were sold, want 1: the second call had not arrived", far.Bought())
		}
	})
}

func TestChanceIsDeterministic(t *testing.T) {
	t.Parallel()
	rates := memory.Rates{Unreachable: 100, Lost: 100, Throttled: 100, Slow: 300, SlowUpTo: time.Second, Deaths: 200, LifeUpTo: time.Hour}
	one, same, other := memory.Chance{Seed: 1, Rates: rates}, memory.Chance{Seed: 1, Rates: rates}, memory.Chance{Seed: 2, Rates: rates}
	counts := map[string]int{}
	differ := false
	const calls = 10_000
	for n := range calls {
		call := memory.Call{Method: memory.Create, Subject: fmt.Sprint(n / 4), Attempt: n % 4}
		f := one.Trouble(call)
		if g := same.Trouble(call); fmt.Sprint(f) != fmt.Sprint(g) {
			t.Fatalf("%+v: the same seed gives %+v and %+v", call, f, g)
		}
		differ = differ || fmt.Sprint(f) != fmt.Sprint(other.Trouble(call))
		life, dies := one.Lifetime(fmt.Sprint(n))
		count(counts, "slow", f.Delay > 0)
		count(counts, "unreachable", errors.Is(f.Before, memory.ErrUnreachable))
		throttled, is := errors.AsType[*cloud.Throttled](f.Before)
		count(counts, "throttled", is && throttled.RetryAfter > 0)
		count(counts, "lost", errors.Is(f.After, memory.ErrLost))
		count(counts, "dies", dies)
		if f.Delay > rates.SlowUpTo || life > rates.LifeUpTo || dies != (life > 0) {
			t.Fatalf("delay %s, life %s", f.Delay, life)
		}
	}
	if !differ {
		t.Error("another seed gives the same")
	}
	// Each share is within a fifth of what was asked for; one call has one error at most.
	for what, want := range map[string]int{"slow": 3000, "throttled": 1000, "unreachable": 900, "lost": 810, "dies": 2000} {
		if got := counts[what]; got < want*4/5 || got > want*6/5 {
			t.Errorf("%d of %d calls are %s, want about %d", got, calls, what, want)
		}
	}
	quiet := memory.Chance{Seed: 1}
	if f := quiet.Trouble(memory.Call{}); f != (memory.Fault{}) {
		t.Errorf("no rates, and %+v", f)
	}
	if _, dies := quiet.Lifetime("x"); dies {
		t.Error("no rates, and an instance dies")
	}
}

func count(counts map[string]int, what string, is bool) {
	if is {
		counts[what]++
	}
}

// However calls go wrong and interleave, every claim gets one instance, and two runs end
// in the same books.
func TestNothingIsBoughtTwiceAfterAnyFault(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		chance := memory.Chance{Seed: seed, Rates: memory.Rates{Unreachable: 200, Lost: 300, Throttled: 200}}
		run := func() memory.State {
			_, far, near := world(memory.Options{Seed: seed, Trouble: chance.Trouble})
			const claims, workers = 20, 4
			var done sync.WaitGroup
			for worker := range workers {
				done.Go(func() {
					for n := range claims {
						ask := claim(fmt.Sprint((n + worker*5) % claims))
						ask.Requests.CPU = int64(500 * (1 + n%3))
						for _, err := near.Create(t.Context(), ask); err != nil; _, err = near.Create(t.Context(), ask) {
						}
					}
				})
			}
			done.Wait()
			if far.Bought() != claims {
				t.Errorf("seed %d: %d claims bought %d instances", seed, claims, far.Bought())
			}
			return far.State()
		}
		first, second := run(), run()
		if a, b := ids(first), ids(second); !slices.Equal(a, b) {
			t.Errorf("seed %d: two runs bought %v and %v", seed, a, b)
		}
	}
}

// ids are the names of the machines. Which of several sizes that a claim asked for came
// first depends on who was first; who they are does not.
func ids(s memory.State) []string {
	var out []string
	for _, r := range s.Records {
		out = append(out, r.Machine.Node)
	}
	slices.Sort(out)
	return out
}
