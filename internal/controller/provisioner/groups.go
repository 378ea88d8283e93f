package provisioner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/journal"
	"tenon/internal/nodegroup"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/internal/world"
)

// resize raises the sizes of the groups that the plan grows, and tells the pods. The pods get no place in the ledger: the next
// decision finds the instances among the nodes to come.
func (l *loop) resize(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan, number int64) []execute.Resized {
	resized := l.o.Executor.Resize(ctx, p.Increases(s))
	for i := range resized {
		r := &resized[i]
		l.recordResized(number, r)
		log := reconcile.Log(ctx).WithValues("group", r.Increase.Group, "from", r.Increase.From, "to", r.Increase.To)
		switch {
		case r.Dropped.Code != reason.None:
			log.Info("left out a node group that is not to grow any more", "reason", r.Dropped.Text())
		case r.Err == nil:
			log.Info("raised the size of a node group", "NodeGroup", r.Group.Name)
			l.tellGrown(s, p, r)
		}
	}
	return resized
}

func (l *loop) tellGrown(s *snapshot.Snapshot, p *plan.Plan, r *execute.Resized) {
	for i := range p.Claims {
		if c := &p.Claims[i]; c.Group == r.Increase.Group && c.Now() {
			for _, pod := range pendingRefs(s, c.Pods) {
				l.nominate(pod, "nodegroup/"+r.Group.Name)
				l.tellTriggered(pod, r)
			}
		}
	}
}

// tellTriggered publishes on a pod that a group in mode cas grows for it, in Cluster Autoscaler's words.
func (l *loop) tellTriggered(ref world.PodRef, r *execute.Resized) {
	pod, found := l.o.World.Pod(ref.Namespace, ref.Name)
	if r.Group.Spec.Mode != tenonv1alpha1.ModeCAS || !found || pod.UID != ref.UID {
		return
	}
	text := fmt.Sprintf("pod triggered scale-up: [{%s %d->%d (max: %d)}]", r.Increase.Group, r.Increase.From, r.Increase.To, r.Group.Status.Size.Max)
	e := telemetry.Normal(pod, "TriggeredScaleUp", text, string(pod.UID))
	e.Rate = nominations
	l.kit.Events.Publish(e)
}

// recordResized records the outcome of an increase in the journal.
func (l *loop) recordResized(number int64, r *execute.Resized) {
	out := journal.Outcome{At: l.kit.Clock.Now(), Decision: number, Action: journal.ActionResize, Result: journal.Made, Why: r.Dropped.Text()}
	if r.Group != nil {
		out.NodePool = snapshot.GroupPool(r.Group.Name)
	}
	switch {
	case r.Err != nil:
		out.Result, out.Why = journal.Failed, r.Err.Error()
	case !r.Done():
		out.Result = journal.Dropped
	}
	l.o.Journal.Told(out)
}

// unfinished reports whether a group did not grow as decided, and the first error.
func unfinished(resized []execute.Resized) (bool, error) {
	at := slices.IndexFunc(resized, func(r execute.Resized) bool { return r.Err != nil })
	if at >= 0 {
		return true, resized[at].Err
	}
	return slices.ContainsFunc(resized, func(r execute.Resized) bool { return !r.Done() }), nil
}

// notTriggered counts the groups in mode cas that do not grow for a pod by reason, as a text in the form that tools for Cluster
// Autoscaler read. It is false if there are no such groups.
func notTriggered(s *snapshot.Snapshot, v *reason.Verdict) (string, bool) {
	groups := map[string]bool{}
	for i := range s.Pools {
		if s.Pools[i].Rules() != nil {
			groups[s.Pools[i].Name] = true
		}
	}
	counts := map[string]int{}
	for i := range v.Pools {
		if p := &v.Pools[i]; groups[p.Pool] {
			counts[groupReason(p)]++
		}
	}
	var texts []string
	for _, text := range order.Keys(counts) {
		texts = append(texts, fmt.Sprintf("%d %s", counts[text], text))
	}
	return "pod didn't trigger scale-up: " + strings.Join(texts, ", "), len(texts) > 0
}

// tellTotal says on Cluster Autoscaler's ConfigMap that pods wait because the cluster has as many nodes as it may have, if there are groups in
// mode cas.
func (l *loop) tellTotal(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) {
	full := func(v reason.PoolVerdict) bool {
		return v.Reason.Code == reason.ClusterLimitReached && v.Reason.Where == model.Nodes
	}
	if slices.ContainsFunc(s.Pools, func(p snapshot.Pool) bool { return p.Rules() != nil }) &&
		slices.ContainsFunc(p.Unplaced, func(u plan.Unplaced) bool { return slices.ContainsFunc(u.Verdict.Pools, full) }) {
		text := fmt.Sprintf("Pods wait, and no group grows: the cluster has as many nodes as --max-nodes-total allows, %d", l.kit.Settings.Totals.Nodes)
		nodegroup.TellAll(ctx, l.kit, telemetry.Warning(nil, "MaxNodesTotalReached", text).Within(5*time.Minute))
	}
}

// groupReason says why a group did not grow, in Cluster Autoscaler's words if it has any for the reason.
func groupReason(v *reason.PoolVerdict) string {
	switch v.Reason.Code {
	case reason.PoolNotReady, reason.PoolLimitsAwaited:
		if text, backedOff := strings.CutPrefix(v.Unready.Message, ingest.InBackoff); backedOff && text != "" {
			return ingest.InBackoff
		}
		return "not ready for scale-up"
	case reason.LimitReached:
		return "max node group size reached"
	case reason.ClusterLimitReached:
		return fmt.Sprintf("exceeded quota: %q, resources: %s", "cluster-wide", v.Reason.Where)
	case reason.InsufficientRoom:
		return "Insufficient " + v.Reason.Where
	case reason.TaintNotTolerated:
		return "node(s) had untolerated taint {" + v.Reason.Where + "}"
	case reason.LabelsIncompatible, reason.TypeIncompatible, reason.NoOffering:
		return "node(s) didn't match Pod's node affinity/selector"
	case reason.Spread:
		return "node(s) didn't match pod topology spread constraints"
	case reason.Affinity:
		return "node(s) didn't match pod affinity rules"
	case reason.AntiAffinity:
		return "node(s) didn't match pod anti-affinity rules"
	}
	return v.Text()
}
