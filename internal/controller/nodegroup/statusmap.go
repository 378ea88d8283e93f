package nodegroup

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/ingest"
	"tenon/internal/nodegroup"
	"tenon/internal/patch"
	"tenon/internal/telemetry"
)

// publish writes Cluster Autoscaler's status ConfigMap and metrics about the groups in mode cas that Tenon may change. It writes
// nothing if there are no such groups, or if another autoscaler may write the ConfigMap.
func (w watcher) publish(ctx context.Context, s *seen, told []*tenonv1alpha1.NodeGroup) error {
	var groups []clusterautoscaler.Facts
	for _, o := range told {
		if o != nil && o.Spec.Mode == tenonv1alpha1.ModeCAS && o.Free() && o.Status.Size != nil && o.Status.Instances != nil {
			groups = append(groups, w.factsOf(o, s))
			w.tellUnhealthy(ctx, o)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	slices.SortFunc(groups, func(a, b clusterautoscaler.Facts) int { return strings.Compare(a.Name, b.Name) })
	w.measure(groups)
	w.measureCluster(s, told)
	if !w.kit.Settings.WriteStatusConfigMap {
		return nil
	}
	return w.writeStatus(ctx, groups)
}

// tellUnhealthy says on the status ConfigMap that a group does not grow, because too many of its nodes are not Ready.
func (w watcher) tellUnhealthy(ctx context.Context, o *tenonv1alpha1.NodeGroup) {
	if c := meta.FindStatusCondition(o.Status.Conditions, tenonv1alpha1.ConditionHealthy); c != nil && c.Status == metav1.ConditionFalse {
		nodegroup.TellStatus(ctx, w.kit, o, telemetry.Warning(nil, "ClusterUnhealthy", "The group does not grow: "+c.Message, string(o.UID)))
	}
}

func (w watcher) factsOf(o *tenonv1alpha1.NodeGroup, s *seen) clusterautoscaler.Facts {
	size, i := o.Status.Size, o.Status.Instances
	out := clusterautoscaler.Facts{
		Name: o.Spec.GroupName, Min: size.Min, Max: size.Max, Desired: size.Desired,
		Healthy: meta.IsStatusConditionTrue(o.Status.Conditions, tenonv1alpha1.ConditionHealthy), BackedOff: o.BackedOff(),
	}
	if c := meta.FindStatusCondition(o.Status.Conditions, tenonv1alpha1.ConditionBackedOff); c != nil && out.BackedOff {
		out.BackoffCode, out.BackedBy = c.Reason, c.Message
	}
	for _, u := range o.Status.Unregistered {
		if w.late(o, u, w.kit.Clock.Now()) {
			out.Counts.LongUnregistered++
		} else {
			out.Counts.Unregistered++
		}
	}
	r := &out.Counts.Registered
	r.Ready, r.Unready.Total = i.Ready, i.Unready
	for _, node := range s.nodes {
		if node.Annotations[tenonv1alpha1.AnnotationGroup] != o.Name {
			continue
		}
		r.Total++
		switch {
		case node.DeletionTimestamp != nil:
			r.BeingDeleted++
		case node.Annotations[tenonv1alpha1.AnnotationJoined] != "true":
			r.NotStarted++
		case slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == tenonv1alpha1.TaintCandidate }):
			out.Candidates++
		}
	}
	r.Unready.Total = max(r.Unready.Total-r.NotStarted, 0)
	return out
}

func (w watcher) writeStatus(ctx context.Context, groups []clusterautoscaler.Facts) error {
	key := client.ObjectKey{Namespace: clusterautoscaler.Namespace, Name: clusterautoscaler.StatusConfigMap}
	return patch.ConfigMap(ctx, w.kit, key, func(stored *corev1.ConfigMap) error {
		var before *clusterautoscaler.Status
		if text := stored.Data[clusterautoscaler.StatusKey]; text != "" {
			before, _ = clusterautoscaler.ReadStatus(text) // a text of another program is ignored
		}
		status := clusterautoscaler.NewStatus(groups, before, w.kit.Clock.Now())
		text, err := status.Text()
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&stored.ObjectMeta, clusterautoscaler.StatusUpdated, status.Time)
		stored.Data = map[string]string{clusterautoscaler.StatusKey: text}
		return nil
	})
}

