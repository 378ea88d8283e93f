package telemetry

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// groupKey identifies the events of pods that are published together.
type groupKey struct {
	reason, namespace, kind, owner string
}

// eventGroup counts the events of one reason of the pods of one owner.
type eventGroup struct {
	key       groupKey
	owner     *metav1.OwnerReference // nil for pods without one: a group is then all of a namespace
	every     time.Duration
	tell      time.Time // when the count may be published
	ends      time.Time // when pods get events of their own again
	published int
	held      map[uint64]bool // by identity: repeated events count once
	last      Event
}

const (
	// trickle is how many more pods of an owner get their own event in each second, of events that
	// every pod should have. Their publishers repeat them.
	trickle = 5
	// offered is for how long such an event is ignored after it was held back.
	offered = 5 * time.Second
)

// gather is how long events above the limit are counted before one event reports them: a burst is
// over by then.
const gather = 10 * time.Second

func (s *eventFilter) groupOf(now time.Time, pod *corev1.Pod, e Event) *eventGroup {
	key := groupKey{reason: e.Reason, namespace: pod.Namespace}
	owner := metav1.GetControllerOf(pod)
	if owner != nil {
		key.kind, key.owner = owner.Kind, owner.Name
	}
	c, open := s.groups[key]
	if !open {
		every := cmp.Or(e.Every, defaultEvery)
		c = &eventGroup{key: key, owner: owner, every: every, tell: now.Add(gather), ends: now.Add(every), held: map[uint64]bool{}}
		s.groups[key] = c
		s.opened = append(s.opened, c)
	}
	if !now.Before(c.ends) {
		c.published, c.ends = 0, now.Add(c.every)
	}
	return c
}

// full reports whether a pod's event is held back.
func (c *eventGroup) full(e Event, now time.Time) bool {
	most := podsEach
	if e.Own {
		most += int(trickle * now.Sub(c.ends.Add(-c.every)).Seconds())
	}
	return c.published >= most
}

func (c *eventGroup) hold(e Event) {
	c.held[e.identity()] = true
	c.last = e
}

// release removes an event from those held back: it is published itself.
func (c *eventGroup) release(e Event) {
	c.published++
	delete(c.held, e.identity())
}

// told is the event of the group, and begins the next count.
func (c *eventGroup) told(now time.Time) Event {
	out := c.together()
	clear(c.held)
	c.last = Event{}
	c.tell = now.Add(c.every)
	return out
}

// together is one event for all that are held back. It is about the owner, or about the last pod if
// there is no owner.
func (c *eventGroup) together() Event {
	whose := "in namespace " + c.key.namespace
	out := c.last
	if c.owner != nil {
		whose = fmt.Sprintf("of %s %s", c.owner.Kind, c.owner.Name)
		out.Object = &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: c.owner.APIVersion, Kind: c.owner.Kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: c.key.namespace, Name: c.owner.Name, UID: c.owner.UID},
		}
	}
	if len(c.held) > 1 {
		out.Message = fmt.Sprintf("%d more pods %s, the last of them %s: %s", len(c.held), whose, c.last.Object.GetName(), c.last.Message)
	} else {
		out.Message = fmt.Sprintf("1 more pod %s, %s: %s", whose, c.last.Object.GetName(), c.last.Message)
	}
	return out.short()
}
