package nodegroup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/internal/translate"
)

// conditions are the conditions of a NodeGroup. It is Ready if its group exists, can be managed, and its template is known.
var conditions = condition.Kind{
	Root:       condition.Ready,
	Dependents: []string{tenonv1alpha1.ConditionGroupFound, tenonv1alpha1.ConditionSupported, tenonv1alpha1.ConditionTemplateKnown},
}

// Reasons of conditions that hold.
const (
	reasonFound      = "GroupFound"
	reasonNotFound   = "GroupNotFound"
	reasonUnread     = "GroupsNotRead"
	reasonSupported  = "Supported"
	reasonCopied     = "CopiedFromNodes"
	reasonDescribed  = "DescribedByGroup"
	reasonUnhindered = "NothingKnown"
)

// tell writes into an object what is known about its group.
func tell(o *tenonv1alpha1.NodeGroup, g *cloud.Group, m members, ranks *priorities, now time.Time) {
	if g.Missing {
		o.Status.Instances, o.Status.Template, o.Status.Price = nil, nil, nil
		o.Status.Size = &tenonv1alpha1.NodeGroupSize{Min: g.Min, Max: g.Max}
		tellMissing(o, "the cloud has no group of this name in this account and region", "see the name in --nodes, and the region", now)
		return
	}
	s := &o.Status
	since := metav1.NewTime(now)
	if s.Size != nil && s.Size.Desired == g.Desired && !s.Size.Since.IsZero() {
		since = s.Size.Since
	}
	if s.Size != nil && s.Size.Desired < g.Desired && s.Backoff != nil && now.Before(s.Backoff.Until.Time) {
		s.Backoff.Until = since // another has asked for instances: it is not known yet whether they come
	}
	s.Size = &tenonv1alpha1.NodeGroupSize{Min: g.Min, Max: g.Max, Desired: g.Desired, Since: since}
	s.Zones, s.InstanceTypes, s.CapacityTypes, s.Options = g.Zones, g.Types, g.CapacityTypes, g.Options
	s.Instances = m.count(g)
	next, from := m.observed(g, now)
	s.Template, s.Price = templateOf(next, from), priceOf(g)

	set := conditions.Read(s.Conditions, condition.SubjectOf(o), now)
	set.SetTrueBecause(tenonv1alpha1.ConditionGroupFound, reasonFound, "")
	tellSupported(&set, g)
	tellTemplate(&set, g, next, from)
	tellHindrances(&set, g, len(from) > 0, ranks.hinders(o))
	s.Conditions = set.List()
}

// tellMissing sets the conditions of a group that does not exist.
func tellMissing(o *tenonv1alpha1.NodeGroup, message, remedy string, now time.Time) {
	set := conditions.Read(o.Status.Conditions, condition.SubjectOf(o), now)
	set.SetFalse(tenonv1alpha1.ConditionGroupFound, reasonNotFound, withRemedy(message, remedy))
	for _, name := range conditions.Dependents[1:] {
		set.SetUnknown(name, reasonNotFound, "")
	}
	o.Status.Conditions = set.List()
}

// tellUnread says that the cloud did not answer; what was known stays.
func tellUnread(o *tenonv1alpha1.NodeGroup, err error, now time.Time) {
	set := conditions.Read(o.Status.Conditions, condition.SubjectOf(o), now)
	remedy := "what is shown is what was seen last; it is asked again"
	set.SetUnknown(tenonv1alpha1.ConditionGroupFound, reasonUnread, withRemedy(err.Error(), remedy))
	o.Status.Conditions = set.List()
}

func withRemedy(message, remedy string) string { return message + "; " + remedy }

// of returns the problems with an effect: the reason of the first, and a text about all.
func of(g *cloud.Group, effects ...cloud.GroupEffect) (reason, text string) {
	var texts []string
	for _, p := range g.Problems {
		if slices.Contains(effects, p.Effect) {
			if reason == "" {
				reason = p.Reason
			}
			texts = append(texts, withRemedy(p.Message, p.Remedy))
		}
	}
	return reason, strings.Join(texts, ". ")
}

