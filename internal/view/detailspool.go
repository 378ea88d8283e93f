package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/order"
)

func detailsOfPool(o *karpenterv1.NodePool) *Details {
	t := &o.Spec.Template
	asks := Section{Title: "Nodes may have"}
	for _, r := range t.Spec.Requirements {
		value := strings.TrimSpace(string(r.Operator) + " " + strings.Join(r.Values, ", "))
		if r.MinValues != nil {
			value += fmt.Sprintf(" (at least %d of them)", *r.MinValues)
		}
		asks.Facts = append(asks.Facts, Fact{r.Key, value})
	}
	pairs := []string{"consolidates", string(o.Spec.Disruption.ConsolidationPolicy), "after", duration(o.Spec.Disruption.ConsolidateAfter), "nodes expire after", duration(t.Spec.ExpireAfter)}
	if t.Spec.TerminationGracePeriod != nil {
		pairs = append(pairs, "nodes drain at most", plain(t.Spec.TerminationGracePeriod.Duration))
	}
	if o.Spec.Weight != nil {
		pairs = append(pairs, "weight", decimal(int64(*o.Spec.Weight)))
	}
	if o.Spec.Replicas != nil {
		pairs = append(pairs, "replicas", decimal(*o.Spec.Replicas))
	}
	return describe("NodePool", o, o.Status.Conditions, section("Pool", pairs...), asks, sectionOf("Nodes get labels", t.Labels), taintsSection("Nodes get taints", t.Spec.Taints),
		taintsSection("Nodes get startup taints", t.Spec.StartupTaints), annotationsOf(o))
}

func detailsOfGroup(o *tenonv1alpha1.NodeGroup) *Details {
	s := &o.Status
	pairs := []string{"mode", cmp.Or(string(o.Spec.Mode), string(tenonv1alpha1.ModeObserve)), "group in the cloud", o.Spec.GroupName}
	if s.Size != nil {
		pairs = append(pairs, "size", fmt.Sprintf("%d wanted, %d to %d", s.Size.Desired, s.Size.Min, s.Size.Max))
		pairs = append(pairs, "wanted since", moment(s.Size.Since.Time))
	}
	if i := s.Instances; i != nil {
		pairs = append(pairs, "instances", fmt.Sprintf("%d: %d ready, %d not ready, %d without a node, %d leaving", i.Total, i.Ready, i.Unready, i.Unregistered, i.Leaving))
	}
	if s.Priority != nil {
		pairs = append(pairs, "priority", decimal(*s.Priority))
	}
	if b := s.Backoff; b != nil {
		pairs = append(pairs, "instances did not come", fmt.Sprintf("%d times in a row, last at %s; asked for again at %s", b.Failures, moment(b.Since.Time), moment(b.Until.Time)))
	}
	if c := s.Scaled; c != nil {
		pairs = append(pairs, "last grew", moment(c.Up.Time), "last shrank", moment(c.Down.Time), "last refused to shrink", moment(c.Failed.Time))
	}
	sections := []Section{section("Group", pairs...), section("The cloud launches", "types", strings.Join(s.InstanceTypes, ", "), "zones", strings.Join(s.Zones, ", "), "capacity types", strings.Join(s.CapacityTypes, ", "))}
	if t := s.Template; t != nil {
		sections = append(sections, section("A further node", "known from", t.Source, "allocatable", list(t.Allocatable)), sectionOf("A further node's labels", t.Labels), taintsSection("A further node's taints", t.Taints))
	}
	without := Section{Title: "Instances without a node"}
	for _, u := range s.Unregistered {
		without.Facts = append(without.Facts, Fact{instanceOf(u.ProviderID), "since " + moment(u.Since.Time)})
	}
	return describe("NodeGroup", o, s.Conditions, append(sections, without, sectionOf("Options of the group", s.Options), annotationsOf(o))...)
}

func detailsOfClass(o *awsv1.EC2NodeClass) *Details {
	s := &o.Status
	images := Section{Title: "Images"}
	for _, a := range s.AMIs {
		var fits []string
		for _, r := range a.Requirements {
			fits = append(fits, r.Key+" "+string(r.Operator)+" "+strings.Join(r.Values, ", "))
		}
		value := a.Name
		if a.Deprecated {
			value += " (deprecated)"
		}
		images.Facts = append(images.Facts, Fact{a.ID, strings.TrimSpace(value + "\n" + strings.Join(fits, "; "))})
	}
	subnets, groups, reservations := Section{Title: "Subnets"}, Section{Title: "Security groups"}, Section{Title: "Capacity reservations"}
	for _, n := range s.Subnets {
		subnets.Facts = append(subnets.Facts, Fact{n.ID, strings.TrimSpace(n.Zone + " " + n.ZoneID)})
	}
	for _, g := range s.SecurityGroups {
		groups.Facts = append(groups.Facts, Fact{g.ID, cmp.Or(g.Name, "–")})
	}
	for _, r := range s.CapacityReservations {
		value := fmt.Sprintf("%s in %s, %s, %s", r.InstanceType, r.AvailabilityZone, r.InstanceMatchCriteria, r.State)
		if r.EndTime != nil {
			value += ", ends at " + moment(r.EndTime.Time)
		}
		reservations.Facts = append(reservations.Facts, Fact{r.ID, value})
	}
	pairs := []string{"role", o.Spec.Role, "instance profile", s.InstanceProfile}
	if o.Spec.AMIFamily != nil {
		pairs = append(pairs, "family", *o.Spec.AMIFamily)
	}
	if k := o.Spec.Kubelet; k != nil && k.MaxPods != nil {
		pairs = append(pairs, "most pods on a node", decimal(int64(*k.MaxPods)))
	}
	if o.Spec.UserData != nil {
		pairs = append(pairs, "user data", "set; it is not shown, for it may have secrets")
	}
	return describe("EC2NodeClass", o, s.Conditions, section("Class", pairs...), images, subnets, groups, reservations, sectionOf("Tags", o.Spec.Tags), annotationsOf(o))
}

// list formats amounts of resources, by name.
func list(amounts corev1.ResourceList) string {
	var out []string
	for _, name := range order.Keys(amounts) {
		amount := amounts[name]
		out = append(out, string(name)+" "+amount.String())
	}
	return strings.Join(out, ", ")
}

// moment formats a time; empty if it is unknown.
func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}
