// Package intervention makes the changes to nodes, claims and pools that a user of the viewer may make by hand. It acts with
// the rights of the user's kubeconfig, and records every change as an event before it is made. Controllers must only read
// these records: what they change themselves follows from a decision.
package intervention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

// Verb says what is done.
type Verb string

// The changes that there are.
const (
	Pin      Verb = "pin"
	Unpin    Verb = "unpin"
	Cordon   Verb = "cordon"
	Uncordon Verb = "uncordon"
	Remove   Verb = "remove"
	Pause    Verb = "pause"
	Resume   Verb = "resume"
)

// Change is one that can be made: what, to which object, and what it means.
type Change struct {
	Verb Verb
	// Kind is node, nodeclaim, nodepool or nodegroup.
	Kind, Name string
	Means      string
}

// String names the change.
func (c Change) String() string { return string(c.Verb) + " " + c.Kind + "/" + c.Name }

// Confirmation is what a user types to make the change. What cannot be undone is confirmed by its name.
func (c Change) Confirmation() string {
	if c.Verb == Remove {
		return c.Name
	}
	return "yes"
}

// Of lists what can be done with an object. The claim of a node is what is removed; a node without one is not removed here,
// because nothing would end its machine.
func Of(kind, name, claim string) []Change {
	pinned := []Change{
		{Pin, kind, name, "disruption leaves it alone: annotation " + karpenterv1.AnnotationDoNotDisrupt + "=true"},
		{Unpin, kind, name, "the annotation is removed"},
	}
	switch kind {
	case "node":
		out := append(pinned,
			Change{Cordon, kind, name, "the scheduler puts no more pods on it"},
			Change{Uncordon, kind, name, "the scheduler may put pods on it again"})
		if claim != "" {
			out = append(out, Change{Remove, "nodeclaim", claim, "its pods are evicted, as far as PodDisruptionBudgets allow, and its machine ends"})
		}
		return out
	case "nodeclaim":
		return append(pinned, Change{Remove, kind, name, "its pods are evicted, as far as PodDisruptionBudgets allow, and its machine ends"})
	case "nodepool":
		return []Change{
			{Pause, kind, name, "none of its nodes is disrupted by choice: a budget of 0 nodes is added. Nodes still expire"},
			{Resume, kind, name, "budgets of just 0 nodes are removed"},
		}
	case "nodegroup":
		return []Change{
			{Pause, kind, name, "no further node is handed over to pools: annotation " + tenonv1alpha1.AnnotationHandoverPaused + "=true"},
			{Resume, kind, name, "the annotation is removed"},
		}
	}
	return nil
}

// Actor makes changes as the user of a client.
type Actor struct {
	Client client.Client
	Now    func() time.Time
}

// EventReason is the reason of the events about changes by hand.
const EventReason = "ChangedByHand"

// EventSource is the component that those events are from.
const EventSource = "tenon-view"

// Do makes a change. It records the change as an event first, and makes none that it cannot record; the annotation
// tenon.sh/changed-by-hand of the object has the last one. The object must not have changed since it was read.
func (a Actor) Do(ctx context.Context, c Change) (string, error) {
	object, err := a.read(ctx, c)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	before, is := object.DeepCopyObject().(client.Object)
	if !is {
		return "", fmt.Errorf("%s: not an object", c)
	}
	if err := apply(c, object); err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	who, now := a.user(ctx), a.Now()
	annotate(object, karpenterv1.AnnotationChangedByHand, Record{At: now, By: who, Verb: c.Verb}.annotation())
	if err := a.Client.Create(ctx, eventOf(c, object, who, now)); err != nil {
		return "", fmt.Errorf("%s: nothing was changed, because the event about it cannot be written: %w", c, err)
	}
	if err := a.Client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	if c.Verb == Remove {
		uid, version := object.GetUID(), object.GetResourceVersion()
		if err := a.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version}); err != nil {
			return "", fmt.Errorf("%s: %w", c, err)
		}
	}
	return fmt.Sprintf("Done: %s, as %s.\n\n%s.\n\nAn event %s and the annotation %s of the object say so.", c, who, strings.ToUpper(c.Means[:1])+c.Means[1:], EventReason, karpenterv1.AnnotationChangedByHand), nil
}

