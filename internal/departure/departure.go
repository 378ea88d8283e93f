// Package departure reads the facts about a node that leaves: its claim, its deadline, and its pods. The
// controller that removes nodes and the one that evicts pods use the same functions, so that both
// decide on the same facts.
//
// It only reads; internal/drain decides.
package departure

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/drain"
	"tenon/internal/lookup"
)

// AnnotationEnds says on a claim, or on the node of a group, when the cloud takes its machine away, as RFC 3339, if the cloud has announced
// it. Unlike the deadline of a terminationGracePeriod, users did not choose it and cannot move it: it
// does not force pods out, but shortens waits.
const AnnotationEnds = "tenon.sh/machine-ends"

// Departure is a node that leaves. Its objects belong to the cache.
type Departure struct {
	Node *corev1.Node
	// Claim is nil if there is none, or more than one.
	Claim *karpenterv1.NodeClaim
	// Ends is when the cloud takes the machine away; zero if it has not announced it.
	Ends time.Time
	// State is what the drain depends on.
	State drain.State
}

// endPauses are how long to leave between two looks whether an instance is gone. Each is a multiple of those before it.
var endPauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// EndPause is how long to wait before looking again whether an instance is gone that was told to end: about as long as it has taken so far.
// Some are gone at once, and others take a minute. The looks at all instances fall on the same moments, whole multiples of the pause, so that
// one call to the cloud covers the instances that are ending.
func EndPause(conditions condition.Set, now time.Time) time.Duration {
	told, _ := conditions.Get(karpenterv1.ConditionInstanceTerminating)
	pause := endPauses[0]
	for _, longer := range endPauses[1:] {
		if now.Sub(told.LastTransitionTime.Time) >= longer {
			pause = longer
		}
	}
	return now.Add(pause).Round(pause).Sub(now)
}

// Read gathers the facts about a leaving node.
func Read(ctx context.Context, r client.Reader, node *corev1.Node, now time.Time) (Departure, error) {
	d := Departure{Node: node, State: drain.State{Now: now}}
	var err error
	if d.Claim, err = lookup.ClaimOf(ctx, r, node); err != nil {
		return d, err
	}
	if d.State.Deadline, err = Deadline(d.Claim); err != nil {
		return d, err
	}
	d.Ends = ends(d.Claim, node)
	d.State.Since = d.since()
	d.State.Pods, err = lookup.PodsOn(ctx, r, node.Name)
	return d, err
}

// Deadline is when the pods of a claim's node have to be gone; zero if there is none.
func Deadline(claim *karpenterv1.NodeClaim) (time.Time, error) {
	if claim == nil {
		return time.Time{}, nil
	}
	text, said := claim.Annotations[karpenterv1.AnnotationTerminationTimestamp]
	if !said {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("read annotation %s of claim %s: %w", karpenterv1.AnnotationTerminationTimestamp, claim.Name, err)
	}
	return at, nil
}

// ends reads AnnotationEnds, of a node only if it has no claim. A value that cannot be read is none.
func ends(claim *karpenterv1.NodeClaim, node *corev1.Node) time.Time {
	said := node.Annotations
	if claim != nil {
		said = claim.Annotations
	}
	at, err := time.Parse(time.RFC3339, said[AnnotationEnds])
	if err != nil {
		return time.Time{}
	}
	return at
}

// since is when the drain began: it is written on the claim, so that a restart does not
// begin it again. Without a claim it is when the node was deleted.
func (d Departure) since() time.Time {
	if d.Claim == nil {
		return d.Node.DeletionTimestamp.Time
	}
	if c := d.condition(karpenterv1.ConditionDrained); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// Reason returns the reason for which the node leaves, as in events and metrics. It is empty if the reason is not
// known.
func (d Departure) Reason() string {
	if d.Claim == nil {
		return d.recorded()
	}
	if c := d.condition(karpenterv1.ConditionDisruptionReason); c != nil && c.Status == metav1.ConditionTrue {
		return c.Reason
	}
	return "Forceful Termination"
}

// recorded is the reason in the record of a disruption, which a group's node carries itself.
func (d Departure) recorded() string {
	var record struct { // of command.Record
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(d.Node.Annotations[karpenterv1.AnnotationDisruption]), &record) != nil {
		return ""
	}
	return record.Reason
}

func (d Departure) condition(name string) *metav1.Condition {
	i := slices.IndexFunc(d.Claim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == name })
	if i < 0 {
		return nil
	}
	return &d.Claim.Status.Conditions[i]
}

// Managed reports whether a node is one of ours: it has the label of one of the provider's
// classes.
func Managed(description cloud.Description, node *corev1.Node) bool {
	return slices.ContainsFunc(description.Classes, func(k cloud.ClassKind) bool {
		_, labelled := node.Labels[karpenterv1.NodeClassLabel(k.Group, k.Kind)]
		return labelled
	})
}

// Group names the NodeGroup that a node belongs to, if Tenon may change it; otherwise it is empty.
func Group(node *corev1.Node) string { return node.Annotations[tenonv1alpha1.AnnotationGroup] }

// Leaves reports whether a node of ours, or of a group, is being deleted and waits for us.
func Leaves(description cloud.Description, node *corev1.Node) bool {
	return node.DeletionTimestamp != nil && (Managed(description, node) || Group(node) != "") &&
		controllerutil.ContainsFinalizer(node, karpenterv1.FinalizerTermination)
}

// Closed reports whether a node is tainted so that no new pod comes. Pods that the scheduler
// bound just before may still be on their way to our caches.
func Closed(node *corev1.Node) bool {
	taint := karpenterv1.TaintDisrupted()
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
}
