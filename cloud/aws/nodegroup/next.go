package nodegroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/requirement"
)

// Labels that depend on an instance's location.
const (
	labelRegion  = "topology.kubernetes.io/region"
	labelEBSZone = "topology.ebs.csi.aws.com/zone"
)

// former lists old names of labels that nodes have beside the present ones.
var former = map[string]string{
	requirement.KeyInstanceType: "beta.kubernetes.io/instance-type",
	requirement.KeyZone:         "failure-domain.beta.kubernetes.io/zone",
	labelRegion:                 "failure-domain.beta.kubernetes.io/region",
}

// describeNext describes a further instance of the group, and reports problems with the sources of that
// description.
func (r *Reader) describeNext(out *cloud.Group, g *types.AutoScalingGroup, t template) {
	own := tagsOf(g.Tags)
	out.Options, out.Types, out.CapacityTypes = own.options, t.types, capacityTypes(g, t)
	out.Problems = slices.Concat(out.Problems, t.problems, own.problems)
	if len(t.types) == 0 { // the present instances show the type of a group that has one type
		t.types = typesOfInstances(g)
		out.Types = t.types
	}
	if len(t.types) == 0 {
		return
	}
	machines, unknown := r.machines(t, own, out.Zones)
	if len(unknown) > 0 || len(machines) == 0 {
		out.Problems = append(out.Problems, cloud.GroupProblem{
			Effect: cloud.Unknown, Reason: "InstanceTypeUnknown", Message: "nothing is known of the instance types " + strings.Join(unknown, ", "),
			Remedy: "see that the types are offered in this region; a newer release may know them",
		})
		return
	}
	next := r.least(machines, out)
	r.chosen(next, machines, out)
	label(next, t, own)
	next.Taints = taints(t, own)
	declared := own.resources
	if t.managed != nil {
		declared = declared.Max(t.managed.tags.resources)
		out.Problems = append(out.Problems, t.managed.tags.problems...)
	}
	next.Declared = declared
	next.Capacity, next.Allocatable = replaced(next.Capacity, declared), replaced(next.Allocatable, declared)
	out.Problems = append(out.Problems, contradictions(next, own)...)
	out.Next = next
}

// typesOfInstances returns the type of all instances of a group that cannot choose types, if they have the
// same one.
func typesOfInstances(g *types.AutoScalingGroup) []string {
	var names []string
	for i := range g.Instances {
		names = append(names, aws.ToString(g.Instances[i].InstanceType))
	}
	slices.Sort(names)
	if names = slices.Compact(names); g.MixedInstancesPolicy != nil || len(names) != 1 {
		return nil
	}
	return names
}

// replaced returns r with the positive amounts of by in place of its own.
func replaced(r, by model.Resources) model.Resources {
	for _, a := range by.Amounts() {
		if a.Value > 0 {
			r = r.Add(model.NewResources(model.Amount{Name: a.Name, Value: a.Value - r.Get(a.Name)}))
		}
	}
	return r
}

// capacityTypes returns the capacity types that the group buys.
func capacityTypes(g *types.AutoScalingGroup, t template) []string {
	onDemand, spot := !t.spot, t.spot
	if p := g.MixedInstancesPolicy; p != nil && p.InstancesDistribution != nil {
		share := int32(100)
		if p.InstancesDistribution.OnDemandPercentageAboveBaseCapacity != nil {
			share = *p.InstancesDistribution.OnDemandPercentageAboveBaseCapacity
		}
		onDemand = share > 0 || aws.ToInt32(p.InstancesDistribution.OnDemandBaseCapacity) > 0
		spot = share < 100
	}
	var list []string
	if onDemand {
		list = append(list, catalog.OnDemand)
	}
	if spot {
		list = append(list, catalog.Spot)
	}
	return list
}

// machines returns the types of a group as its nodes have them, and the names of unknown types.
func (r *Reader) machines(t template, own tags, zones []string) (found []catalog.Type, unknown []string) {
	all := r.Types()
	var known []facts.Type
	for _, name := range t.types {
		at := slices.IndexFunc(all, func(f facts.Type) bool { return f.Name == name })
		if at < 0 {
			unknown = append(unknown, name)
			continue
		}
		known = append(known, all[at])
	}
	p := instancetype.Params{Region: r.Region, Types: known, Prices: r.Prices(), MemoryOverhead: r.MemoryOverhead, ReservedENIs: r.ReservedENIs}
	for _, z := range zones {
		p.Zones = append(p.Zones, facts.Zone{Name: z})
	}
	p.Class.Family = awsv1.FamilyAL2023
	if own.labels[requirement.KeyOS] == "windows" { // for groups that EKS does not manage, only the label shows it
		p.Class.Family = awsv1.FamilyWindows2022
	}
	if t.managed != nil {
		p.Class.Family = t.managed.family
	}
	if t.script.maxPods > 0 {
		p.Class.Kubelet.MaxPods = &t.script.maxPods
	}
	if len(known) == 0 {
		return nil, unknown
	}
	built := instancetype.Build(p)
	for _, remark := range built.Remarks {
		if remark.Why.Skips() {
			unknown = append(unknown, remark.Type)
		}
	}
	return built.Catalog.Types, unknown
}

