package disruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/nodegroup"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/telemetry"
)

// tellBegin announces a command: one line in the log, and events on the objects.
func (d *disruption) tellBegin(ctx context.Context, s *start) {
	r := &s.state.Record
	nodes := make([]string, len(s.state.Leavers))
	disrupted := make([]map[string]string, len(s.state.Leavers))
	for i, l := range s.state.Leavers {
		nodes[i] = l.Name()
		labels := l.Carrier().GetLabels()
		disrupted[i] = map[string]string{"Node": nodes[i], "instance-type": labels[corev1.LabelInstanceTypeStable], "capacity-type": labels[karpenterv1.LabelCapacityType]}
		if l.Claim != nil {
			disrupted[i]["NodeClaim"] = l.Claim.Name
		}
	}
	reconcile.Log(ctx).Info("disrupting node(s)", "command", r.Text(nodes), "command-id", r.ID, "decision", r.Decision(),
		"disrupted-node-count", len(s.state.Leavers), "replacement-node-count", len(s.state.Orders), "pod-count", r.Evictions,
		"disrupted-nodes", disrupted, "replacement-nodes", replacements(s))
	if r.Reason == plan.Underutilized && len(s.state.Orders) > 0 {
		for i, l := range s.state.Leavers {
			text := fmt.Sprintf("replace: [%s]%s", nodes[i], r.Arrow())
			if len(nodes) > 1 {
				text = fmt.Sprintf("replace: [%s] (part of %d-node consolidation)", nodes[i], len(nodes))
			}
			text = fmt.Sprintf("Consolidation candidate: %s (savings: $%.2f)", text, r.Savings.Float())
			d.both(l, "ConsolidationCandidate", text, text, text)
		}
	}
	d.tellScores(s)
}

// replacements are the replacements as a line of the log names them.
func replacements(s *start) []map[string]string {
	out := make([]map[string]string, len(s.plan.Replacements))
	for i := range s.plan.Replacements {
		c := &s.plan.Replacements[i]
		out[i] = map[string]string{"NodePool": c.Pool, "capacity-type": c.Offer.CapacityType}
		types := c.Narrowed().Get(requirement.KeyInstanceType)
		if only, single := types.Single(); single {
			out[i]["instance-types"] = only
		}
	}
	return out
}

// balance is the divisor of the policy Balanced.
const balance = 2

func (d *disruption) tellScores(s *start) {
	for _, score := range s.plan.Scores {
		text := fmt.Sprintf("score %.2f >= threshold %.2f (k: %d, savings %.1f%%, disruption %.1f%%)",
			score.Value(), 1.0/balance, balance, 100*score.Savings, 100*score.Disruption)
		d.kit.Metrics.ConsolidationScore.WithLabelValues(s.state.Record.Decision(), score.Pool, "balanced").Observe(score.Value())
		if len(s.state.Leavers) == 1 {
			d.both(s.state.Leavers[0], "ConsolidationApproved", text, text)
			continue
		}
		if pool, found := d.o.World.Pool(score.Pool); found {
			d.kit.Events.Publish(telemetry.Normal(pool, "ConsolidationApproved", text, string(pool.UID)))
		}
	}
}

// both makes events for a node and for its claim.
func (d *disruption) both(l command.Leaver, reason, onNode, onClaim string, key ...string) {
	if l.Claim != nil {
		d.kit.Events.Publish(telemetry.Normal(l.Claim, reason, onClaim, append([]string{string(l.Claim.UID)}, key...)...))
	}
	if l.Node != nil {
		d.kit.Events.Publish(telemetry.Normal(l.Node, reason, onNode, append([]string{string(l.Node.UID)}, key...)...))
	}
}

// countBegun counts a command that is under way.
func (d *disruption) countBegun(r *command.Record) {
	m, why := d.kit.Metrics, string(removal.ReasonOf(r.Reason))
	m.VoluntaryDisruptionDecisionsTotal.WithLabelValues(r.Decision(), why, r.Kind).Inc()
	for _, pool := range r.Pools() {
		m.VoluntaryDisruptionDecisionsByNodepoolTotal.WithLabelValues(pool, r.Decision(), why, r.Kind).Inc()
		if r.Reason == plan.Underutilized {
			m.ConsolidationMovesTotal.WithLabelValues("approved", pool, d.policy(pool)).Inc()
		}
	}
}

// policy is the policy of a pool as metrics name it.
func (d *disruption) policy(name string) string {
	pool, found := d.o.World.Pool(name)
	if !found {
		return ""
	}
	return removal.Policy(pool)
}

// tellWaiting publishes events about replacements that are not ready.
func (d *disruption) tellWaiting(s *command.State) {
	for _, claim := range s.Replacements {
		if claim == nil {
			continue
		}
		d.kit.Events.Publish(telemetry.Normal(claim, "DisruptionLaunching", "Launching NodeClaim: "+string(s.Record.Reason),
			string(claim.UID), string(s.Record.Reason)).Within(time.Hour))
		if !claim.Conditions(s.Now).IsTrue(karpenterv1.ConditionInitialized) {
			d.kit.Events.Publish(telemetry.Normal(claim, "DisruptionWaitingReadiness", "Waiting on readiness to continue disruption", string(claim.UID)))
		}
	}
}

