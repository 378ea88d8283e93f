package ingest

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/catalog"
	"tenon/core/expand"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// cloudsChoice are labels that every node has and of which the cloud may choose the value for a node of a group.
var cloudsChoice = []string{corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelArchStable, corev1.LabelOSStable}

// Group translates a node group into a pool with a catalogue of one type and one offering: what the next node has at least.
// The caller sets Catalog.
func (t *Translator) Group(g *tenonv1alpha1.NodeGroup) (snapshot.Pool, *catalog.Catalog) {
	pool := snapshot.Pool{
		Name:    snapshot.GroupPool(g.Name),
		Group:   &snapshot.Group{Name: g.Spec.GroupName, Chosen: map[string][]string{}},
		Unready: t.groupUnready(g),
	}
	if pool.Unready.Code == reason.None {
		pool.Group.Freed = freed(g)
	}
	pool.Group.ScaleDown = t.ScaleDown(g)
	if g.Status.Priority != nil && g.Spec.Mode == tenonv1alpha1.ModeCAS {
		pool.Group.Priority, pool.Weight = g.Status.Priority, t.weightOf(*g.Status.Priority)
	}
	pool.Consolidation = consolidationOf(g.Disrupts())
	if pool.Rules() != nil && pool.Consolidation.After != nil {
		pool.Consolidation.After = new(time.Duration) // ScaleDown has the group's own times
	}
	if !t.mayShrink(g) {
		pool.Consolidation.After = nil
	}
	size, template := g.Status.Size, g.Status.Template
	if size == nil || template == nil {
		return pool, &noCatalog
	}
	pool.Group.Desired, pool.Group.Floor = size.Desired, size.Min
	pool.Limits = []model.Amount{{Name: model.Nodes, Value: size.Max}}
	pool.Taints = taints(template.Taints)
	pool.Labels = t.groupLabels(g)
	pool.Requirements = t.options.Vocabulary.FromLabels(pool.Labels)
	known := map[string][]string{corev1.LabelInstanceTypeStable: g.Status.InstanceTypes, corev1.LabelTopologyZone: g.Status.Zones}
	for _, key := range cloudsChoice {
		if _, settled := pool.Labels[key]; !settled {
			pool.Group.Chosen[key] = slices.Sorted(slices.Values(known[key]))
		}
	}
	return pool, &catalog.Catalog{Types: []catalog.Type{t.groupType(g, &pool)}}
}

// weightOf is the weight of a group's pool: positive for every priority, because groups without one
// come later. It is zero if another expander precedes the priority.
func (t *Translator) weightOf(priority int64) int32 {
	if chain := t.options.Settings.Expanders; len(chain) > 0 && !expand.ByPriority(chain) {
		return 0
	}
	return int32(min(max(priority, 0), math.MaxInt32-1)) + 1
}

// ScaleDown returns the rules by which nodes of a group in mode cas are removed; nil in other modes.
func (t *Translator) ScaleDown(g *tenonv1alpha1.NodeGroup) *snapshot.ScaleDown {
	if g.Spec.Mode != tenonv1alpha1.ModeCAS || t.options.ScaleDown == nil {
		return nil
	}
	out := *t.options.ScaleDown
	said := g.Status.Options
	share(&out.UtilizationThreshold, said["scaledownutilizationthreshold"])
	share(&out.GPUUtilizationThreshold, said["scaledowngpuutilizationthreshold"])
	period(&out.UnneededTime, said[tenonv1alpha1.UnneededTime])
	period(&out.UnreadyTime, said["scaledownunreadytime"])
	if ignored, err := strconv.ParseBool(said["ignoredaemonsetsutilization"]); err == nil {
		out.IgnoreDaemonSetsUtilization = ignored
	}
	return &out
}

// share sets a number of thousandths to an option, if the option can be read.
func share(field *int, said string) {
	if part, err := strconv.ParseFloat(said, 64); err == nil && part >= 0 && part <= 1 {
		*field = int(math.Round(part * 1000))
	}
}

// period sets a duration to an option, if the option can be read.
func period(field *time.Duration, said string) {
	if d, err := time.ParseDuration(said); err == nil && d >= 0 {
		*field = d
	}
}

