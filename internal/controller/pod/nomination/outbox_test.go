package nomination

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/world"
)

// While the API server is slow to answer, nominations of other pods are written, two at a time, and the last one of the same pod follows.
func TestNoNominationWaitsForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var written []string
		o := newOutbox(2)
		nominate := func(pod, node string) {
			n := world.Nomination{PodRef: world.PodRef{UID: types.UID(pod), Name: pod}, Node: node}
			o.send(t.Context(), []world.Nomination{n}, func(_ context.Context, n world.Nomination) {
				mu.Lock()
				written = append(written, n.Name+" "+n.Node)
				mu.Unlock()
				time.Sleep(time.Second)
			})
			synctest.Wait()
		}
		nominate("a", "1")
		nominate("b", "1")
		nominate("c", "1")
		nominate("a", "2")
		nominate("a", "3")
		mu.Lock()
		if got := len(written); got != 2 {
			t.Errorf("%d at the same time, want 2", got)
		}
		mu.Unlock()
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		o.mu.Lock()
		defer o.mu.Unlock()
		slices.Sort(written)
		if want := []string{"a 1", "a 3", "b 1", "c 1"}; !slices.Equal(written, want) {
			t.Errorf("written %v, want %v", written, want)
		}
		if len(o.busy) > 0 {
			t.Errorf("%d pods are still busy", len(o.busy))
		}
	})
}
