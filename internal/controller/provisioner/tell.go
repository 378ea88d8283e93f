package provisioner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/internal/world"
)

// few is the largest number of names in a line of the log.
const few = 5

// tell reports the decision: a few lines in the log for any number of pods, events on the
// pods and pools, and metrics.
func (l *loop) tell(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan, outcomes []execute.Outcome) {
	log := reconcile.Log(ctx)
	if p.Solve.Pods > 0 {
		// A decision without a change, about pods that have had an event, is not logged.
		level := 0
		if names := podNames(s); !l.said.isNew("found "+names, s.Now) && len(outcomes) == 0 && len(p.Existing) == 0 {
			level = 1
		}
		log.V(level).Info("found provisionable pod(s)", "Pods", podNames(s), "count", p.Solve.Pods, "duration", l.took.String())
	}
	if len(outcomes) > 0 {
		log.Info("computed new nodeclaim(s) to fit pod(s)", "nodeclaims", len(outcomes), "pods", podsOf(p.Claims),
			"price", p.Cost.New.String(), "bound", p.Cost.LowerBound.String(), "waiting", p.Delayed(reason.BurstGoesOn))
	}
	if n := podsOn(s, p.Existing); n > 0 {
		log.Info("computed unready node(s) will fit pod(s)", "nodes", len(p.Existing), "pods", n)
	}
	l.tellClaims(ctx, s, outcomes)
	l.tellExisting(s, p.Existing)
	l.tellUnplaced(ctx, s, p)
	l.tellTotal(ctx, s, p)
	l.tellObstacles(ctx, execute.Obstacles{Limits: l.priced(limited(p)), Stock: l.priced(short(p))})
	l.tellPools(ctx, s)
}

// tellPools reports pools that take no part in decisions, and pools that can buy nothing at all.
func (l *loop) tellPools(ctx context.Context, s *snapshot.Snapshot) {
	for i := range s.Pools {
		pool := &s.Pools[i]
		if pool.Replicas != nil || pool.Unready.Code == reason.GroupObserved || pool.Unready.Code == reason.GroupHandedOver {
			continue
		}
		if !pool.MayLaunch() {
			why := pool.Unready.Text()
			if l.said.isNew("pool "+pool.Name+" "+why, s.Now) {
				reconcile.Log(ctx).Info("ignoring nodepool, not ready", "NodePool", pool.Name, "reason", why)
			}
			continue
		}
		object, found := l.o.World.Pool(pool.Name)
		if text := withoutTypes(s, pool); text != "" && found {
			l.kit.Events.Publish(telemetry.Warning(object, "NoCompatibleInstanceTypes", text, string(object.UID)).Within(time.Minute))
		}
	}
}

// withoutTypes says that a pool's requirements leave it no instance type, or fewer than their minimums ask for; empty if it can buy.
func withoutTypes(s *snapshot.Snapshot, pool *snapshot.Pool) string {
	const none = "NodePool requirements filtered out all compatible available instance types"
	offers := &s.Catalogs[pool.Catalog]
	if len(offers.Types) == 0 {
		return ""
	}
	text, variety := none, requirement.NewVariety(pool.Requirements)
	for kind := range ingest.Buyable(offers, pool.Requirements, s.Settings.WellKnown) {
		if variety.Add(kind.Requirements); variety.Met() || s.Settings.BestEffortMinimum {
			return ""
		}
		text = none + " due to minValues incompatibility"
	}
	return text
}

// count sets the gauges, and records the progress of each pod: how long it waited for its first
// decision, and when it got a place.
func (l *loop) count(s *snapshot.Snapshot, p *plan.Plan) {
	m, now := l.kit.Metrics, l.kit.Clock.Now()
	ignored := 0
	for i := range s.Pods {
		pod := &s.Pods[i]
		if !pod.Pending || pod.UID == "" {
			continue
		}
		if len(pod.Refused) > 0 {
			ignored++
		}
		if since, waits := l.o.World.WaitingSince(pod.Namespace, pod.Name); waits {
			m.PodProgress.See(types.UID(pod.UID), since)
		}
		if after, first := m.PodProgress.Decide(types.UID(pod.UID), now); first {
			m.PodsSchedulingDecisionDurationSeconds.WithLabelValues().Observe(after.Seconds())
		}
	}
	m.SchedulerIgnoredPodsCount.WithLabelValues().Set(float64(ignored))
	m.SchedulerUnschedulablePodsCount.WithLabelValues(name).Set(float64(len(p.Unplaced) - ignored))
	if slices.ContainsFunc(s.Pools, func(p snapshot.Pool) bool { return p.Rules() != nil }) {
		m.ClusterAutoscalerUnschedulablePodsCount.WithLabelValues("unschedulable").Set(float64(len(p.Unplaced) - ignored))
		m.ClusterAutoscalerFunctionDurationSeconds.WithLabelValues("scaleUp").Observe(l.took.Seconds())
		m.ClusterAutoscalerLastActivity.WithLabelValues("scaleUp").Set(float64(now.Unix()))
	}
}