// Rests is the time until which delays keep the nodes of a group in mode cas, given all existing groups: Cluster Autoscaler's
// delays after a group has grown, a node was removed, or a removal has failed. It is zero for groups in other modes.
func (t *Translator) Rests(g *tenonv1alpha1.NodeGroup, all []*tenonv1alpha1.NodeGroup) time.Time {
	rules := t.ScaleDown(g)
	if rules == nil {
		return time.Time{}
	}
	if rules.DelayTypeLocal {
		all = []*tenonv1alpha1.NodeGroup{g}
	}
	var out time.Time
	for _, other := range all {
		scaled := other.Status.Scaled
		if scaled == nil || other.Spec.Mode != tenonv1alpha1.ModeCAS {
			continue
		}
		for _, each := range []struct {
			at    metav1.Time
			delay time.Duration
		}{{scaled.Up, rules.DelayAfterAdd}, {scaled.Down, rules.DelayAfterDelete}, {scaled.Failed, rules.DelayAfterFailure}} {
			if until := each.at.Add(each.delay); !each.at.IsZero() && until.After(out) {
				out = until
			}
		}
	}
	return out
}

// groupLabels are the labels of the template, and those of which the cloud has a single value to choose from.
func (t *Translator) groupLabels(g *tenonv1alpha1.NodeGroup) map[string]string {
	out := map[string]string{}
	for key, value := range map[string][]string{corev1.LabelInstanceTypeStable: g.Status.InstanceTypes, corev1.LabelTopologyZone: g.Status.Zones} {
		if len(value) == 1 {
			out[key] = value[0]
		}
	}
	for key, value := range g.Status.Template.Labels {
		out[t.options.Vocabulary.Key(key)] = t.options.Vocabulary.Value(t.options.Vocabulary.Key(key), value)
	}
	return out
}

// groupType is the only type of a group's catalogue. Its name lists all types that the cloud chooses from.
func (t *Translator) groupType(g *tenonv1alpha1.NodeGroup, pool *snapshot.Pool) catalog.Type {
	values, extra := map[string][]string{}, requirement.Set{}
	for key, value := range pool.Labels {
		values[key] = []string{value}
	}
	for key, chosen := range pool.Group.Chosen {
		values[key] = chosen
	}
	for _, key := range []string{requirement.KeyZone, requirement.KeyCapacityType} { // labels that offerings decide
		if len(values[key]) == 0 {
			extra = extra.With(requirement.New(key, requirement.DoesNotExist))
			continue
		}
		extra = extra.With(requirement.New(key, requirement.In, values[key]...))
	}
	capacity, allocatable := resources(g.Status.Template.Capacity), resources(g.Status.Template.Allocatable)
	price, _ := groupPrice(g) // without one the group does not grow
	return catalog.Type{
		Name:         cmp.Or(strings.Join(g.Status.InstanceTypes, ", "), "?"),
		Requirements: typeRequirements(values, t.options.Vocabulary.WellKnown().Sorted()),
		Capacity:     capacity,
		Overhead:     capacity.Sub(allocatable).Floor(),
		Offerings: []catalog.Offering{{
			Zone: cmp.Or(strings.Join(g.Status.Zones, ", "), "?"), CapacityType: cmp.Or(strings.Join(g.Status.CapacityTypes, ", "), "?"),
			Extra: extra, Price: price, Available: true,
		}},
	}
}

// InBackoff begins the message of a group that does not grow because instances did not come. (The words are those of Cluster
// Autoscaler.)
const InBackoff = "in backoff after failed scale-up"

// groupUnready says why the group does not grow. A plan for files also grows groups in mode observe, to show what they would do.
func (t *Translator) groupUnready(g *tenonv1alpha1.NodeGroup) reason.Unready {
	switch {
	case g.DeletionTimestamp != nil:
		return reason.Unready{Code: reason.PoolDeleted}
	case g.Observed() && !t.options.Files:
		return reason.Unready{Code: reason.GroupObserved}
	case handsOver(g):
		return reason.Unready{Code: reason.GroupHandedOver}
	}
	for _, c := range g.Status.Conditions {
		needed := c.Type == tenonv1alpha1.ConditionGroupFound || c.Type == tenonv1alpha1.ConditionSupported || c.Type == tenonv1alpha1.ConditionTemplateKnown || c.Type == tenonv1alpha1.ConditionHealthy
		if needed && c.Status != metav1.ConditionTrue {
			return reason.Unready{Code: reason.NotReady, Message: cmp.Or(c.Message, c.Reason)}
		}
	}
	if c := meta.FindStatusCondition(g.Status.Conditions, tenonv1alpha1.ConditionBackedOff); g.BackedOff() {
		return reason.Unready{Code: reason.NotReady, Message: InBackoff + ": " + cmp.Or(c.Message, c.Reason)}
	}
	if !g.Free() && !t.options.Files {
		return reason.Unready{Code: reason.NotReady, Message: foreign(g)}
	}
	if g.Status.Size == nil || g.Status.Template == nil {
		return reason.Unready{Code: reason.NotReady, Message: "its size, or what its next node has, is not known yet"}
	}
	if _, priced := groupPrice(g); !priced {
		return reason.Unready{Code: reason.NotReady, Message: "what its next node costs is not known"}
	}
	return reason.Unready{}
}

