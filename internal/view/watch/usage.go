package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/core/model"
	"tenon/internal/ingest"
)

// usage is what the use of nodes is called among kinds.
const usage = "the use of nodes"

// measure is how often the use of nodes is read: metrics-server measures twice a minute at most by default. A cluster without it is asked again
// after unmeasured.
const (
	measure    = 30 * time.Second
	unmeasured = 5 * time.Minute
)

// errUnmeasured says that the cluster does not measure the use of nodes, or does not let this user read it.
var errUnmeasured = errors.New("the use of nodes is not measured")

// Measured also reads what nodes really use, if the cluster serves metrics.k8s.io.
func (w *Watch) Measured() *Watch {
	c := w.client
	w.usage = func(ctx context.Context) (map[string]model.Resources, error) { return usageOf(ctx, c) }
	return w
}

func usageOf(ctx context.Context, c client.Reader) (map[string]model.Resources, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "NodeMetricsList"})
	err := c.List(ctx, list)
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsServiceUnavailable(err):
		return nil, errUnmeasured
	case err != nil:
		return nil, fmt.Errorf("list the metrics of nodes: %w", err)
	}
	out := make(map[string]model.Resources, len(list.Items))
	for i := range list.Items {
		amounts, _, err := unstructured.NestedStringMap(list.Items[i].Object, "usage")
		if err != nil {
			return nil, fmt.Errorf("read the metrics of node %s: %w", list.Items[i].GetName(), err)
		}
		used := corev1.ResourceList{}
		for name, text := range amounts {
			amount, err := resource.ParseQuantity(text)
			if err != nil {
				return nil, fmt.Errorf("read the metrics of node %s: %s: %w", list.Items[i].GetName(), name, err)
			}
			used[corev1.ResourceName(name)] = amount
		}
		out[list.Items[i].GetName()] = ingest.Resources(used)
	}
	return out, nil
}

// measures reads what nodes use until the context ends.
func (w *Watch) measures(ctx context.Context) {
	for {
		used, err := w.usage(ctx)
		pause := measure
		switch {
		case errors.Is(err, errUnmeasured):
			pause = unmeasured
			w.State.Measure(nil)
			w.note(usage, nil)
		case err == nil:
			w.State.Measure(used)
			w.note(usage, nil)
		case ctx.Err() == nil:
			w.note(usage, err)
		}
		w.mark(usage)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
