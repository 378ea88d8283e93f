package invariant

import (
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/savings"
	"tenon/sim/store"
)

// The rules about decisions that undo each other. Both apply only while nothing else changes: no user has
// changed anything, no pod has ended, no fault has happened. And both apply only to decisions that had
// their expected result: when the scheduler puts a pod elsewhere than on the room kept for it, later
// decisions about the half-empty node are fine.
const (
	NotUndone = "nothing that a disruption bought is given up while nothing else changes"
	MovedOnce = "no pod is moved twice while nothing else changes"
)

// still is how long nothing must have changed before decisions have to last: by then caches have caught up,
// and workloads are what their users asked for.
const still = time.Minute

// settles is how long decisions may continue after the last node may go: one waits for the places that another
// has brought. Nodes that took pods take others only after consolidateAfter, so that counts once more.
const settles = 10 * time.Minute

// Stir is called at every event that decisions may answer to and that the API server does not show: prices,
// stock, faults.
func (w *Watch) Stir() { w.stirred = w.Now() }

// lasts reports whether what a command decided has to last: nothing has changed since some time before the
// decision, and no node was held by consolidateAfter after the change: once such a node may go, better moves
// may be found. When its pods move does not matter: replacements may take minutes to join, and the decision
// knows nothing of what changes in that time.
func (w *Watch) lasts(r *command.Record) bool {
	return r.Begun.Sub(w.changed()) >= max(still, w.hold())
}

// hold is the longest consolidateAfter of the pools and groups. A node of a pool with Never never becomes one that may go.
func (w *Watch) hold() time.Duration {
	longest := time.Duration(0)
	for _, pool := range store.All[*karpenterv1.NodePool](w.Store) {
		longest = max(longest, ptr.Deref(pool.Spec.Disruption.ConsolidateAfter.Duration, 0))
	}
	for _, group := range store.All[*tenonv1alpha1.NodeGroup](w.Store) {
		longest = max(longest, ptr.Deref(group.Disrupts().ConsolidateAfter.Duration, 0))
	}
	return longest
}

// settled reports whether nothing has changed for so long that no decision may remain.
func (w *Watch) settled() bool { return w.Now().Sub(w.changed()) >= 2*w.hold()+settles }

// changed returns when the last change happened. The end of a group's backoff is one that no event tells: the
// group has something to sell again.
func (w *Watch) changed() time.Time {
	last := w.stirred
	for _, group := range store.All[*tenonv1alpha1.NodeGroup](w.Store) {
		if b := group.Status.Backoff; b != nil && b.Until.After(last) && !b.Until.After(w.Now()) {
			last = b.Until.Time
		}
	}
	return last
}

// Late counts the actions after everything should have settled: the machines bought, and the claims
// that disruptions began to remove.
type Late struct{ Bought, Begun int }

// Late returns the actions so far.
func (w *Watch) Late() Late { return w.late }

// heirs are the pods that replace others which a disruption has moved.
type heirs struct {
	awaited map[types.UID][]*command.Record // the commands that moved pods which their owners have yet to create again
	moved   map[types.UID]*command.Record   // the commands that moved these pods
	waiting map[types.UID]string            // moved pods without a node, and their commands
	gains   map[string]bool                 // commands that save enough to move pods again
	astray  map[string]bool                 // commands of which a pod went where no room was kept for it
	lacking map[string][]time.Time          // by claim: the begins of the commands whose pods did not all come to its node
}

// notePod follows pods that move, and notices what users do to others.
func (w *Watch) notePod(c store.Change) {
	old, _ := c.Old.(*corev1.Pod)
	pod, _ := c.New.(*corev1.Pod)
	switch {
	case old == nil && pod != nil:
		w.appears(pod)
	case pod == nil:
		if old.DeletionTimestamp == nil && !finished(old) {
			w.leaves(old)
		}
		delete(w.heirs.moved, old.UID)
		delete(w.heirs.waiting, old.UID)
	case pod.DeletionTimestamp != nil && old.DeletionTimestamp == nil && !finished(pod):
		w.leaves(pod)
	case finished(pod) && !finished(old):
		w.Stir()
	case pod.Spec.NodeName != old.Spec.NodeName:
		w.arrives(pod)
	}
}