// mayShrink reports whether nodes of the group may be disrupted. An unhealthy group may shrink too: its unneeded nodes can be removed.
func (t *Translator) mayShrink(g *tenonv1alpha1.NodeGroup) bool {
	managed := meta.IsStatusConditionTrue(g.Status.Conditions, tenonv1alpha1.ConditionGroupFound) && meta.IsStatusConditionTrue(g.Status.Conditions, tenonv1alpha1.ConditionSupported)
	return g.DeletionTimestamp == nil && managed && (t.options.Files || !g.Observed() && g.Free())
}

// AllowGroup evaluates the budgets of a group for so many nodes in service.
func (t *Translator) AllowGroup(g *tenonv1alpha1.NodeGroup, total int, out *snapshot.Consolidation) {
	if t.ScaleDown(g) != nil && g.Spec.Disruption == nil {
		out.Allowed = snapshot.Allowance{Empty: snapshot.Unlimited, Drifted: snapshot.Unlimited, Underutilized: snapshot.Unlimited}
		return
	}
	if handsOver(g) && g.HandoverPaused() {
		out.Pace = &snapshot.Pace{Rollout: reason.Rollout{Pool: g.Name, Phase: reason.RolloutHeld}}
	}
	t.Allow(&karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: snapshot.GroupPool(g.Name)}, Spec: karpenterv1.NodePoolSpec{Disruption: g.Disrupts()}}, total, out)
}

// HandedOver is why the nodes of a group in mode handover are replaced: they count as drifted.
const HandedOver = "HandedOver"

func handsOver(g *tenonv1alpha1.NodeGroup) bool { return g.Spec.Mode == tenonv1alpha1.ModeHandover }

// HandingOver are the names of the pools of groups whose nodes pools replace.
func HandingOver(groups []*tenonv1alpha1.NodeGroup) []string {
	var out []string
	for _, g := range groups {
		if handsOver(g) {
			out = append(out, snapshot.GroupPool(g.Name))
		}
	}
	slices.Sort(out)
	return out
}

// HandOver marks the nodes of some groups as drifted, so that pools replace them and no pods move to them.
func HandOver(nodes []snapshot.Node, pools []string) {
	for i := range nodes {
		if n := &nodes[i]; !n.Life.Unborn && slices.Contains(pools, n.Pool) {
			n.Life.Drifted = HandedOver
		}
	}
}

// foreign says why it is not certain that no other autoscaler changes the group.
func foreign(g *tenonv1alpha1.NodeGroup) string {
	if c := meta.FindStatusCondition(g.Status.Conditions, tenonv1alpha1.ConditionForeignAutoscaler); c != nil {
		return cmp.Or(c.Message, c.Reason)
	}
	return "it is not known yet whether a Cluster Autoscaler changes the group"
}

// freed is since when it is known that no other autoscaler changes the group; zero if that is not known.
func freed(g *tenonv1alpha1.NodeGroup) time.Time {
	if !g.Free() {
		return time.Time{}
	}
	return meta.FindStatusCondition(g.Status.Conditions, tenonv1alpha1.ConditionForeignAutoscaler).LastTransitionTime.UTC()
}

// groupPrice is what the next node of a group costs an hour at most, if that is known.
func groupPrice(g *tenonv1alpha1.NodeGroup) (model.Money, bool) {
	if g.Status.Price == nil || g.Status.Price.PerNode == "" {
		return 0, false
	}
	price, err := model.ParsePrice(g.Status.Price.PerNode)
	return price, err == nil
}

// maxMissing limits the instances of one group that have no node yet, so that a typing error in a manifest does not
// exhaust the memory. No cluster can have as many nodes.
const maxMissing = 100_000