// measure sets the metrics that have the names of Cluster Autoscaler.
func (w watcher) measure(groups []clusterautoscaler.Facts) {
	m := w.kit.Metrics
	counts, candidates, healthy := clusterautoscaler.NodeCounts{}, int64(0), true
	m.ClusterAutoscalerNodeGroupBackoffStatus.Reset()
	for _, g := range groups {
		counts.Add(g.Counts)
		candidates, healthy = candidates+g.Candidates, healthy && g.Healthy
		m.ClusterAutoscalerNodeGroupMinCount.WithLabelValues(g.Name).Set(float64(g.Min))
		m.ClusterAutoscalerNodeGroupMaxCount.WithLabelValues(g.Name).Set(float64(g.Max))
		m.ClusterAutoscalerNodeGroupTargetCount.WithLabelValues(g.Name).Set(float64(g.Desired))
		if g.BackedOff {
			m.ClusterAutoscalerNodeGroupBackoffStatus.WithLabelValues(g.Name, g.BackoffCode).Set(1)
		}
		m.ClusterAutoscalerNodeGroupHealthiness.WithLabelValues(g.Name).Set(oneIf(g.Healthy && !g.BackedOff))
	}
	m.ClusterAutoscalerPendingNodeDeletions.WithLabelValues().Set(float64(counts.Registered.BeingDeleted))
	m.ClusterAutoscalerClusterSafeToAutoscale.WithLabelValues().Set(oneIf(healthy))
	m.ClusterAutoscalerUnneededNodesCount.WithLabelValues().Set(float64(candidates))
	m.ClusterAutoscalerNodeGroupsCount.WithLabelValues("autoscaled").Set(float64(len(groups)))
	for _, activity := range []string{"main", "autoscaling"} {
		m.ClusterAutoscalerLastActivity.WithLabelValues(activity).Set(float64(w.kit.Clock.Now().Unix()))
	}
	for state, n := range map[string]int64{
		"ready": counts.Registered.Ready, "unready": counts.Registered.Unready.Total, "notStarted": counts.Registered.NotStarted,
		"unregistered": counts.Unregistered, "longUnregistered": counts.LongUnregistered,
	} {
		m.ClusterAutoscalerNodesCount.WithLabelValues(state).Set(float64(n))
	}
}

// measureCluster sets the metrics about all nodes, and about the delays of all groups.
func (w watcher) measureCluster(s *seen, told []*tenonv1alpha1.NodeGroup) {
	m, t := w.kit.Metrics, ingest.NewTranslator(ingest.NewIndex(), ingest.Options{ScaleDown: &w.kit.Settings.ScaleDown})
	cores, bytes, going, candidates := 0.0, 0.0, 0, 0
	for _, node := range s.nodes {
		cores += node.Status.Capacity.Cpu().AsApproximateFloat64()
		bytes += node.Status.Capacity.Memory().AsApproximateFloat64()
		for _, taint := range node.Spec.Taints {
			switch taint.Key {
			case tenonv1alpha1.TaintToBeDeleted:
				going++
			case tenonv1alpha1.TaintCandidate:
				candidates++
			}
		}
	}
	objects := slices.DeleteFunc(slices.Clone(told), func(o *tenonv1alpha1.NodeGroup) bool { return o == nil })
	rests := !slices.ContainsFunc(objects, func(o *tenonv1alpha1.NodeGroup) bool {
		return o.Spec.Mode == tenonv1alpha1.ModeCAS && !t.Rests(o, objects).After(w.kit.Clock.Now())
	})
	m.ClusterAutoscalerClusterCpuCurrentCores.WithLabelValues().Set(cores)
	m.ClusterAutoscalerClusterMemoryCurrentBytes.WithLabelValues().Set(bytes)
	m.ClusterAutoscalerNodeTaintsCount.WithLabelValues("to-be-deleted").Set(float64(going))
	m.ClusterAutoscalerNodeTaintsCount.WithLabelValues("deletion-candidate").Set(float64(candidates))
	m.ClusterAutoscalerScaleDownInCooldown.WithLabelValues().Set(oneIf(rests))
	w.measureTotals()
}

// measureTotals sets the metrics about limits on all nodes; without a limit there is none.
func (w watcher) measureTotals() {
	m, t := w.kit.Metrics, &w.kit.Settings.Totals
	if t.Nodes > 0 {
		m.ClusterAutoscalerMaxNodesCount.WithLabelValues().Set(float64(t.Nodes))
	}
	if r := t.Cores; r != nil {
		m.ClusterAutoscalerCpuLimitsCores.WithLabelValues("minimum").Set(float64(r.Min))
		m.ClusterAutoscalerCpuLimitsCores.WithLabelValues("maximum").Set(float64(r.Max))
	}
	if r := t.Memory; r != nil {
		m.ClusterAutoscalerMemoryLimitsBytes.WithLabelValues("minimum").Set(float64(r.Min << 30))
		m.ClusterAutoscalerMemoryLimitsBytes.WithLabelValues("maximum").Set(float64(r.Max << 30))
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
