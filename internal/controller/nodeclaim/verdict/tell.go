package verdict

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

const (
	// repeat is after how long an event is repeated, so that people who look later find it: the API server
	// forgets events after an hour.
	repeat = 15 * time.Minute
	// mostAnHour is the most events about a node in an hour. A new text is published at once, unlike in
	// Karpenter, where an earlier event may suppress it.
	mostAnHour = 4
)

// lastTold is what was told about a claim, or about a node of a group.
type lastTold struct {
	member bool
	marked time.Time   // when its condition was written
	mark   mark        // what was written there
	told   string      // by the last event
	at     []time.Time // of the last events, the latest last
}

// last is when an event was last published; zero if never.
func (m *lastTold) last() time.Time {
	if len(m.at) == 0 {
		return time.Time{}
	}
	return m.at[len(m.at)-1]
}

// next is when a text may be told.
func (m *lastTold) next(text string) time.Time {
	out := time.Time{}
	if text == m.told {
		out = m.last().Add(repeat)
	}
	if len(m.at) == mostAnHour {
		if free := m.at[0].Add(time.Hour); free.After(out) {
			out = free
		}
	}
	return out
}

func (m *lastTold) tell(text string, now time.Time) {
	m.told, m.at = text, append(slices.Clone(m.at), now)
	if len(m.at) > mostAnHour {
		m.at = m.at[1:]
	}
}

// dueEvents are the subjects about which an event is to be published, what was never told
// first; and when the next one will be.
func (c *controller) dueEvents(subjects []subject, now time.Time) ([]subject, reconcile.Result) {
	var due []subject
	next := reconcile.Never
	for _, s := range subjects {
		if s.entry.Event() == "" {
			continue
		}
		m := c.memory[s.object().GetUID()]
		at := later(m.next(s.text()), s.entry.Since.Add(patience))
		if at.After(now) {
			next = next.Sooner(reconcile.In(at.Sub(now)))
			continue
		}
		due = append(due, s)
	}
	slices.SortFunc(due, func(a, b subject) int {
		m, n := c.memory[a.object().GetUID()], c.memory[b.object().GetUID()]
		return cmp.Or(m.last().Compare(n.last()), cmp.Compare(a.object().GetName(), b.object().GetName()))
	})
	return due, next
}

// text is what makes two events different.
func (s *subject) text() string { return s.entry.Event() + ": " + s.entry.Message }

// announce publishes what keeps nodes, as many events as may be published at once. It reports whether there
// are more.
func (c *controller) announce(ctx context.Context, subjects []subject, now time.Time) reconcile.Result {
	due, next := c.dueEvents(subjects, now)
	for _, s := range due {
		if !c.events.take(now) {
			return next.Sooner(reconcile.In(spell))
		}
		m := c.memory[s.object().GetUID()]
		m.member = s.member != nil
		m.tell(s.text(), now)
		c.memory[s.object().GetUID()] = m
		next = next.Sooner(reconcile.In(m.next(s.text()).Sub(now)))
		c.publish(s.event(s.object()))
		node := &corev1.Node{}
		if s.claim != nil && s.claim.Status.NodeName != "" && c.kit.Client.Get(ctx, client.ObjectKey{Name: s.claim.Status.NodeName}, node) == nil {
			c.publish(s.event(node)) // a node that is gone needs none
		}
	}
	return next
}

func (s *subject) event(object client.Object) telemetry.Event {
	return telemetry.Normal(object, s.entry.Event(), s.entry.Message, string(object.GetUID()), s.entry.Message).Within(repeat)
}

func (c *controller) publish(e telemetry.Event) { c.kit.Events.Publish(e) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
