package termination_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withoutPods is a cache that has seen no pods yet.
type withoutPods struct{ client.Client }

func (c withoutPods) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, pods := list.(*corev1.PodList); pods {
		return nil
	}
	return c.Client.List(ctx, list, options...)
}
