package invariant

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/sim/store"
)

// commandOf returns the disruption that removes a claim; nil if there is none.
func commandOf(claim *karpenterv1.NodeClaim) *command.Record {
	if claim == nil {
		return nil
	}
	return taking(claim)
}

// taking is the command on an object that takes it: a claim, or a node of a group; nil if there is none.
func taking(carrier client.Object) *command.Record {
	if r, written := command.Of(carrier); written && r.Takes(command.MemberFor(carrier)) {
		return &r
	}
	return nil
}

// goesBy returns the disruption that removes a claim, until its very end: the product removes its record
// when no decision remains, while pods are still leaving.
func (w *Watch) goesBy(claim *karpenterv1.NodeClaim) *command.Record {
	if r := commandOf(claim); r != nil || claim == nil || claim.DeletionTimestamp == nil {
		return r
	}
	return w.going[claim.Name]
}

func poolOf(claim *karpenterv1.NodeClaim) string { return claim.Labels[karpenterv1.LabelNodePool] }

// Deleting is called before the product deletes a claim.
func (w *Watch) Deleting(claim *karpenterv1.NodeClaim) {
	if claim.DeletionTimestamp != nil {
		return
	}
	if w.serves(claim) && !w.named(claim) {
		w.report(NodeNamed, "claim %s is deleted, and nothing says why", claim.Name)
	}
	r := commandOf(claim)
	if r == nil || !w.serves(claim) || w.namedBesides(claim) { // it goes for that disruption
		return
	}
	for _, m := range r.Replacements {
		if replacement := w.claimNamed(m.Claim); replacement != nil && replacement.DeletionTimestamp == nil && !meta.IsStatusConditionTrue(replacement.Status.Conditions, karpenterv1.ConditionInitialized) {
			w.report(ReplacedFirst, "claim %s goes by command %s, and %s is not ready", claim.Name, r.ID, m.Claim)
		}
	}
}

// serves reports whether a claim has a node that is ready, and a machine.
func (w *Watch) serves(claim *karpenterv1.NodeClaim) bool {
	node := w.nodeOf(claim.Status.NodeName)
	return node != nil && readyNode(node) && meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized) && w.runs(claim)
}

func (w *Watch) runs(claim *karpenterv1.NodeClaim) bool {
	return slices.ContainsFunc(w.Cloud.Instances(), func(i cloud.Instance) bool {
		return i.ProviderID == claim.Status.ProviderID && i.State == cloud.Running
	})
}

func readyNode(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// named reports whether there is a reason for a claim's deletion: a disruption in its annotations, its age,
// its pool, the cloud, or a user who has deleted its node.
func (w *Watch) named(claim *karpenterv1.NodeClaim) bool {
	_, written := command.Of(claim)
	return written || w.namedBesides(claim)
}

// namedBesides reports whether there is a reason other than a disruption.
func (w *Watch) namedBesides(claim *karpenterv1.NodeClaim) bool {
	pool, node := w.pool(poolOf(claim)), w.nodeOf(claim.Status.NodeName)
	old := claim.Spec.ExpireAfter.Duration
	return w.announced[idOf(claim)] || pool == nil || pool.Spec.Replicas != nil || node != nil && node.DeletionTimestamp != nil ||
		old != nil && w.Now().Sub(claim.CreationTimestamp.Time) >= *old
}

// idOf returns the last part of a provider ID.
func idOf(claim *karpenterv1.NodeClaim) string {
	id := claim.Status.ProviderID
	return id[strings.LastIndex(id, "/")+1:]
}

// Announced is called when the cloud sends a notice about an instance: from then on its node may be removed
// for that reason.
func (w *Watch) Announced(id string) { w.announced[id] = true }

func (w *Watch) claimNamed(name string) *karpenterv1.NodeClaim {
	return store.One[*karpenterv1.NodeClaim](w.Store, types.NamespacedName{Name: name})
}

// behind is how far the product's counts may lag behind.
const behind = 2 * time.Minute

// begun checks a claim on which a disruption has been recorded.
func (w *Watch) begun(claim *karpenterv1.NodeClaim) {
	r, name := commandOf(claim), poolOf(claim)
	pool := w.pool(name)
	if pool == nil || w.recent(w.edited[name], changing) {
		return
	}
	total, underway := 0, 0
	for _, c := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if poolOf(c) == name && !w.over(c) {
			total++
			if w.goesBy(c) != nil {
				underway++
			}
		}
	}
	for _, at := range w.left[name] {
		if w.Now().Sub(at) < behind {
			total++
		}
	}
	if most := allowed(pool, string(r.Reason), total); underway > most {
		w.report(NodeBudgets, "%d of %d nodes of pool %s are disrupted, %s by command %s; %d may be", underway, total, name, claim.Name, r.ID, most)
	}
}

