package execute

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/patch"
)

// MarkRooms sets the condition Provisioning of buffers: whether there is room for the pods that each
// stands for. A conflict is left to the next decision.
func (e *Executor) MarkRooms(ctx context.Context, s *snapshot.Snapshot, rooms []plan.Room) error {
	var wrong []error
	for i := range rooms {
		b := &s.Buffers[rooms[i].Buffer]
		if b.Booking != nil {
			continue // see MarkRequests
		}
		if err := e.markRoom(ctx, b, &rooms[i]); err != nil {
			wrong = append(wrong, fmt.Errorf("mark buffer %s: %w", b.Key(), err))
		}
	}
	return errors.Join(wrong...)
}

func (e *Executor) markRoom(ctx context.Context, b *snapshot.Buffer, room *plan.Room) error {
	buffer, found := e.world.Buffer(b.Namespace, b.Name)
	if !found {
		return nil
	}
	marked := buffer.DeepCopy()
	c := metav1.Condition{
		Type: autoscalingv1beta1.ConditionProvisioning, Status: metav1.ConditionTrue, Reason: autoscalingv1beta1.ReasonFitsExistingCapacity,
		Message:            fmt.Sprintf("All %d virtual pods fit on existing capacity", room.Pods()),
		ObservedGeneration: buffer.Generation, LastTransitionTime: metav1.NewTime(e.kit.Clock.Now()),
	}
	if room.Existing < room.Pods() {
		c.Status, c.Reason = metav1.ConditionFalse, autoscalingv1beta1.ReasonRequiresNewCapacity
		c.Message = fmt.Sprintf("%d/%d virtual pods required new capacity, %d failed", room.Planned+room.New, room.Pods(), room.Lacking)
		if room.Verdict != nil {
			c.Message += ": " + room.Verdict.Text()
		}
	}
	if !meta.SetStatusCondition(&marked.Status.Conditions, c) {
		return nil
	}
	_, err := patch.Status(ctx, e.kit, buffer, marked)
	return err
}
