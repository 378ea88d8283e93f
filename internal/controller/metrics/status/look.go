package status

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/telemetry"
)

// observation is what was seen of an object. The zero value is no object.
type observation struct {
	// object is the little of it that has to be remembered.
	object     *metav1.PartialObjectMetadata
	conditions []metav1.Condition
	isGone     bool
}

func (k kind) look(o client.Object) observation {
	brief := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Labels: map[string]string{},
		Finalizers: o.GetFinalizers(), DeletionTimestamp: o.GetDeletionTimestamp(),
	}}
	brief.SetGroupVersionKind(k.gvk)
	for _, key := range k.metrics.LabelKeys {
		brief.Labels[key] = o.GetLabels()[key]
	}
	return observation{object: brief, conditions: k.conditions(o)}
}

// gone is the last look at an object that is no longer there: nothing holds it.
func (l observation) gone() observation {
	last := l.object.DeepCopy()
	last.Finalizers = nil
	return observation{object: last, conditions: l.conditions, isGone: true}
}

func (l observation) condition(name string) *metav1.Condition {
	i := slices.IndexFunc(l.conditions, func(c metav1.Condition) bool { return c.Type == name })
	if i < 0 {
		return nil
	}
	return &l.conditions[i]
}

// change is a condition that has another status than before; nil is that there was none.
type change struct {
	now    metav1.Condition
	before *metav1.Condition
}

func changes(now, before observation) []change {
	var out []change
	for _, c := range now.conditions {
		old := before.condition(c.Type)
		if old == nil || old.Status != c.Status {
			out = append(out, change{c, old})
		}
	}
	return out
}

// spoken are conditions whose controllers publish rarer events themselves: in a large fleet the answers
// about disruption change all the time.
var spoken = []string{karpenterv1.ConditionDisruptable}

// events say which conditions changed and which finalizers were removed. A condition that appears for the
// first time is no event: a new object gets half a dozen of them.
func events(now, before observation) []telemetry.Event {
	var out []telemetry.Event
	uid := string(now.object.GetUID())
	for _, c := range changes(now, before) {
		if c.before == nil || slices.Contains(spoken, c.now.Type) {
			continue
		}
		text := fmt.Sprintf("Status condition transitioned, Type: %s, Status: %s -> %s, Reason: %s", c.now.Type, c.before.Status, c.now.Status, c.now.Reason)
		if c.now.Message != "" {
			text += ", Message: " + c.now.Message
		}
		// The same change may happen again soon: each gets an event.
		out = append(out, telemetry.Normal(now.object, c.now.Type, text, uid, string(c.now.Status), c.now.LastTransitionTime.String()))
	}
	if now.object.DeletionTimestamp == nil && !now.isGone {
		return out
	}
	for _, finalizer := range before.object.Finalizers {
		if !slices.Contains(now.object.Finalizers, finalizer) {
			out = append(out, telemetry.Normal(now.object, "Finalized", "Finalized "+finalizer, uid, finalizer))
		}
	}
	return out
}
