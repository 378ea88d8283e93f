package stopwatch

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sighted is an object in an event of a watch.
type sighted struct {
	object client.Object
	fresh  bool // seen for the first time
	gone   bool
	at     time.Time
}

// watching sends every object of some kinds that is new, changes or is deleted from now on, until the
// context ends.
func (r run) watching(ctx context.Context, kinds ...client.Object) (<-chan sighted, error) {
	caches, err := ctrlcache.New(r.config, ctrlcache.Options{Scheme: r.kinds})
	if err != nil {
		return nil, fmt.Errorf("make caches: %w", err)
	}
	told := make(chan sighted, 100_000) // the buffer keeps the watch from blocking
	for _, kind := range kinds {
		informer, err := caches.GetInformer(ctx, kind, ctrlcache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(o any, initial bool) {
				if !initial {
					told <- sighted{object: o.(client.Object), fresh: true, at: time.Now()}
				}
			},
			UpdateFunc: func(_, o any) { told <- sighted{object: o.(client.Object), at: time.Now()} },
			DeleteFunc: func(o any) {
				if last, missed := o.(cache.DeletedFinalStateUnknown); missed {
					o = last.Obj
				}
				told <- sighted{object: o.(client.Object), gone: true, at: time.Now()}
			},
		})
		if err != nil {
			return nil, fmt.Errorf("follow %T: %w", kind, err)
		}
	}
	go func() { _ = caches.Start(ctx) }() // it returns no error when the context ends
	if !caches.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("caches are not filled: %w", ctx.Err())
	}
	return told, nil
}
