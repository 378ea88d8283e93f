package watch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/market/publication"
	"tenon/internal/view"
)

// TestWatchFollowsACluster checks that objects that come and go reach the view, on a cluster that
// knows no pools and does not let the user read events.
func TestWatchFollowsACluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}).
			WithInterceptorFuncs(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
				switch list.(type) {
				case *corev1.EventList:
					return apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", nil)
				case *awsv1.EC2NodeClassList:
					return apierrors.NewForbidden(schema.GroupResource{Resource: "ec2nodeclasses"}, "", nil)
				case *karpenterv1.NodePoolList, *karpenterv1.NodeClaimList, *tenonv1alpha1.NodeGroupList:
					return &meta.NoKindMatchError{}
				}
				return c.List(ctx, list)
			}}).Build()
		w := over(c, view.NewState(nil))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.Run(ctx); close(done) }()
		if err := w.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if f := w.State.Fleet(); len(f.Nodes) != 1 || f.Managed {
			t.Errorf("%d nodes, managed %t", len(f.Nodes), f.Managed)
		}
		if got := w.Problems(); len(got) != 1 || got[0] != "may not list events" {
			t.Errorf("problems: %q", got)
		}
		synctest.Wait()
		if err := c.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}, Spec: corev1.PodSpec{NodeName: "a"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := w.State.Fleet().Find("a"); len(n.Pods) != 1 {
			t.Errorf("node a has %d pods", len(n.Pods))
		}
		if err := c.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f := w.State.Fleet(); len(f.Nodes) != 0 {
			t.Errorf("%d nodes are left", len(f.Nodes))
		}
		cancel()
		<-done
	})
}

// TestListsReplace checks that objects which a new list lacks are gone.
func TestListsReplace(t *testing.T) {
	t.Parallel()
	w := over(nil, view.NewState(nil))
	nodes := &store{w: w, kind: kinds()[0], names: map[string]bool{}}
	named := kinds()[0].named
	for _, list := range [][]any{{named("", "a"), named("", "b")}, {named("", "b"), named("", "c")}} {
		if err := nodes.Replace(list, ""); err != nil {
			t.Fatal(err)
		}
	}
	if f := w.State.Fleet(); f.Find("a") != nil || len(f.Nodes) != 2 {
		t.Errorf("%d nodes, a among them: %t", len(f.Nodes), f.Find("a") != nil)
	}
}

// TestPricesFollowTheMarket checks that what the controller publishes reaches the view, again and again, and that the
// view says when it cannot be read.
func TestPricesFollowTheMarket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := over(nil, view.NewState(nil))
		begin := time.Now()
		var broken atomic.Bool // is read by the goroutine that asks for prices
		w.market = func(context.Context) (*publication.Publication, error) {
			if broken.Load() {
				return nil, errors.New("it is no text")
			}
			return &publication.Publication{At: time.Now()}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.prices(ctx); close(done) }()
		for range 2 {
			synctest.Wait()
			if got := w.State.Fleet().Published; !got.Equal(time.Now()) {
				t.Errorf("after %s the prices are of %s", time.Since(begin), got)
			}
			time.Sleep(ask)
		}
		broken.Store(true)
		time.Sleep(ask)
		synctest.Wait()
		if got := w.Problems(); len(got) != 1 || got[0] != "cannot read the published market: it is no text" {
			t.Errorf("problems: %q", got)
		}
		cancel()
		<-done
	})
}