// over reports whether a claim no longer counts: its node has been drained, or was removed with its machine
// before that.
func (w *Watch) over(claim *karpenterv1.NodeClaim) bool {
	gone := claim.DeletionTimestamp != nil && claim.Status.NodeName != "" && w.nodeOf(claim.Status.NodeName) == nil
	return gone || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInstanceTerminating)
}

// allowed returns how many of a pool's nodes may be disrupted for a reason at the same time, under any of
// its schedules.
func allowed(pool *karpenterv1.NodePool, reason string, total int) int {
	most := total
	for _, b := range pool.Spec.Disruption.Budgets {
		about := b.Reasons == nil || slices.ContainsFunc(b.Reasons, func(r karpenterv1.DisruptionReason) bool { return string(r) == reason })
		if about && b.Schedule == nil {
			most = min(most, share(b.Nodes, total))
		}
	}
	return most
}

// share returns a number, or a percentage that is rounded up.
func share(text string, total int) int {
	percent, is := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(percent)
	if err != nil {
		return total // the server lets nothing else in
	}
	if !is {
		return n
	}
	return (n*total + 99) / 100
}

// overlap is how long machines may run beside their replacements: as long as a drain under budgets may
// take.
const overlap = 45 * time.Minute

// lookAtCommands looks for commands that pay for both old and new machines for too long.
func (w *Watch) lookAtCommands() {
	seen := map[string]bool{}
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		r := commandOf(claim)
		if r == nil || len(r.Replacements) == 0 || !w.replaced(r) || !w.runs(claim) || w.holds(claim.Status.NodeName) {
			continue
		}
		seen[r.ID] = true
		since, known := w.paired[r.ID]
		if !known {
			w.paired[r.ID] = w.Now()
			w.compare(r)
		} else if w.Now().Sub(since) > overlap {
			w.report(PaidOnce, "%s and what replaces it by command %s, since %s", claim.Name, r.ID, since.UTC().Format(time.DateTime))
		}
	}
	for id := range w.paired { // deletion alone: the order does not matter
		if !seen[id] {
			delete(w.paired, id)
		}
	}
}

// replaced reports whether all replacements of a command are ready.
func (w *Watch) replaced(r *command.Record) bool {
	for _, m := range r.Replacements {
		if c := w.claimNamed(m.Claim); c == nil || !meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionInitialized) {
			return false
		}
	}
	return true
}

// compare sums the prices of a command's new and old machines.
func (w *Watch) compare(r *command.Record) {
	if r.Reason != plan.Underutilized {
		return
	}
	sum := func(members []command.Member) (sum model.Money) {
		for _, m := range members {
			sum += w.prices[m.Claim]
		}
		return sum
	}
	if before, after := sum(r.Claims), sum(r.Replacements); after > before {
		w.report(Cheaper, "command %s brings what costs %.4f for what costs %.4f", r.ID, after.Float(), before.Float())
	}
}

// commandsAtRest looks for disruptions that are not finished.
func (w *Watch) commandsAtRest() {
	for _, claim := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if _, written := claim.Annotations[karpenterv1.AnnotationDisruption]; written && commandOf(claim) != nil && !w.begunNow(claim) && !w.holds(claim.Status.NodeName) {
			w.report(RestCommands, "claim %s has one since %s", claim.Name, commandOf(claim).Begun.UTC().Format(time.DateTime))
		}
		if claim.DeletionTimestamp == nil && commandOf(claim) == nil && slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == karpenterv1.ConditionDisruptionReason && c.Status == metav1.ConditionTrue
		}) {
			w.report(RestCommands, "claim %s says that it goes, and stays", claim.Name)
		}
	}
}
