package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"tenon/internal/telemetry"
)

// Add runs a controller in a manager, with as many workers as the CPU pays for.
func Add(m manager.Manager, c Controller, cpuMilli int) error {
	made, err := controller.New(c.Name, m, options(c, m.GetLogger(), cpuMilli))
	if err != nil {
		return fmt.Errorf("make controller %s: %w", c.Name, err)
	}
	if c.Singleton() {
		return made.Watch(source.Func(c.rouse))
	}
	for _, w := range c.Watches {
		if err := made.Watch(source.Kind(m.GetCache(), w.Kind, w.handler(), w.predicate())); err != nil {
			return fmt.Errorf("watch %T for controller %s: %w", w.Kind, c.Name, err)
		}
	}
	if c.SubscribeKeys == nil {
		return nil
	}
	return made.Watch(source.Func(c.rouseKeys))
}

func options(c Controller, log logr.Logger, cpuMilli int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: c.Workers.For(cpuMilli),
		Reconciler:              adapter(c),
		RateLimiter:             c.Retry.limiter(),
		LogConstructor:          c.log(log),
		// Names are checked for the whole program otherwise, and two replicas in one test have
		// the same.
		SkipNameValidation: ptr.To(true),
		// The priority queue of this release can hold its lock for good when it is shut down while it hands out
		// an item. The process then ended half a minute late, with an error, and the next leader waited.
		UsePriorityQueue: ptr.To(false),
	}
}

// log names what a line is about: the controller, and the object unless there is none.
func (c Controller) log(base logr.Logger) func(*reconcile.Request) logr.Logger {
	base = base.WithValues("controller", c.Name)
	return func(request *reconcile.Request) logr.Logger {
		switch {
		case request == nil || request.Name == "":
			return base
		case request.Namespace == "":
			return base.WithValues("name", request.Name)
		}
		return base.WithValues("namespace", request.Namespace, "name", request.Name)
	}
}

// rouse wakes a singleton for the first time, and then whenever it subscribed to.
func (c Controller) rouse(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	wake := func() { queue.Add(reconcile.Request{}) }
	if c.Subscribe != nil {
		c.Subscribe(wake)
	}
	wake()
	return nil
}

// rouseKeys lets a controller of objects be woken by what it subscribed to.
func (c Controller) rouseKeys(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c.SubscribeKeys(func(keys ...Key) {
		for _, key := range keys {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
	})
	return nil
}

func adapter(c Controller) reconcile.Func {
	conflicts := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](conflictFirst, conflictLongest)
	return func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if ctx.Err() != nil {
			return reconcile.Result{}, nil // the process ends: what is still queued is for the next leader
		}
		// Metrics of the provider's calls name who made them.
		result, err := c.Reconcile(telemetry.WithController(ctx, c.Name), request.NamespacedName)
		switch {
		case Overtaken(err):
			// Another writer was first. That is normal among writers, and no error to report.
			Log(ctx).V(1).Info("looking again, the object has changed meanwhile", "reason", err.Error())
			return reconcile.Result{RequeueAfter: conflicts.When(request)}, nil
		case ctx.Err() != nil:
			return reconcile.Result{}, nil // a call that was cut short is no error to report
		case err != nil:
			return reconcile.Result{}, err
		}
		conflicts.Forget(request)
		return reconcile.Result{RequeueAfter: result.After}, nil
	}
}

// How long to leave the watch to bring what has changed: usually it has within the first, and where
// it is far behind a thousand keys must not ask twenty times a second whether it has caught up. Keys
// need no jitter between them: two writers of one object take turns, and one of them always wins.
const (
	conflictFirst   = 50 * time.Millisecond
	conflictLongest = time.Second
)

// Overtaken reports whether all that went wrong is that something was decided on an old version
// of an object.
func Overtaken(err error) bool {
	if joined, several := err.(interface{ Unwrap() []error }); several {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !Overtaken(e) })
	}
	return apierrors.IsConflict(err)
}

func (w Watch) handler() handler.EventHandler {
	if w.Keys == nil {
		return &handler.EnqueueRequestForObject{}
	}
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		keys := w.Keys(ctx, object)
		requests := make([]reconcile.Request, len(keys))
		for i, key := range keys {
			requests[i].NamespacedName = key
		}
		return requests
	})
}

func (w Watch) predicate() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return w.Wakes(nil, e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return w.Wakes(e.ObjectOld, e.ObjectNew) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return w.Wakes(e.Object, nil) },
		GenericFunc: func(e event.GenericEvent) bool { return w.Wakes(nil, e.Object) },
	}
}

// What a Backoff that says nothing means.
const (
	defaultFirst   = 5 * time.Millisecond
	defaultLongest = time.Minute
)

// Times are the first and the longest wait.
func (b Backoff) Times() (first, longest time.Duration) {
	first, longest = b.First, b.Longest
	if first == 0 {
		first = defaultFirst
	}
	if longest == 0 {
		longest = defaultLongest
	}
	return first, longest
}

func (b Backoff) limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	first, longest := b.Times()
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, longest)
}
