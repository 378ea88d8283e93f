package reconcile

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A singleton is woken at the start and by what it subscribed to; a controller of objects for the keys that it is told.
func TestControllersAreWokenByTheProcess(t *testing.T) {
	t.Parallel()
	queue := func() workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return workqueue.NewTypedRateLimitingQueue(Backoff{}.limiter())
	}
	take := func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) (names []string) {
		for q.Len() > 0 {
			r, _ := q.Get()
			q.Done(r)
			names = append(names, r.Name)
		}
		return names
	}

	var wake func()
	one := queue()
	if err := (Controller{Subscribe: func(f func()) { wake = f }}).rouse(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if got := take(one); len(got) != 1 || got[0] != "" {
		t.Errorf("at the start a singleton is woken for %q", got)
	}
	wake()
	if got := take(one); len(got) != 1 || got[0] != "" {
		t.Errorf("by its subscription a singleton is woken for %q", got)
	}

	var wakeKeys func(...Key)
	several := queue()
	if err := (Controller{SubscribeKeys: func(f func(...Key)) { wakeKeys = f }}).rouseKeys(t.Context(), several); err != nil {
		t.Fatal(err)
	}
	if got := take(several); len(got) > 0 {
		t.Errorf("at the start a controller of objects is woken for %q", got)
	}
	wakeKeys(types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"})
	if got := take(several); len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("by its subscription it is woken for %q", got)
	}
}