func tellSupported(set *condition.Set, g *cloud.Group) {
	if reason, text := of(g, cloud.Unsupported); reason != "" {
		set.SetFalse(tenonv1alpha1.ConditionSupported, reason, text)
		return
	}
	set.SetTrueBecause(tenonv1alpha1.ConditionSupported, reasonSupported, "")
}

// tellTemplate sets the condition TemplateKnown. Running nodes show the template, even if the group's settings do not define it.
func tellTemplate(set *condition.Set, g *cloud.Group, next *cloud.GroupTemplate, from []string) {
	reason, text := of(g, cloud.Unknown)
	switch {
	case len(from) > 0:
		set.SetTrueBecause(tenonv1alpha1.ConditionTemplateKnown, reasonCopied, "")
	case reason == "NotLookedUp":
		set.SetUnknown(tenonv1alpha1.ConditionTemplateKnown, reason, text)
	case reason != "":
		set.SetFalse(tenonv1alpha1.ConditionTemplateKnown, reason, text)
	case next == nil:
		set.SetFalse(tenonv1alpha1.ConditionTemplateKnown, "NothingSaid", "the provider says nothing of a further node, and why not")
	default:
		set.SetTrueBecause(tenonv1alpha1.ConditionTemplateKnown, reasonDescribed, "")
	}
}

// tellHindrances sets the condition Unhindered. If nodes show the template, unknown settings count as hindrances too, and so does a mistake in
// the priorities.
func tellHindrances(set *condition.Set, g *cloud.Group, copied bool, mistake string) {
	effects := []cloud.GroupEffect{cloud.Hindered}
	if copied {
		effects = append(effects, cloud.Unknown)
	}
	if reason, text := of(g, effects...); reason != "" {
		set.SetFalse(tenonv1alpha1.ConditionUnhindered, reason, text)
		return
	}
	if mistake != "" {
		set.SetFalse(tenonv1alpha1.ConditionUnhindered, eventPrioritiesInvalid, mistake)
		return
	}
	set.SetTrueBecause(tenonv1alpha1.ConditionUnhindered, reasonUnhindered, "")
}

func (m members) count(g *cloud.Group) *tenonv1alpha1.NodeGroupInstances {
	n := &tenonv1alpha1.NodeGroupInstances{Total: int64(len(g.Instances))}
	for i := range g.Instances {
		switch node := m.nodes[g.Instances[i].ProviderID]; {
		case g.Instances[i].State == cloud.Terminating || node != nil && node.DeletionTimestamp != nil:
			n.Leaving++
		case node == nil:
			n.Unregistered++
		case inService(node, m.passing):
			n.Ready++
		default:
			n.Unready++
		}
	}
	return n
}

func priceOf(g *cloud.Group) *tenonv1alpha1.NodeGroupPrice {
	p, sum := &tenonv1alpha1.NodeGroupPrice{}, model.Money(0)
	if g.Next != nil && g.Next.Price > 0 {
		p.PerNode = g.Next.Price.String()
	}
	for i := range g.Instances {
		if g.Instances[i].Price == 0 {
			return p // a sum without one of them would be taken for the whole
		}
		sum += g.Instances[i].Price
	}
	p.PerHour = sum.String()
	return p
}

func templateOf(next *cloud.GroupTemplate, from []string) *tenonv1alpha1.NodeGroupTemplate {
	if next == nil {
		return nil
	}
	t := &tenonv1alpha1.NodeGroupTemplate{
		Source: "the group's settings", Labels: next.Labels,
		Capacity: translate.Quantities(next.Capacity), Allocatable: translate.Quantities(next.Allocatable),
	}
	if len(from) > 0 {
		t.Source = fmt.Sprintf("%d nodes, such as %s", len(from), from[0])
	}
	for _, taint := range next.Taints {
		t.Taints = append(t.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	return t
}