func podNames(s *snapshot.Snapshot) string {
	var names []string
	n := 0
	for i := range s.Pods {
		if pod := &s.Pods[i]; pod.Pending || pod.Movable {
			if n++; n <= few {
				names = append(names, pod.Key())
			}
		}
	}
	text := strings.Join(names, ", ")
	if n > few {
		text += fmt.Sprintf(" and %d other(s)", n-few)
	}
	return text
}

// podsOf counts the pods for which claims are made now.
func podsOf(claims []plan.Claim) int {
	n := 0
	for i := range claims {
		if claims[i].Now() {
			n += len(claims[i].Pods)
		}
	}
	return n
}

func podsOn(s *snapshot.Snapshot, existing []plan.Placement) int {
	n := 0
	for _, e := range existing {
		n += len(pendingRefs(s, e.Pods))
	}
	return n
}

func (l *loop) tellClaims(ctx context.Context, s *snapshot.Snapshot, outcomes []execute.Outcome) {
	log := reconcile.Log(ctx)
	for _, o := range outcomes {
		switch {
		case o.Dropped.Code != reason.None:
			log.Info("left out a nodeclaim that is not to be made any more", "NodePool", o.Order.Pool.Name, "reason", o.Dropped.Text())
		case o.Claim != nil:
			log.Info("created nodeclaim", "NodePool", o.Order.Pool.Name, "NodeClaim", o.Claim.Name,
				"requests", o.Claim.Spec.Resources.Requests, "instance-types", instanceTypes(o))
			for _, pod := range o.Order.Pods {
				l.nominate(pod, "nodeclaim/"+o.Claim.Name)
			}
		}
	}
}

// instanceTypes names the first instance types that a claim allows.
func instanceTypes(o execute.Outcome) string {
	for _, r := range o.Claim.Spec.Requirements {
		if r.Key != corev1.LabelInstanceTypeStable {
			continue
		}
		if len(r.Values) <= few {
			return strings.Join(r.Values, ", ")
		}
		return fmt.Sprintf("%s and %d other(s)", strings.Join(r.Values[:few], ", "), len(r.Values)-few)
	}
	return ""
}

func (l *loop) tellExisting(s *snapshot.Snapshot, existing []plan.Placement) {
	claims, groups := map[string]string{}, map[string]string{} // groups of instances that have no node yet
	for i := range s.Nodes {
		n := &s.Nodes[i]
		claims[n.Name] = n.Claim
		if group, grouped := snapshot.NodeGroup(n.Pool); grouped && n.Life.Unborn {
			groups[n.Name] = group
		}
	}
	for _, e := range existing {
		target := "node/" + e.Node
		switch claim := claims[e.Node]; {
		case groups[e.Node] != "":
			target = "nodegroup/" + groups[e.Node]
		case claim == e.Node:
			target = "nodeclaim/" + claim
		case claim != "":
			target = "nodeclaim/" + claim + ", " + target
		}
		for _, pod := range pendingRefs(s, e.Pods) {
			l.nominate(pod, target)
		}
	}
}

// nominations limits the rate of these events, because a burst has many and people do not read all of them.
var nominations = telemetry.Rate{PerSecond: 5, Burst: 10}