// tellRemoved publishes events about a node whose claim has been deleted.
func (d *disruption) tellRemoved(ctx context.Context, s *command.State, l command.Leaver) {
	why := string(s.Record.Reason)
	d.both(l, "DisruptionTerminating", "Disrupting Node: "+why, "Disrupting NodeClaim: "+why, why)
	if l.Claim == nil && l.Node != nil {
		if group, _ := d.o.World.GroupObject(l.Node.Annotations[tenonv1alpha1.AnnotationGroup]); group != nil {
			nodegroup.TellScaleDown(ctx, d.kit, group, l.Node, s.Record.Evictions == 0)
		}
	}
	reconcile.Log(ctx).V(1).Info("deleting disrupted nodeclaim", "NodeClaim", l.Member(), "Node", l.Name(), "command-id", s.Record.ID, "reason", why)
}

// tellObjections publishes events about nodes that have to stay, because something has changed since the
// decision.
func (d *disruption) tellObjections(ctx context.Context, s *command.State, objections map[string]reason.Cause) {
	if len(objections) == 0 {
		return
	}
	d.kit.Metrics.VoluntaryDisruptionFailedValidationsTotal.WithLabelValues(s.Record.Kind).Add(float64(len(objections)))
	for _, l := range s.Staying() {
		cause, stays := objections[l.Member()]
		if !stays {
			continue
		}
		why := cause.Text()
		reconcile.Log(ctx).Info("a node is not disrupted after all", "Node", l.Name(), "NodeClaim", l.Member(), "command-id", s.Record.ID, "cause", why)
		text := fmt.Sprintf("Consolidation rejected: %s: [%s], reason: churn, %s (savings: $%.2f)", s.Record.Decision(), l.Name(), why, s.Record.Savings.Float())
		if s.Record.Reason == plan.Drifted {
			d.both(l, "DisruptionBlocked", why, why)
			continue
		}
		d.both(l, "ConsolidationRejected", text, text, text)
	}
}

// tellAbandoned publishes events about a command that is taken back.
func (d *disruption) tellAbandoned(ctx context.Context, s *command.State, why string) {
	var nodes []string
	missing := 0
	for _, l := range s.Leavers {
		nodes = append(nodes, l.Name())
	}
	for _, r := range s.Replacements {
		if r == nil || !r.Conditions(s.Now).IsTrue(karpenterv1.ConditionInitialized) {
			missing++
		}
	}
	d.kit.Metrics.VoluntaryDisruptionQueueFailuresTotal.WithLabelValues(s.Record.Decision(), string(removal.ReasonOf(s.Record.Reason)), s.Record.Kind).Add(float64(max(missing, 1)))
	reconcile.Log(ctx).Info("failed terminating nodes while executing a disruption command", "command-id", s.Record.ID,
		"reason", string(s.Record.Reason), "nodes", strings.Join(nodes, ", "), "cause", why)
}

// tellBudgets reports, once, the pools whose budgets cannot be read: such budgets allow no
// disruption.
func (d *disruption) tellBudgets(ctx context.Context, s *snapshot.Snapshot) {
	broken := map[string][]reason.BudgetFault{}
	for i := range s.Pools {
		pool := &s.Pools[i]
		wrong := pool.Consolidation.Broken
		if wrong == nil {
			continue
		}
		if broken[pool.Name] = wrong.Faults; !slices.Equal(d.broken[pool.Name], wrong.Faults) {
			reconcile.Log(ctx).Error(errors.New(wrong.Text()), "detected disruption budget errors", "NodePool", pool.Name)
		}
	}
	d.broken = broken
}

// countUnremovable counts the nodes of groups in mode cas that stay, by reason.
func (d *disruption) countUnremovable(s *snapshot.Snapshot, prospects []plan.Prospect) {
	pools, counts := map[string]bool{}, map[string]int{}
	for i := range s.Pools {
		if s.Pools[i].Rules() != nil {
			pools[s.Pools[i].Name] = true
		}
	}
	if len(pools) == 0 {
		return
	}
	for i := range prospects {
		if p := &prospects[i]; pools[p.Pool] && p.Cause.Code != reason.None {
			counts[unremovable(p.Cause.Code)]++
		}
	}
	gauge := d.kit.Metrics.ClusterAutoscalerUnremovableNodesCount
	gauge.Reset()
	for name, n := range counts {
		gauge.WithLabelValues(name).Set(float64(n))
	}
}

// unremovable returns Cluster Autoscaler's name for a reason.
func unremovable(code reason.Code) string {
	switch code {
	case reason.ScaleDownDisabledAnnotation, reason.ScaleDownUnreadyDisabled, reason.NotUnderutilized, reason.NotUnneededLongEnough,
		reason.NotUnreadyLongEnough, reason.BlockedByOnCompletionPod:
		return string(code)
	case reason.NotSafeToEvictAnnotation, reason.ControllerNotFound, reason.MinReplicasReached, reason.NotReplicated, reason.UnmovableKubeSystemPod,
		reason.LocalStorageRequested, reason.PodProtected, reason.PodDisruptionBudget, reason.SeveralPodDisruptionBudgets:
		return "BlockedByPod"
	case reason.PodsWithoutOtherPlace:
		return "NoPlaceToMovePods"
	case reason.GroupFloor:
		return "NodeGroupMinSizeReached"
	case reason.NodeLeaving, reason.BeingDisrupted:
		return "CurrentlyBeingDeleted"
	}
	return "NotUnneededOtherReason"
}