// ownerOf returns the owner that makes a pod again. Pods of daemons belong to their nodes.
func ownerOf(pod *corev1.Pod) (types.UID, bool) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind == "DaemonSet" || owner.Kind == "Node" {
		return "", false
	}
	return owner.UID, true
}

// appears handles a new pod: it replaces one that was moved, or a user wants more.
func (w *Watch) appears(pod *corev1.Pod) {
	if daemon(pod) {
		return
	}
	owner, _ := ownerOf(pod)
	awaited := w.heirs.awaited[owner]
	if len(awaited) == 0 {
		w.Stir()
		return
	}
	w.heirs.awaited[owner] = awaited[1:]
	w.heirs.moved[pod.UID] = awaited[0]
	w.heirs.waiting[pod.UID] = awaited[0].ID
	if pod.Spec.NodeName != "" {
		w.arrives(pod)
	}
}

// arrives handles a pod that has a node. If the node is not one that the decision counted on, the decision
// did not have its expected result, and others may follow it.
func (w *Watch) arrives(pod *corev1.Pod) {
	delete(w.heirs.waiting, pod.UID)
	by, moved := w.heirs.moved[pod.UID]
	claim := w.claimFor(w.nodeOf(pod.Spec.NodeName))
	if moved && (claim == nil || !by.Brings(claim.Name) && !slices.Contains(by.Receivers, claim.Name)) {
		w.heirs.astray[by.ID] = true
	}
}

// noteLack handles a claim that lost the record of pods that a command brought: not all pods planned for its node came there,
// although all may have come to nodes that the command counted on.
func (w *Watch) noteLack(old, now *karpenterv1.NodeClaim) {
	left := ingest.Rearranged(now)
	for _, begun := range ingest.Rearranged(old) {
		if !slices.ContainsFunc(left, begun.Equal) {
			w.heirs.lacking[now.Name] = append(w.heirs.lacking[now.Name], begun)
		}
	}
}

// lacks reports whether the node of a claim did not get all pods that a command had planned for it.
func (w *Watch) lacks(claim string, r *command.Record) bool {
	return slices.ContainsFunc(w.heirs.lacking[claim], r.Begun.Truncate(time.Second).Equal)
}

// unexpected reports whether a command did not have its expected result: a pod of it went where no room was
// kept for it, or has no node yet, because another pod took its room.
func (w *Watch) unexpected(r *command.Record) bool {
	if w.heirs.astray[r.ID] {
		return true
	}
	for _, id := range w.heirs.waiting { // one is enough, in any order
		if id == r.ID {
			return true
		}
	}
	return false
}

// leaves handles a pod that is being deleted: a disruption removes its node, or a user deleted it.
func (w *Watch) leaves(pod *corev1.Pod) {
	if daemon(pod) {
		return
	}
	owner, owned := ownerOf(pod)
	claim := w.claimFor(w.nodeOf(pod.Spec.NodeName))
	r := w.goesBy(claim)
	if !owned || r == nil || claim.DeletionTimestamp == nil {
		w.Stir()
		return
	}
	if before, moved := w.heirs.moved[pod.UID]; moved && !w.unexpected(before) && !w.lacks(claim.Name, before) && !w.heirs.gains[r.ID] && w.lasts(before) {
		w.report(MovedOnce, "pod %s/%s goes by command %s, and the one before it went by %s of %s",
			pod.Namespace, pod.Name, r.ID, before.ID, before.Begun.UTC().Format(time.TimeOnly))
	}
	w.heirs.awaited[owner] = append(w.heirs.awaited[owner], r)
}

// noteCommand handles a claim on which a disruption has been recorded.
func (w *Watch) noteCommand(claim *karpenterv1.NodeClaim) {
	if w.settled() && !w.bolder(claim) {
		w.late.Begun++
	}
	r := commandOf(claim)
	w.going[claim.Name] = r
	w.heirs.gains[r.ID] = w.gain(r)
	by, bought := w.brought[claim.Name]
	if bought && r.Reason != plan.Empty && !w.buffers(claim) && !w.heirs.gains[r.ID] && !w.unexpected(by) && !w.lacks(claim.Name, by) && w.lasts(by) {
		w.report(NotUndone, "claim %s was bought by command %s of %s, and goes by command %s, %s",
			claim.Name, by.ID, by.Begun.UTC().Format(time.TimeOnly), r.ID, r.Reason)
	}
}