// The limits of the network plug-in on the pods of a machine, by its processors.
const (
	smallMachine = 30_000 // milli-processors
	podsOnSmall  = 110
	podsOnLarge  = 250
)

// least returns the least of each resource over all types, and the highest price.
func (r *Reader) least(machines []catalog.Type, g *cloud.Group) *cloud.GroupTemplate {
	next := &cloud.GroupTemplate{Labels: map[string]string{}, Chosen: map[string][]string{}}
	for i := range machines {
		m := &machines[i]
		capacity, allocatable := m.Capacity, m.Allocatable(&catalog.Offering{})
		most := int64(podsOnLarge)
		if capacity.CPU < smallMachine {
			most = podsOnSmall
		}
		capacity.Pods, allocatable.Pods = min(capacity.Pods, most), min(allocatable.Pods, most)
		if i == 0 {
			next.Capacity, next.Allocatable = capacity, allocatable
		}
		next.Capacity, next.Allocatable = next.Capacity.Min(capacity), next.Allocatable.Min(allocatable)
		next.Price = max(next.Price, r.dearest(m.Name, g))
	}
	return next
}

// dearest is the highest hourly price of an instance of a type. Groups that may buy on demand count at that
// price.
func (r *Reader) dearest(instanceType string, g *cloud.Group) model.Money {
	prices, most := r.Prices(), model.Money(0)
	if slices.Contains(g.CapacityTypes, catalog.OnDemand) {
		most, _ = prices.OnDemand(instanceType)
		return most
	}
	for _, zone := range g.Zones {
		price, _ := prices.Spot(instanceType, zone)
		most = max(most, price)
	}
	return most
}

// chosen enters labels that depend on the machine: as a label if all instances have the same value, else as a
// choice.
func (r *Reader) chosen(next *cloud.GroupTemplate, machines []catalog.Type, g *cloud.Group) {
	values := map[string][]string{labelRegion: {r.Region}, requirement.KeyZone: g.Zones, labelEBSZone: g.Zones}
	for i := range machines {
		for _, key := range []string{requirement.KeyInstanceType, requirement.KeyArch, requirement.KeyOS} {
			if value, single := machines[i].Requirements.Get(key).Single(); single {
				values[key] = append(values[key], value)
			}
		}
	}
	for key, name := range former {
		values[name] = values[key]
	}
	for _, key := range order.Keys(values) {
		list := slices.Compact(slices.Sorted(slices.Values(values[key])))
		if len(list) == 1 {
			next.Labels[key] = list[0]
		} else if len(list) > 1 {
			next.Chosen[key] = list
		}
	}
}

// label enters the labels that the group gives its nodes: those of its script, then those of tags, then those
// of EKS, where later ones override earlier ones. (As in Cluster Autoscaler.)
func label(next *cloud.GroupTemplate, t template, own tags) {
	given := maps.Clone(t.script.labels)
	if given == nil {
		given = map[string]string{}
	}
	maps.Copy(given, own.labels)
	if t.managed != nil {
		maps.Copy(given, t.managed.tags.labels)
		maps.Copy(given, t.managed.labels)
	}
	for key, value := range given {
		if _, fixed := next.Labels[key]; !fixed && next.Chosen[key] == nil {
			next.Labels[key] = value
		}
	}
}

// taints returns the taints of the script, of tags and of EKS; for the same key and effect the last one
// counts.
func taints(t template, own tags) []model.Taint {
	all := slices.Concat(t.script.taints, own.taints)
	if t.managed != nil {
		all = slices.Concat(all, t.managed.tags.taints, t.managed.taints)
	}
	byKey := map[string]model.Taint{}
	for _, taint := range all {
		byKey[taint.Key+":"+string(taint.Effect)] = taint
	}
	var out []model.Taint
	for _, key := range order.Keys(byKey) {
		out = append(out, byKey[key])
	}
	return out
}

// contradictions reports labels of tags that no instance of the group can have.
func contradictions(next *cloud.GroupTemplate, own tags) []cloud.GroupProblem {
	var found []cloud.GroupProblem
	for _, key := range order.Keys(own.labels) {
		value, real := own.labels[key], next.Chosen[key]
		if fixed, is := next.Labels[key]; is {
			real = []string{fixed}
		}
		if real != nil && !slices.Contains(real, value) {
			found = append(found, cloud.GroupProblem{
				Effect: cloud.Unknown, Reason: "TagsContradict",
				Message: fmt.Sprintf("the tag %s says %s, and instances of the group have %s", tagLabel+key, value, strings.Join(real, " or ")),
				Remedy:  "mend the tag, or the instance types and zones of the group",
			})
		}
	}
	return found
}