func (a Actor) read(ctx context.Context, c Change) (client.Object, error) {
	var object client.Object
	switch c.Kind {
	case "node":
		object = &corev1.Node{}
	case "nodeclaim":
		object = &karpenterv1.NodeClaim{}
	case "nodepool":
		object = &karpenterv1.NodePool{}
	case "nodegroup":
		object = &tenonv1alpha1.NodeGroup{}
	default:
		return nil, fmt.Errorf("a %s is not changed by hand here", c.Kind)
	}
	if err := a.Client.Get(ctx, client.ObjectKey{Name: c.Name}, object); err != nil {
		return nil, err // it names the object
	}
	if !object.GetDeletionTimestamp().IsZero() {
		return nil, errors.New("it is being deleted already")
	}
	return object, nil
}

// user is who the API server takes this client for.
func (a Actor) user(ctx context.Context) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := a.Client.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return "an unknown user" // older API servers do not say; their audit log does
	}
	return review.Status.UserInfo.Username
}

// errSo says that there is nothing to change.
var errSo = errors.New("nothing to do: it is so already")

// apply changes an object that was read.
func apply(c Change, object client.Object) error {
	switch c.Verb {
	case Pin:
		return set(object, karpenterv1.AnnotationDoNotDisrupt, "true")
	case Unpin:
		return unset(object, karpenterv1.AnnotationDoNotDisrupt)
	case Remove:
		return nil
	}
	switch o := object.(type) {
	case *corev1.Node:
		if cordoned := c.Verb == Cordon; o.Spec.Unschedulable == cordoned {
			return errSo
		}
		o.Spec.Unschedulable = !o.Spec.Unschedulable
		return nil
	case *karpenterv1.NodePool:
		return budgets(c.Verb, o)
	case *tenonv1alpha1.NodeGroup:
		if c.Verb == Pause {
			return set(o, tenonv1alpha1.AnnotationHandoverPaused, "true")
		}
		return unset(o, tenonv1alpha1.AnnotationHandoverPaused)
	}
	return fmt.Errorf("a %s has no such change", c.Kind)
}

// budgets adds the budget that pauses a pool's disruption, or removes it.
func budgets(verb Verb, pool *karpenterv1.NodePool) error {
	none := func(b karpenterv1.Budget) bool {
		return (b.Nodes == "0" || b.Nodes == "0%") && b.Reasons == nil && b.Schedule == nil && b.Duration == nil
	}
	all := &pool.Spec.Disruption.Budgets
	if paused := slices.ContainsFunc(*all, none); paused == (verb == Pause) {
		return errSo
	}
	if verb == Pause {
		*all = append(slices.Clone(*all), karpenterv1.Budget{Nodes: "0"})
		return nil
	}
	*all = slices.DeleteFunc(slices.Clone(*all), none)
	return nil
}

func set(object client.Object, key, value string) error {
	if object.GetAnnotations()[key] == value {
		return errSo
	}
	annotate(object, key, value)
	return nil
}

func unset(object client.Object, key string) error {
	if _, has := object.GetAnnotations()[key]; !has {
		return errSo
	}
	kept := object.GetAnnotations()
	delete(kept, key)
	object.SetAnnotations(kept)
	return nil
}

func annotate(object client.Object, key, value string) {
	all := object.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	object.SetAnnotations(all)
}

// kinds are the kinds of objects as events name them.
var kinds = map[string]metav1.TypeMeta{
	"node":      {APIVersion: "v1", Kind: "Node"},
	"nodeclaim": {APIVersion: karpenterv1.GroupVersion.String(), Kind: "NodeClaim"},
	"nodepool":  {APIVersion: karpenterv1.GroupVersion.String(), Kind: "NodePool"},
	"nodegroup": {APIVersion: tenonv1alpha1.GroupVersion.String(), Kind: "NodeGroup"},
}

func eventOf(c Change, object client.Object, who string, now time.Time) *corev1.Event {
	of := kinds[c.Kind]
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: c.Name + "-", Namespace: metav1.NamespaceDefault},
		InvolvedObject: corev1.ObjectReference{APIVersion: of.APIVersion, Kind: of.Kind, Name: c.Name, UID: object.GetUID()},
		Type:           corev1.EventTypeNormal, Reason: EventReason, Message: fmt.Sprintf("%s by %s: %s", c.Verb, who, c.Means), Count: 1,
		FirstTimestamp: metav1.NewTime(now), LastTimestamp: metav1.NewTime(now), Source: corev1.EventSource{Component: EventSource}, ReportingController: EventSource,
	}
}
