package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/clusterautoscaler"
)

// AnnotationRearranged says on a claim when disruptions brought pods to its node, as RFC 3339
// with commas between, the first one first. The controller that carries a disruption out writes it on
// replacements and on the nodes that take pods, and a pod that was moved is not moved again for a while.
const AnnotationRearranged = "tenon.sh/rearranged"

// AnnotationScaleDownDisabled is Cluster Autoscaler's. On a node the value "true" means the same as do-not-disrupt.
const AnnotationScaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled"

// Life returns what decides whether a node may be disrupted, from the node, its claim, or both.
func (t *Translator) Life(node *corev1.Node, claim *karpenterv1.NodeClaim) snapshot.Life {
	return view{t: t, node: node, claim: claim}.life()
}

// life returns what decides whether the node may be disrupted.
func (v view) life() snapshot.Life {
	var out snapshot.Life
	if v.node != nil {
		out.Protected = v.node.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true" || v.node.Annotations[AnnotationScaleDownDisabled] == "true"
		out.Kept = out.Protected && v.node.Annotations[karpenterv1.AnnotationDoNotDisrupt] != "true"
		out.Unready = v.unready()
	}
	out.Unborn = v.node == nil
	if v.claim == nil {
		v.alone(&out)
		return out
	}
	if v.claim.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true" {
		out.Protected, out.Kept = true, false
	}
	out.Bounded = v.claim.Spec.TerminationGracePeriod != nil
	out.Quiet = v.quiet()
	if c, is := v.condition(karpenterv1.ConditionDrifted); is {
		out.Drifted, out.Since = c.Reason, c.LastTransitionTime.UTC()
	}
	if c, is := v.condition(karpenterv1.ConditionDisruptionReason); is {
		out.Underway = c.Reason
	}
	// The taint may be seen before the claim says why, or be all that was written.
	marked := out.Underway != "" || v.node != nil && hasTaint(v.node.Spec.Taints, karpenterv1.TaintDisrupted())
	out.Awaits = marked && v.claim.DeletionTimestamp == nil && (v.node == nil || v.node.DeletionTimestamp == nil)
	out.Rearranged = Rearranged(v.claim)
	_, out.Terminating = v.condition(karpenterv1.ConditionInstanceTerminating)
	if after := v.claim.Spec.ExpireAfter.Duration; after != nil {
		out.Expires = v.claim.CreationTimestamp.Add(*after).UTC()
	}
	return out
}

// alone enters the state of a node without a claim, such as one of a group.
func (v view) alone(out *snapshot.Life) {
	if v.initialized() {
		out.Quiet = born(v.node.CreationTimestamp) // files have no later time
	}
	if v.group() == "" {
		return
	}
	said := v.node.Annotations
	if last, err := time.Parse(time.RFC3339, said[tenonv1alpha1.AnnotationLastPodEvent]); err == nil && v.initialized() {
		out.Quiet = last.UTC()
	}
	out.Unneeded = unneeded(v.node)
	var record struct { // of command.Record
		Reason string `json:"reason"`
	}
	if json.Unmarshal([]byte(said[karpenterv1.AnnotationDisruption]), &record) == nil {
		out.Underway = record.Reason
	}
	deleted := v.node.DeletionTimestamp != nil
	out.Awaits = !deleted && (out.Underway != "" || hasTaint(v.node.Spec.Taints, karpenterv1.TaintDisrupted()))
	out.Rearranged = Rearranged(v.node)
	// Without our finalizer it was deleted because its instance is gone.
	out.Terminating = deleted && (said[tenonv1alpha1.AnnotationEnded] != "" || !slices.Contains(v.node.Finalizers, karpenterv1.FinalizerTermination))
}

// unneeded is since when a node has been unneeded, according to its taint; zero without the taint.
func unneeded(node *corev1.Node) time.Time {
	for _, t := range node.Spec.Taints {
		if t.Key != tenonv1alpha1.TaintCandidate {
			continue
		}
		if seconds, err := strconv.ParseInt(t.Value, 10, 64); err == nil {
			return time.Unix(seconds, 0).UTC()
		}
	}
	return time.Time{}
}

