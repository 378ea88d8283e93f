package memorycloud

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
)

// classes makes every node class ready: there is nothing in this cloud to look up for it.
func classes(kit reconcile.Kit) reconcile.Controller {
	return reconcile.Controller{
		Name:    "memorycloud.nodeclass",
		Watches: []reconcile.Watch{{Kind: &awsv1.EC2NodeClass{}}},
		Workers: reconcile.One,
		Reconcile: func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
			class := &awsv1.EC2NodeClass{}
			if err := kit.Client.Get(ctx, key, class); err != nil {
				return reconcile.Never, client.IgnoreNotFound(err)
			}
			ready := metav1.Condition{
				Type: condition.Ready, Status: metav1.ConditionTrue, Reason: condition.Ready,
				ObservedGeneration: class.Generation, LastTransitionTime: metav1.NewTime(kit.Clock.Now()),
			}
			if len(class.Status.Conditions) == 1 && class.Status.Conditions[0].ObservedGeneration == class.Generation {
				return reconcile.Never, nil
			}
			changed := class.DeepCopy()
			changed.Status.Conditions = []metav1.Condition{ready}
			if err := kit.Client.Status().Patch(ctx, changed, client.MergeFrom(class)); err != nil {
				return reconcile.Never, fmt.Errorf("make node class %s ready: %w", class.Name, err)
			}
			return reconcile.Never, nil
		},
	}
}

// settleEvery is how often the cloud performs what is due.
const settleEvery = 200 * time.Millisecond

// ticker returns a controller that makes the cloud perform what is due.
func ticker(_ reconcile.Kit, far *memory.Cloud) reconcile.Controller {
	return reconcile.Controller{
		Name: "memorycloud.cloud", Workers: reconcile.One,
		Reconcile: func(context.Context, reconcile.Key) (reconcile.Result, error) {
			far.Settle()
			return reconcile.In(settleEvery), nil
		},
	}
}
