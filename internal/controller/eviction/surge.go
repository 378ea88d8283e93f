package eviction

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"tenon/internal/departure"
	"tenon/internal/drain"
	"tenon/internal/patch"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
)

// surge has another pod made before this one goes, if its workload asks for that. A pod that gets no
// replacement is evicted like others, and an event says why.
func (q *queue) surge(ctx context.Context, leave departure.Departure, decision drain.Decision, step drain.Step) (reconcile.Result, error) {
	workload, err := departure.Workload(ctx, q.Client, q.Uncached(reconcile.BeforeRemoval), step.Pod)
	if err != nil {
		return reconcile.Never, err
	}
	next := surge.Next(step.Pod, workload)
	last := lastCall(leave, step)
	if next.Verb != surge.Evict && !last.IsZero() && !leave.State.Now.Before(last) {
		next = surge.Step{Why: "the machine ends at " + leave.Ends.UTC().Format(time.RFC3339) + ", and there is no time left to wait for another pod"}
	}
	if next.Verb == surge.Roll {
		if next, err = q.roll(ctx, leave, step, workload); err != nil {
			return reconcile.Never, err
		}
	}
	if next.Verb == surge.Wait {
		q.Events.Publish(drain.Surges(leave.Node, step.Pod, workload.Deployment.Name)...)
		result := again(leave.State, decision)
		if !last.IsZero() {
			result = result.Sooner(reconcile.In(last.Sub(leave.State.Now)))
		}
		return result, nil
	}
	q.Events.Publish(drain.Unsurged(leave.Node, step.Pod, next.Why)...)
	return q.evict(ctx, leave, step)
}

// lastCall is when a pod has to be told to leave so that it can end before the cloud takes
// its machine away; zero if the cloud has not told.
func lastCall(leave departure.Departure, step drain.Step) time.Time {
	if leave.Ends.IsZero() {
		return time.Time{}
	}
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if own := step.Pod.Spec.TerminationGracePeriodSeconds; own != nil {
		grace = *own
	}
	return leave.Ends.Add(-podpolicy.Seconds(grace) - drain.Shortest)
}

// roll asks the Deployment for a roll-out, unless it has changed since it was read. A permanent refusal of
// the API server is not retried.
func (q *queue) roll(ctx context.Context, leave departure.Departure, step drain.Step, w surge.Workload) (surge.Step, error) {
	asked := surge.Ask(w.Deployment, step.Pod)
	err := patch.IfUnchanged(ctx, q.Kit, w.Deployment, asked)
	switch {
	case err == nil:
		q.Rolled(asked)
		q.Events.Publish(drain.Rolled(asked, leave.Node, step.Pod))
		q.Metrics.PodsDrainedTotal.WithLabelValues(leave.Reason()).Inc()
		return surge.Step{Verb: surge.Wait}, nil
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return surge.Step{Why: "its Deployment may not be rolled: " + err.Error()}, nil
	}
	return surge.Step{}, fmt.Errorf("roll deployment %s/%s: %w", asked.Namespace, asked.Name, err)
}
