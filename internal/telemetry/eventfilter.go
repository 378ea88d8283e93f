package telemetry

import (
	"cmp"
	"hash/fnv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/lru"
)

// The default values of events, and how much the filter remembers.
const (
	defaultEvery = 2 * time.Minute
	// podsEach is how many pods of one owner get their own event; the others share one.
	podsEach = 10
	// remembered limits the memory for published events. When it is too small an event is published
	// twice; the rates below still hold.
	remembered = 50_000
	// openGroups limits the owners whose events are being counted.
	openGroups = 4_000
	// lookEvery is how often groups are checked, so that not every event of a burst pays for it.
	lookEvery = time.Second
	// longestMessage is the maximum length of an event's message in Kubernetes' documentation.
	longestMessage = 1024
)

// podRate is for events of pods that set no rate: a burst of pods may have any number of owners.
var podRate = Rate{PerSecond: 10, Burst: 100}

// eventFilter decides which events are published. Three things hold an event back: the same one was
// published a moment ago; ten pods of the same owner have had it already; or there are too many with
// its reason. Events of pods that are held back for the latter two are counted, and published as one
// event of the owner. The filter has no clock: its caller passes the time.
type eventFilter struct {
	seen    *lru.Cache // published events, and until when each is not repeated
	buckets map[bucketKey]*bucket
	groups  map[groupKey]*eventGroup
	opened  []*eventGroup // in the order in which they were opened
	looked  time.Time     // when groups were last gone through
}

func newEventFilter() *eventFilter {
	return &eventFilter{seen: lru.New(remembered), buckets: map[bucketKey]*bucket{}, groups: map[groupKey]*eventGroup{}}
}

// pass returns the events to publish when this one arrives: none, the event, or others that are
// due.
func (s *eventFilter) pass(now time.Time, e Event) []Event {
	out := s.due(now)
	identity := e.identity()
	if until, said := s.seen.Get(identity); said && now.Before(until.(time.Time)) {
		return out
	}
	pod, isPod := e.Object.(*corev1.Pod)
	every := cmp.Or(e.Every, defaultEvery)
	switch {
	case isPod && s.groupOf(now, pod, e).full(e, now):
		s.groupOf(now, pod, e).hold(e)
		every = again(e, every)
	case !s.bucketOf(e, isPod).take(now):
		if !isPod {
			// It may be published next time: nothing is remembered.
			return out
		}
		s.groupOf(now, pod, e).hold(e)
		every = again(e, every)
	default:
		if isPod {
			s.groupOf(now, pod, e).release(e)
		}
		out = append(out, e.short())
	}
	s.seen.Add(identity, now.Add(every))
	return append(out, s.overflow()...)
}

// again is after how long an event that was held back is considered again.
func again(e Event, every time.Duration) time.Duration {
	if e.Own {
		return min(every, offered)
	}
	return every
}

// due returns one event for each group whose time is over, as far as rates allow, and forgets
// groups that hold no events.
func (s *eventFilter) due(now time.Time) []Event {
	if now.Sub(s.looked) < lookEvery {
		return nil
	}
	s.looked = now
	var out []Event
	kept := s.opened[:0]
	for _, c := range s.opened {
		switch {
		case now.Before(c.tell):
			kept = append(kept, c)
		case len(c.held) == 0 && !now.Before(c.ends):
			delete(s.groups, c.key)
		case len(c.held) == 0 || !s.bucketOf(c.last, true).take(now):
			kept = append(kept, c)
		default:
			out = append(out, c.told(now))
			kept = append(kept, c)
		}
	}
	clear(s.opened[len(kept):])
	s.opened = kept
	return out
}

// overflow publishes the counts of the oldest groups when there are too many, and forgets them.
func (s *eventFilter) overflow() []Event {
	var out []Event
	for len(s.opened) > openGroups {
		oldest := s.opened[0]
		s.opened = s.opened[1:]
		delete(s.groups, oldest.key)
		if len(oldest.held) > 0 {
			out = append(out, oldest.together())
		}
	}
	return out
}

// identity is the same for events that should be published once.
func (e Event) identity() uint64 {
	hash := fnv.New64a()
	write := func(text string) { hash.Write(append([]byte(text), 0)) }
	write(e.Reason)
	if len(e.Key) == 0 {
		write(string(e.Object.GetUID()))
	}
	for _, part := range e.Key {
		write(part)
	}
	return hash.Sum64()
}

// short is the event with its message cut to the length that the API server accepts.
func (e Event) short() Event {
	if len(e.Message) > longestMessage {
		e.Message = strings.ToValidUTF8(e.Message[:longestMessage-len("…")], "") + "…"
	}
	return e
}

// bucket holds as many tokens as events may go out at once, and fills with time.
type bucket struct {
	rate   Rate
	tokens float64
	filled time.Time
}

// bucketKey contains the rate because events of one reason about different kinds may have different
// rates.
type bucketKey struct {
	reason string
	rate   Rate
}

func (s *eventFilter) bucketOf(e Event, isPod bool) *bucket {
	key := bucketKey{e.Reason, e.Rate}
	if isPod && e.Rate == (Rate{}) {
		key.rate = podRate
	}
	b, made := s.buckets[key]
	if !made {
		b = &bucket{rate: key.rate, tokens: float64(key.rate.Burst)}
		s.buckets[key] = b
	}
	return b
}

func (b *bucket) take(now time.Time) bool {
	if b.rate == (Rate{}) {
		return true
	}
	if !b.filled.IsZero() {
		b.tokens = min(float64(b.rate.Burst), b.tokens+b.rate.PerSecond*max(now.Sub(b.filled), 0).Seconds())
	}
	b.filled = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