// TakenBack reports whether a node is marked for a disruption that will be taken back: nothing is
// written of the disruption on the claim, or on a group's node, or a replacement that it waits for does not exist. Pods
// of such a node stay where they are, and want no other place. The controller writes the record
// before it taints the node, and makes the replacements after that.
func TakenBack(n *snapshot.Node, node *corev1.Node, claim *karpenterv1.NodeClaim, exists func(claim string) bool) bool {
	if !n.Life.Awaits || n.Life.Unborn || claim == nil && memberOf(node, nil) == "" {
		return false
	}
	var recorded metav1.Object = node
	if claim != nil {
		recorded = claim
	}
	var record struct { // of command.Record, which the disruption controller alone writes
		Replacements []struct {
			Claim string `json:"claim"`
		} `json:"replacements"`
	}
	if json.Unmarshal([]byte(recorded.GetAnnotations()[karpenterv1.AnnotationDisruption]), &record) != nil {
		return true
	}
	for _, r := range record.Replacements {
		if !exists(r.Claim) {
			return true
		}
	}
	return false
}

// Rearranged is what a claim, or a node without one, says about when disruptions brought pods to the node. What
// cannot be read was not written by Tenon.
func Rearranged(claim metav1.Object) []time.Time {
	var out []time.Time
	for word := range strings.SplitSeq(claim.GetAnnotations()[AnnotationRearranged], ",") {
		if at, err := time.Parse(time.RFC3339, word); err == nil {
			out = append(out, at.UTC())
		}
	}
	return out
}

// Rearrange adds a time to what a claim says, and forgets what has long ceased to matter. Of
// many times the first of all and the last ones are kept: pods that came in between count as
// moved a little earlier than they were.
func Rearrange(claim metav1.Object, at time.Time) {
	const remembered, most = 4 * 24 * time.Hour, 20
	times := slices.DeleteFunc(Rearranged(claim), func(t time.Time) bool { return at.Sub(t) >= remembered })
	if len(times) >= most {
		times = slices.Delete(times, 1, len(times)-most+2)
	}
	sayRearranged(claim, append(times, at))
}

// NotRearranged takes back a time that Rearrange has added.
func NotRearranged(claim metav1.Object, at time.Time) {
	at = at.Truncate(time.Second)
	sayRearranged(claim, slices.DeleteFunc(Rearranged(claim), at.Equal))
}

func sayRearranged(claim metav1.Object, times []time.Time) {
	said := maps.Clone(claim.GetAnnotations())
	if len(times) == 0 {
		delete(said, AnnotationRearranged)
		claim.SetAnnotations(said)
		return
	}
	words := make([]string, len(times))
	for i, t := range times {
		words[i] = t.UTC().Format(time.RFC3339)
	}
	if said == nil {
		said = map[string]string{}
	}
	said[AnnotationRearranged] = strings.Join(words, ",")
	claim.SetAnnotations(said)
}

// condition finds a condition of the claim that is true.
func (v view) condition(name string) (metav1.Condition, bool) {
	for _, c := range v.claim.Status.Conditions {
		if c.Type == name {
			return c, c.Status == metav1.ConditionTrue
		}
	}
	return metav1.Condition{}, false
}

// quiet is since when no pod has come or gone. A claim in a file may lack the time at which
// it became ready.
func (v view) quiet() time.Time {
	if last := v.claim.Status.LastPodEventTime; !last.IsZero() {
		return last.UTC()
	}
	if c, is := v.condition(karpenterv1.ConditionInitialized); is {
		return c.LastTransitionTime.UTC()
	}
	if v.t.options.Files && v.initialized() {
		return born(v.claim.CreationTimestamp)
	}
	return time.Time{}
}

// born is when an object was made: long ago, if a manifest does not say it.
func born(at metav1.Time) time.Time {
	if at.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return at.UTC()
}

