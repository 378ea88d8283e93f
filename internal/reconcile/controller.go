// Package reconcile says what a controller is, as data: which objects wake it, for which
// keys, and what it does for one key. The process runs that data on controller-runtime
// (Add); the simulation steps through the same data under virtual time. A controller
// cannot tell which of the two runs it.
//
// The package must not know any controller, and must contain no rules of the product.
package reconcile

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Key names the object that a controller works for. Singletons have the empty one.
type Key = types.NamespacedName

// Controller keeps one thing true, one key at a time. It works from the key and the
// current state, never from what woke it, and keeps nothing between calls.
type Controller struct {
	// Name is the documented one, for logs and metrics: "nodeclaim.lifecycle".
	Name string
	// Watches wake it. Without any it is a singleton: it runs once at the start, and
	// then when its last result says so.
	Watches []Watch
	// Subscribe, if it is there, is called once at the start with a function that wakes a
	// singleton: by something in the process rather than an object.
	Subscribe func(wake func())
	// SubscribeKeys is the same for a controller of objects, which is woken for some of them.
	SubscribeKeys func(wake func(...Key))
	// Workers is how many keys it works on at the same time.
	Workers Workers
	// Retry is how long it waits after an error, twice as long after each further one.
	Retry Backoff
	// Yields says that no pod waits for what it writes. In a burst of pods it writes that later: the API server's time is for the pods.
	Yields bool
	// Reconcile does what there is to do for a key. It is never called twice at the same
	// time for one key. An error is retried; a result says when to look again although
	// nothing changes.
	Reconcile func(ctx context.Context, key Key) (Result, error)
}

// Singleton reports whether the controller works for no object in particular.
func (c *Controller) Singleton() bool { return len(c.Watches) == 0 }

// Watch is one kind of objects that wakes a controller.
type Watch struct {
	// Kind is an empty object of the kind.
	Kind client.Object
	// Keys finds what has to be looked at because this object changed or went away. It
	// may read. Nil is the object's own key.
	Keys func(ctx context.Context, object client.Object) []Key
	// Matters says whether a change deserves a look: old is nil for an object that is
	// new, and changed is nil for one that went away. Nil is every change.
	Matters func(old, changed client.Object) bool
}

// KeysOf are the keys that an object wakes.
func (w Watch) KeysOf(ctx context.Context, object client.Object) []Key {
	if w.Keys == nil {
		return []Key{client.ObjectKeyFromObject(object)}
	}
	return w.Keys(ctx, object)
}

// Wakes reports whether a change deserves a look; see Matters.
func (w Watch) Wakes(old, changed client.Object) bool {
	return w.Matters == nil || w.Matters(old, changed)
}

// Result says when to look again although nothing changes.
type Result struct {
	// After is how long to wait; zero is for ever.
	After time.Duration
}

// Never is the result of work that is done until something changes.
var Never = Result{}

// In is a result that asks for another look. A wait that is over already is the shortest
// one, not none.
func In(d time.Duration) Result { return Result{After: max(d, time.Millisecond)} }

// Sooner is the earlier of two results.
func (r Result) Sooner(o Result) Result {
	if r.After == 0 || o.After != 0 && o.After < r.After {
		return o
	}
	return r
}

// Workers is a range: Min with one core, Max with sixty, in proportion between.
type Workers struct{ Min, Max int }

// One worker, however many cores there are.
var One = Workers{1, 1}

// mostCores is where Workers.Max is reached.
const mostCores = 60

// For is the number of workers that so much CPU pays for.
func (w Workers) For(cpuMilli int) int {
	cores := (max(cpuMilli, 1) + 999) / 1000
	if cores >= mostCores {
		return max(w.Max, 1)
	}
	return max(w.Min+(w.Max-w.Min)*(cores-1)/(mostCores-1), 1)
}

// Backoff is how long to wait after errors. The zero value is controller-runtime's.
type Backoff struct{ First, Longest time.Duration }

// Log is the logger of the running call: it has the controller's name, and the object's.
func Log(ctx context.Context) logr.Logger { return logr.FromContextOrDiscard(ctx) }