// buffers reports whether a node is there for buffers alone. What they stand for is placed anew with every
// decision, and no pod has to move when their node goes.
func (w *Watch) buffers(claim *karpenterv1.NodeClaim) bool {
	return len(store.All[*autoscalingv1beta1.CapacityBuffer](w.Store)) > 0 && !w.used(claim)
}

// bolder reports whether the caution of a claim's pool has fallen since the last change: a move may be worth
// it that was not before.
func (w *Watch) bolder(claim *karpenterv1.NodeClaim) bool {
	pool := w.pool(poolOf(claim))
	if pool == nil {
		return false
	}
	account := savings.Of(pool)
	return account.Caution(w.Now()) < account.Caution(w.changed())
}

// again is the minimum that a command must save an hour to give up what another has bought, if no pod was moved to it.
const again = model.Unit / 50

// gain reports whether a command saves enough to undo decisions: no less than the worth of the pods that were
// moved before. Of nodes that are less than half used it saves more than their pods are worth.
func (w *Watch) gain(r *command.Record) bool {
	worth, moves, idle := model.Money(0), false, true
	for node, pods := range w.podsOn { // a sum, in any order
		if claim := w.claimFor(w.nodeOf(node)); claim == nil || !r.Takes(claim.Name) {
			continue
		}
		var used space
		for uid, pod := range pods { // as above
			asks := demand(pod)
			if by, moved := w.heirs.moved[uid]; moved && !w.unexpected(by) {
				moves, worth = true, worth+w.worth(asks)
			}
			used = used.more(asks)
		}
		size := sizeOf(w.nodeOf(node))
		idle = idle && 2*used.cpu < size.cpu && 2*used.memory < size.memory
	}
	if !moves {
		return r.Savings >= again
	}
	return idle || r.Savings >= worth
}

// worth is what a pod costs on the cheapest of the nodes: its part of the node's price.
func (w *Watch) worth(asks space) model.Money {
	worth := model.Money(math.MaxInt64)
	for _, node := range store.All[*corev1.Node](w.Store) {
		if claim := w.claimFor(node); claim != nil {
			worth = min(worth, model.Money(float64(w.prices[claim.Name])*asks.partOf(sizeOf(node))))
		}
	}
	return worth
}

// noteClaim records the claims that disruptions create. When a claim goes for another reason, that is an
// outside change.
func (w *Watch) noteClaim(old, now *karpenterv1.NodeClaim) {
	if now == nil {
		delete(w.bought, old.Name) // in a long run another one may get the same random name
		delete(w.brought, old.Name)
		delete(w.going, old.Name)
		delete(w.heirs.lacking, old.Name)
		return
	}
	if old != nil {
		w.noteLack(old, now)
	}
	taken := commandOf(now) != nil
	if initialized(now) && !initialized(old) && w.brought[now.Name] == nil { // its room is new
		w.Stir()
	}
	if !taken && now.DeletionTimestamp == nil { // a disruption was taken back
		delete(w.going, now.Name)
	}
	if r, written := command.Of(now); written && r.Brings(now.Name) && w.brought[now.Name] == nil {
		w.brought[now.Name] = &r
	}
	if !taken && now.DeletionTimestamp != nil && (old == nil || old.DeletionTimestamp == nil) {
		w.Stir()
	}
}

// noteMember handles a node of a group that takes pods from now on. Its room is new.
func (w *Watch) noteMember(c store.Change) {
	if old, _ := c.Old.(*corev1.Node); takesPods(c.Object()) && (old == nil || !takesPods(old)) {
		w.Stir()
	}
}

func takesPods(member client.Object) bool {
	return member.GetAnnotations()[tenonv1alpha1.AnnotationJoined] == "true"
}

// noteWish handles changes of what users ask for, which increase the generation.
func (w *Watch) noteWish(c store.Change) {
	switch c.Object().(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet, *batchv1.Job, *policyv1.PodDisruptionBudget, *karpenterv1.NodePool, *awsv1.EC2NodeClass,
		*autoscalingv1beta1.CapacityBuffer, *corev1.PodTemplate:
		if c.Old == nil || c.New == nil || c.Old.GetGeneration() != c.New.GetGeneration() {
			w.Stir()
		}
	}
}
