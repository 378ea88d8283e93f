package disruption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/disruptable"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/departure"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
)

// look is the second look at the nodes of a command, right before they are removed. All of it
// is read from the API server itself, budgets once for each namespace.
type look struct {
	d      *disruption
	state  *command.State
	pods   map[types.UID]bool // known to the decision; nil if they are not remembered
	index  *ingest.Index
	listed map[string]bool  // namespaces whose budgets are in the index
	asked  map[string]int64 // how many nodes of each group this look lets go
}

func (d *disruption) secondLook(s *command.State) *look {
	return &look{d: d, state: s, pods: d.underway.Find(s.Record.ID).Pods, index: ingest.NewIndex(), listed: map[string]bool{}, asked: map[string]int64{}}
}

// objection is why a leaver with these pods has to stay after all; no cause if nothing speaks against its
// removal. This does not repeat the decision: only changes since then count.
func (k *look) objection(ctx context.Context, l command.Leaver, pods []*corev1.Pod) (reason.Cause, error) {
	if cause := k.groupObjects(l); cause.Code != reason.None {
		return cause, nil
	}
	for _, pod := range pods {
		if err := k.read(ctx, pod); err != nil {
			return reason.Cause{}, err
		}
	}
	t := ingest.NewTranslator(k.index, ingest.Options{Now: k.state.Now, ScaleDown: &k.d.kit.Settings.ScaleDown, OwnersUnread: true})
	bound := make(map[string]*corev1.Pod, len(pods))
	ties := make([]*snapshot.Pod, len(pods))
	for i, pod := range pods {
		bound[string(pod.UID)] = pod
		ties[i] = &snapshot.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), Terminating: pod.DeletionTimestamp != nil, Tie: t.Tie(pod)}
	}
	life := t.Life(l.Node, l.Claim)
	node := disruptable.Node{
		Node: &snapshot.Node{Life: life}, Pods: slices.Values(ties), Forced: k.state.Record.Reason == plan.Drifted && life.Bounded,
	}
	if group := k.group(l); group != nil {
		node.ScaleDown = t.ScaleDown(group)
	}
	known := func(p *snapshot.Pod) bool { return k.knew(bound[p.UID]) }
	return disruptable.NewRules(k.state.Now, t.Budgets()).Unmet(node, known, plan.ToRemove()), nil
}

// groupObjects says why the group of a node must keep it: another autoscaler may change the group now, or the group is at its minimum.
func (k *look) groupObjects(l command.Leaver) reason.Cause {
	if l.Claim != nil {
		return reason.Cause{}
	}
	name := l.Node.Annotations[tenonv1alpha1.AnnotationGroup]
	group, left := k.d.o.World.GroupObject(name)
	switch {
	case k.d.kit.Groups == nil || group == nil || group.Observed() || !group.Free() || group.DeletionTimestamp != nil || group.Status.Size == nil:
		return reason.Cause{Code: reason.GroupChanged, Where: name}
	case left-k.asked[name] <= group.Status.Size.Min:
		return reason.Cause{Code: reason.GroupFloor, Where: name}
	}
	k.asked[name]++
	return reason.Cause{}
}

// group is the NodeGroup of a node; nil if it has none.
func (k *look) group(l command.Leaver) *tenonv1alpha1.NodeGroup {
	if l.Claim != nil || l.Node == nil {
		return nil
	}
	group, _ := k.d.o.World.GroupObject(l.Node.Annotations[tenonv1alpha1.AnnotationGroup])
	return group
}

// knew reports whether the decision knew a pod. If the decision's pods are not remembered, it knew those
// that were bound before.
func (k *look) knew(pod *corev1.Pod) bool {
	if k.pods != nil {
		return k.pods[pod.UID]
	}
	return k.state.Record.Preceded(pod)
}

// read puts into the index what decides about the eviction of a pod: the budgets of its namespace and, if
// the pod asks to be replaced before it goes, its owners.
func (k *look) read(ctx context.Context, pod *corev1.Pod) error {
	if surge.Wanted(pod) {
		w, err := departure.Workload(ctx, k.d.kit.Client, k.d.kit.Uncached(reconcile.BeforeRemoval), pod)
		if err != nil {
			return err
		}
		if w.Set != nil {
			k.index.Put(w.Set)
		}
		if w.Deployment != nil {
			k.index.Put(w.Deployment)
		}
		for _, claim := range w.Claims {
			k.index.Put(claim)
		}
	}
	if k.listed[pod.Namespace] {
		return nil
	}
	var list policyv1.PodDisruptionBudgetList
	if err := k.d.kit.Uncached(reconcile.BeforeRemoval).List(ctx, &list, client.InNamespace(pod.Namespace)); err != nil {
		return fmt.Errorf("list the budgets of namespace %s: %w", pod.Namespace, err)
	}
	for i := range list.Items {
		k.index.Put(&list.Items[i])
	}
	k.listed[pod.Namespace] = true
	return nil
}