// nominate publishes on a pod where it will go. A pod that no scheduler has looked at yet gets no
// event: mostly it is bound in a moment.
func (l *loop) nominate(ref world.PodRef, target string) {
	l.kit.Metrics.PodProgress.Place(ref.UID, l.kit.Clock.Now())
	pod, found := l.o.World.Pod(ref.Namespace, ref.Name)
	if !found || pod.UID != ref.UID {
		return
	}
	e := telemetry.Normal(pod, "Nominated", "Pod should schedule on: "+target, string(pod.UID))
	e.Rate = nominations
	l.kit.Events.Publish(e)
}

// unwanted begins the message about a pod that excludes the nodes of pools: it is logged, and gets no event.
const unwanted = "configured to not run on"

func (l *loop) tellUnplaced(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) {
	log := reconcile.Log(ctx)
	told := map[*reason.Verdict]int{}
	for _, u := range p.Unplaced {
		pod, found := l.o.World.Pod(s.Pods[u.Pod].Namespace, s.Pods[u.Pod].Name)
		if !found || !ingest.IsJudged(pod) && s.Pods[u.Pod].Pending {
			continue // the scheduler has not looked at the pod yet
		}
		text := reason.InCurrency(u.Verdict.Text(), l.currency)
		if strings.HasPrefix(text, unwanted) {
			log.V(1).Info("ignoring pod", "Pod", s.Pods[u.Pod].Key(), "reason", text)
			continue
		}
		about := summary(u.Verdict)
		if told[u.Verdict]++; told[u.Verdict] == 1 && l.said.isNew(s.Pods[u.Pod].Key()+" "+about, s.Now) {
			log.Error(nil, "could not schedule pod", "Pod", s.Pods[u.Pod].Key(), "err", text)
		}
		if text, any := notTriggered(s, u.Verdict); any && len(p.Increases(s)) == 0 {
			l.kit.Events.Publish(telemetry.Normal(pod, "NotTriggerScaleUp", text, string(pod.UID)).Within(5 * time.Minute))
		}
		l.kit.Events.Publish(telemetry.Warning(pod, "FailedScheduling", "Failed to schedule pod, "+text, string(pod.UID), about).Within(5 * time.Minute).Each())
	}
}

// priced returns texts in which prices have their currency.
func (l *loop) priced(texts map[string]string) map[string]string {
	out := make(map[string]string, len(texts))
	for pool, text := range texts {
		out[pool] = reason.InCurrency(text, l.currency)
	}
	return out
}

// limited finds the pools whose limits keep pods waiting, and says what would help.
func limited(p *plan.Plan) map[string]string {
	out := map[string]string{}
	for _, u := range p.Unplaced {
		for i := range u.Verdict.Pools {
			v := &u.Verdict.Pools[i]
			if _, known := out[v.Pool]; known || v.Reason.Code != reason.LimitReached || v.Missing > 0 {
				continue
			}
			out[v.Pool] = "pods wait for nodes that the limits forbid: " + v.Text()
			if r := u.Verdict.Remedy; r != nil && r.Pool == v.Pool {
				out[v.Pool] = "pods wait for nodes that the limits forbid; " + u.Verdict.RemedyText()
			}
		}
	}
	return out
}

// short finds the pools that would take pods if their offerings were in stock.
func short(p *plan.Plan) map[string]string {
	out := map[string]string{}
	for _, u := range p.Unplaced {
		for i := range u.Verdict.Pools {
			v := &u.Verdict.Pools[i]
			if _, known := out[v.Pool]; !known && v.Missing > 0 {
				out[v.Pool] = "pods wait for nodes that the cloud cannot give now; " + v.OutOfStock()
			}
		}
	}
	return out
}

// tellObstacles writes into the conditions of pools why pods wait.
func (l *loop) tellObstacles(ctx context.Context, o execute.Obstacles) {
	l.warn(karpenterv1.ConditionLimitReached, o.Limits)
	l.warn(karpenterv1.ConditionOutOfStock, o.Stock)
	if err := l.o.Executor.MarkPools(ctx, o); err != nil {
		reconcile.Log(ctx).Error(err, "could not write on nodepools what pods wait for")
	}
}

// warn publishes an event on each pool.
func (l *loop) warn(reason string, texts map[string]string) {
	for _, pool := range order.Keys(texts) {
		if object, found := l.o.World.Pool(pool); found {
			l.kit.Events.Publish(telemetry.Warning(object, reason, sentence(texts[pool]), string(object.UID)).Within(5 * time.Minute))
		}
	}
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
