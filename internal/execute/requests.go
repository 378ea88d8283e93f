package execute

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/patch"
)

// RequestRoom is what a plan has for a ProvisioningRequest that asks for room.
type RequestRoom struct {
	Namespace, Name string
	// MayBuy says that nodes may be launched for it.
	MayBuy bool
	// Rooms are those of its sets of pods.
	Rooms []plan.Room
}

// Granted reports whether all of its pods have room.
func (r *RequestRoom) Granted() bool {
	for i := range r.Rooms {
		if r.Rooms[i].Lacking > 0 {
			return false
		}
	}
	return true
}

// Buys is for how many of its pods nodes are launched.
func (r *RequestRoom) Buys() int {
	n := 0
	for i := range r.Rooms {
		n += r.Rooms[i].New
	}
	return n
}

// RequestRooms are what a plan has for the ProvisioningRequests that ask for room, in its order.
func RequestRooms(s *snapshot.Snapshot, rooms []plan.Room) []RequestRoom {
	var out []RequestRoom
	for i := range rooms {
		b := &s.Buffers[rooms[i].Buffer]
		if b.Booking == nil || b.Booking.Held {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Namespace != b.Namespace || out[n-1].Name != b.Name {
			out = append(out, RequestRoom{Namespace: b.Namespace, Name: b.Name, MayBuy: b.Booking.Buys})
		}
		last := &out[len(out)-1]
		last.Rooms = append(last.Rooms, rooms[i])
	}
	return out
}

// MarkRequests sets the condition Provisioned of ProvisioningRequests that asked for room. A conflict is left to the
// next decision.
func (e *Executor) MarkRequests(ctx context.Context, rooms []RequestRoom) error {
	var wrong []error
	for i := range rooms {
		if err := e.markRequest(ctx, &rooms[i]); err != nil {
			wrong = append(wrong, fmt.Errorf("mark provisioning request %s/%s: %w", rooms[i].Namespace, rooms[i].Name, err))
		}
	}
	return errors.Join(wrong...)
}

func (e *Executor) markRequest(ctx context.Context, room *RequestRoom) error {
	request, found := e.world.Request(room.Namespace, room.Name)
	if !found || request.Over() {
		return nil
	}
	if _, booked := request.Booked(); booked {
		return nil
	}
	c := provisioned(room)
	c.ObservedGeneration, c.LastTransitionTime = request.Generation, metav1.NewTime(e.kit.Clock.Now())
	marked := request.DeepCopy()
	if !meta.SetStatusCondition(&marked.Status.Conditions, c) {
		return nil
	}
	_, err := patch.Status(ctx, e.kit, request, marked)
	return err
}

// provisioned is the condition of a request that has room, or lacks it.
func provisioned(room *RequestRoom) metav1.Condition {
	c := metav1.Condition{Type: autoscalingv1.ConditionProvisioned, Status: metav1.ConditionTrue, Reason: autoscalingv1.ReasonCapacityIsFound}
	pods, lacking, why := 0, 0, " on nodes that there are; none is launched for a request of this class"
	if room.MayBuy {
		why = ""
	}
	for i := range room.Rooms {
		r := &room.Rooms[i]
		pods, lacking = pods+r.Pods(), lacking+r.Lacking
		if room.MayBuy && why == "" && r.Verdict != nil {
			why = ": " + r.Verdict.Text()
		}
	}
	switch {
	case lacking > 0:
		c.Status, c.Reason = metav1.ConditionFalse, autoscalingv1.ReasonCapacityIsNotFound
		c.Message = fmt.Sprintf("%d of %d pods have no room%s", lacking, pods, why)
	case room.Buys() > 0:
		c.Reason, c.Message = autoscalingv1.ReasonCapacityIsProvisioned, fmt.Sprintf("Nodes are launched for %d of %d pods", room.Buys(), pods)
	default:
		c.Message = fmt.Sprintf("All %d pods have room", pods)
	}
	return c
}