// unready nodes report that they are not Ready, or have stopped reporting, or belong to a group and have a startup taint. A node in a
// file may have no conditions.
func (v view) unready() bool {
	if v.group() != "" && Starts(v.node, &v.t.options.GroupTaints) {
		return true
	}
	return !IsReady(v.node) && !(v.t.options.Files && len(v.node.Status.Conditions) == 0)
}

// Starts reports whether a node of a group has a startup taint.
func Starts(node *corev1.Node, taints *clusterautoscaler.Taints) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return taints.IsStartup(t.Key) })
}

// IsReady reports whether a node has the condition Ready.
func IsReady(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// consolidation returns the pool's settings for disruption, except what its budgets
// allow now.
func consolidation(pool *karpenterv1.NodePool) snapshot.Consolidation {
	out := consolidationOf(pool.Spec.Disruption)
	out.DeleteFirst, _ = DeleteFirst(pool) // annotations that are refused are reported where pools are checked
	return out
}

func consolidationOf(d karpenterv1.Disruption) snapshot.Consolidation {
	out := snapshot.Consolidation{Policy: snapshot.Policy(d.ConsolidationPolicy)}
	if out.Policy == "" {
		out.Policy = snapshot.WhenEmptyOrUnderutilized
	}
	switch after := d.ConsolidateAfter; {
	case after.Duration != nil:
		d := *after.Duration
		out.After = &d
	case !after.IsSet():
		var none time.Duration
		out.After = &none
	}
	return out
}

// DeleteFirst reports whether a drifted node of the pool may go before its replacement is bought,
// where the pool's limits leave no room for both. With an annotation that says neither it may not.
func DeleteFirst(pool *karpenterv1.NodePool) (bool, error) {
	switch text, said := pool.Annotations[karpenterv1.AnnotationDriftAtLimit]; {
	case !said, text == karpenterv1.DriftDeleteFirst:
		return true, nil
	case text == karpenterv1.DriftWait:
		return false, nil
	default:
		return false, fmt.Errorf("annotation %s: %q is neither %s nor %s", karpenterv1.AnnotationDriftAtLimit, text, karpenterv1.DriftDeleteFirst, karpenterv1.DriftWait)
	}
}

// InService counts the nodes that budgets are shares of, by pool.
func InService(nodes []snapshot.Node) map[string]int {
	out := map[string]int{}
	for i := range nodes {
		if n := &nodes[i]; n.Initialized && !n.Life.Terminating {
			out[n.Pool]++
		}
	}
	return out
}

// Allow evaluates a pool's budgets for so many nodes in service.
func (t *Translator) Allow(pool *karpenterv1.NodePool, total int, out *snapshot.Consolidation) {
	for _, each := range []struct {
		reason karpenterv1.DisruptionReason
		allow  *int
	}{
		{karpenterv1.DisruptionEmpty, &out.Allowed.Empty},
		{karpenterv1.DisruptionDrifted, &out.Allowed.Drifted},
		{karpenterv1.DisruptionUnderutilized, &out.Allowed.Underutilized},
	} {
		allowed, err := pool.AllowedDisruptions(each.reason, total, t.options.Now)
		*each.allow = allowed
		if err != nil {
			out.Broken = t.broken(pool)
		}
	}
	if turns, ok := pool.NextTurn(t.options.Now); ok {
		out.Turns = turns
	}
}

// broken is what is wrong with a pool's budgets.
func (t *Translator) broken(pool *karpenterv1.NodePool) *reason.BrokenBudgets {
	var faults []reason.BudgetFault
	for _, budget := range pool.Spec.Disruption.Budgets {
		_, err := budget.Allowed(0, t.options.Now)
		var wrong *karpenterv1.BudgetError
		if !errors.As(err, &wrong) {
			continue
		}
		fault := reason.BudgetFault{Code: reason.Code(wrong.Problem), Value: wrong.Value}
		if wrong.Err != nil {
			fault.Parser = wrong.Err.Error()
		}
		faults = append(faults, fault)
	}
	return &reason.BrokenBudgets{Pool: pool.Name, Faults: faults}
}