// Missing is how many instances of a group have no node yet, including those that the cloud has not launched yet. Members are
// the nodes with the group's annotation. A group that may not be changed, or may only be from now on, has no such
// nodes, and a file may lack them. A node that has joined is annotated a moment later: until then it counts by its provider ID,
// which the group's status lists as that of an instance without a node.
func (t *Translator) Missing(g *tenonv1alpha1.NodeGroup, members int, unmarked map[string]bool) int64 {
	if g.Status.Size == nil || g.Status.Instances == nil {
		return 0
	}
	have := int64(members)
	if i := g.Status.Instances; g.Observed() || t.options.Files || isUnread(g) {
		have = max(have, i.Ready+i.Unready)
	}
	for i := range g.Status.Unregistered {
		if unmarked[g.Status.Unregistered[i].ProviderID] {
			have++
		}
	}
	asked := g.Status.Size.Desired
	if i := g.Status.Instances; g.BackedOff() { // no further instances will come
		asked = min(asked, i.Total-i.Leaving)
	}
	return min(max(asked-have, 0), maxMissing)
}

// isUnread reports whether the group's spec has changed since its status was written. If the mode was observe until now, the nodes
// of the group have no annotation yet.
func isUnread(g *tenonv1alpha1.NodeGroup) bool {
	c := meta.FindStatusCondition(g.Status.Conditions, tenonv1alpha1.ConditionGroupFound)
	return c != nil && c.ObservedGeneration < g.Generation
}

// Members counts the nodes with the annotation of a group, by the group's pool. Instances that are ending do not count, because the
// cloud replaces them or the desired size no longer includes them; nodes that are only about to leave still count.
func Members(nodes []snapshot.Node) map[string]int {
	out := map[string]int{}
	for i := range nodes {
		if n := &nodes[i]; !n.Life.Unborn && !n.Life.Terminating {
			if _, grouped := snapshot.NodeGroup(n.Pool); grouped {
				out[n.Pool]++
			}
		}
	}
	return out
}

// Unmarked returns the provider IDs of the nodes that have no annotation of a group and take pods. A node with a taint of its start is left
// out: only its annotation will say that the taint goes by itself, and until then pods are planned onto the instance to come.
func (t *Translator) Unmarked(nodes iter.Seq[*corev1.Node]) map[string]bool {
	out := map[string]bool{}
	for node := range nodes {
		starts := slices.ContainsFunc(node.Spec.Taints, karpenterv1.IsEphemeral) || Starts(node, &t.options.GroupTaints)
		if node.Spec.ProviderID != "" && node.DeletionTimestamp == nil && node.Annotations[tenonv1alpha1.AnnotationGroup] == "" && !starts {
			out[node.Spec.ProviderID] = true
		}
	}
	return out
}

// Underway returns nodes that stand for a number of instances of a group without a node. They have what the group's next
// node has.
func (t *Translator) Underway(pool *snapshot.Pool, offers *catalog.Catalog, missing int64) []snapshot.Node {
	if len(offers.Types) == 0 {
		return nil
	}
	kind := &offers.Types[0]
	offering := &kind.Offerings[0]
	out := make([]snapshot.Node, 0, missing)
	for n := range missing {
		labels := maps.Clone(pool.Labels)
		name := pool.Name + "/" + strconv.FormatInt(n+1, 10)
		labels[corev1.LabelHostname] = name
		out = append(out, snapshot.Node{
			Name: name, Pool: pool.Name, Labels: labels, Taints: pool.Taints,
			Capacity: kind.Capacity, Allocatable: kind.Allocatable(offering),
			InstanceType: labels[corev1.LabelInstanceTypeStable], Zone: labels[corev1.LabelTopologyZone],
			CapacityType: labels[karpenterv1.LabelCapacityType], Price: offering.Price,
			Life: snapshot.Life{Unborn: true},
		})
	}
	return out
}

// memberOf is the pool of the group that a node belongs to; empty for one of a claim, of a pool or of no group.
func memberOf(node *corev1.Node, claim *karpenterv1.NodeClaim) string {
	if claim != nil || node == nil || node.Labels[karpenterv1.LabelNodePool] != "" || node.Annotations[tenonv1alpha1.AnnotationGroup] == "" {
		return ""
	}
	return snapshot.GroupPool(node.Annotations[tenonv1alpha1.AnnotationGroup])
}

// groupNodePrice is what a node of a group costs an hour at most, zero if that is not known: its next node costs no less.
func groupNodePrice(offers *catalog.Catalog) model.Money {
	if offers == nil || len(offers.Types) == 0 {
		return 0
	}
	return offers.Types[0].Offerings[0].Price
}
