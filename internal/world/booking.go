package world

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// noteBookings finds out whether a changed object changes the room that ProvisioningRequests ask for or have.
func (w *World) noteBookings(object any) {
	if !w.options.Bookings.Enabled {
		return
	}
	switch o := object.(type) {
	case *corev1.Pod:
		if autoscalingv1.Consumes(o) == "" {
			return
		}
	case *autoscalingv1.ProvisioningRequest: // its pods are looked at again: they wait for it, or no longer do
		for _, k := range w.index.Consumers(o.Namespace, o.Name) {
			if pod := w.pods.all[k]; pod != nil {
				w.pods.dirty[k] = struct{}{}
				w.await(k, pod, false)
			}
		}
	case *corev1.PodTemplate:
	default:
		return
	}
	booked := w.index.Booked(w.options.Bookings, w.options.Files)
	if maps.EqualFunc(w.booked, booked, sameBooked) {
		return
	}
	w.booked = booked
	w.pulse.changes++
	w.pulse.supply()
}

func sameBooked(a, b ingest.Booked) bool {
	return a.Held == b.Held && slices.EqualFunc(a.Sets, b.Sets, func(a, b ingest.Set) bool {
		return a.Pods == b.Pods && (a.Template == b.Template || equality.Semantic.DeepEqual(a.Template, b.Template))
	})
}

// Request finds a ProvisioningRequest.
func (w *World) Request(namespace, name string) (*autoscalingv1.ProvisioningRequest, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, found := w.index.Find(&autoscalingv1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}).(*autoscalingv1.ProvisioningRequest)
	return r, found
}

// asking leaves out the requests without room that asks does not want to be looked at now. It is asked about each of them
// once, the oldest first.
func asking(buffers []snapshot.Buffer, asks func(namespace, name string) bool) []snapshot.Buffer {
	wanted := map[key]bool{}
	open := slices.DeleteFunc(slices.Clone(buffers), func(b snapshot.Buffer) bool { return b.Booking == nil || b.Booking.Held })
	if len(open) == 0 {
		return buffers
	}
	slices.SortStableFunc(open, func(a, b snapshot.Buffer) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Key(), b.Key()))
	})
	for i := range open {
		k := key{Namespace: open[i].Namespace, Name: open[i].Name}
		if _, asked := wanted[k]; !asked {
			wanted[k] = asks != nil && asks(k.Namespace, k.Name)
		}
	}
	return slices.DeleteFunc(slices.Clone(buffers), func(b snapshot.Buffer) bool {
		return b.Booking != nil && !b.Booking.Held && !wanted[key{Namespace: b.Namespace, Name: b.Name}]
	})
}
