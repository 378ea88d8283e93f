package watch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"tenon/core/model"
	"tenon/internal/view"
)

// TestUseFollowsTheMetricsOfNodes checks that what metrics-server measures reaches the view, that a wrong amount is a problem,
// and that a cluster without metrics-server has neither use nor a problem.
func TestUseFollowsTheMetricsOfNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // the clock of synctest orders nothing for the race detector
		cpu, failure := "1500m", error(nil)
		c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			mu.Lock()
			defer mu.Unlock()
			metrics, is := list.(*unstructured.UnstructuredList)
			if !is || metrics.GetKind() != "NodeMetricsList" || failure != nil {
				return failure
			}
			metrics.Items = []unstructured.Unstructured{{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "usage": map[string]any{"cpu": cpu, "memory": "2Gi"}}}}
			return nil
		}}).Build()
		w := over(c, view.NewState(nil)).Measured()
		w.State.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.measures(ctx); close(done) }()
		synctest.Wait()
		if got := w.State.Fleet().Find("a").Used; !got.Equal(model.Resources{CPU: 1500, Memory: 2 << 30}) {
			t.Errorf("node a uses %+v", got)
		}
		mu.Lock()
		cpu = "much"
		mu.Unlock()
		time.Sleep(measure)
		synctest.Wait()
		if got := w.Problems(); len(got) != 1 {
			t.Errorf("problems: %q", got)
		}
		mu.Lock()
		failure = &meta.NoKindMatchError{}
		mu.Unlock()
		time.Sleep(measure)
		synctest.Wait()
		if got := w.State.Fleet().Find("a").Used; !got.IsZero() || len(w.Problems()) != 0 {
			t.Errorf("node a uses %+v, problems %q", got, w.Problems())
		}
		cancel()
		<-done
	})
}
