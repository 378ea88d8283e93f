package world

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/internal/ingest"
)

// noteRooms finds out whether a changed object changes the room that buffers ask for.
func (w *World) noteRooms(object any) {
	switch object.(type) {
	case *autoscalingv1beta1.CapacityBuffer, *corev1.PodTemplate, *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.ReplicaSet:
	default:
		return
	}
	if !w.options.Buffers {
		return
	}
	rooms := w.index.Rooms()
	if maps.EqualFunc(w.rooms, rooms, sameRoom) {
		return
	}
	w.rooms = rooms
	w.pulse.changes++
	w.pulse.supply()
}

func sameRoom(a, b ingest.Room) bool {
	return a.Pods == b.Pods && a.Problem == b.Problem && (a.Template == b.Template || equality.Semantic.DeepEqual(a.Template, b.Template))
}

// buffered returns for how many pods buffers and requests ask for room.
func (w *World) buffered() int {
	n := 0
	for _, room := range w.rooms {
		n += int(room.Pods)
	}
	for _, booked := range w.booked {
		for _, set := range booked.Sets {
			n += set.Pods
		}
	}
	return n
}

// Buffer finds a CapacityBuffer.
func (w *World) Buffer(namespace, name string) (*autoscalingv1beta1.CapacityBuffer, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, found := w.index.Find(&autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}).(*autoscalingv1beta1.CapacityBuffer)
	return b, found
}

// recheckBuffers marks the buffers for another look: a change may have taken their room.
func (w *World) recheckBuffers() {
	if len(w.rooms)+len(w.booked) > 0 {
		w.pulse.count++
	}
}
