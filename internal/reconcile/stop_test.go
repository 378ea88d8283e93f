package reconcile

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// A controller that is stopped while objects change ends: no worker waits for its queue for good.
func TestControllersStopWhileObjectsChange(t *testing.T) {
	t.Parallel()
	for try := range 300 {
		ctx, stop := context.WithCancel(t.Context())
		seen := make(chan struct{}, 1)
		c := Controller{Name: "busy", Workers: Workers{Min: 4, Max: 4}, Reconcile: func(context.Context, Key) (Result, error) {
			select {
			case seen <- struct{}{}:
			default:
			}
			return Never, nil
		}}
		made, err := controller.NewUnmanaged(c.Name, options(c, logr.Discard(), 1000))
		if err != nil {
			t.Fatal(err)
		}
		changes := source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			go func() {
				for i := 0; ctx.Err() == nil; i++ {
					queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: fmt.Sprint(i % 50)}})
				}
			}()
			return nil
		})
		if err := made.Watch(changes); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- made.Start(ctx) }()
		<-seen
		stop()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("try %d: the controller has not ended after ten seconds", try)
		}
	}
}
