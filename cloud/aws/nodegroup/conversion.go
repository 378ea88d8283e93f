package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/requirement"
)

// Original is everything about a group from which a pool is made.
type Original struct {
	Group *types.AutoScalingGroup
	// Launch is the version of the launch template that the group launches; empty if it has a launch configuration.
	Launch *ec2types.ResponseLaunchTemplateData
	// Managed is nil for groups that EKS does not manage.
	Managed *ekstypes.Nodegroup
	// Types are those that the group may launch.
	Types []string
}

// Original reads a group from AWS by its name. Anything that cannot be read is an error, because the pool would lack it.
func (r *Reader) Original(ctx context.Context, name string) (Original, error) {
	out, err := r.Clients.AutoScaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}, MaxRecords: aws.Int32(1)})
	if err != nil {
		return Original{}, fmt.Errorf("describe the group %s: %w", name, err)
	}
	if len(out.AutoScalingGroups) == 0 {
		return Original{}, fmt.Errorf("there is no Auto Scaling group %s in this account and region", name)
	}
	o := Original{Group: &out.AutoScalingGroups[0]}
	spec := o.Group.LaunchTemplate
	if p := o.Group.MixedInstancesPolicy; p != nil && p.LaunchTemplate != nil {
		spec = p.LaunchTemplate.LaunchTemplateSpecification
	}
	if spec == nil {
		return Original{}, fmt.Errorf("the group %s has no launch template: give it one instead of its launch configuration, and convert it then", name)
	}
	if o.Launch, err = r.templateData(ctx, spec); err != nil {
		return Original{}, err
	}
	base, err := launchedBy(o.Launch)
	if err != nil {
		return Original{}, err
	}
	if o.Types, err = r.typesOf(ctx, o.Group, base); err != nil {
		return Original{}, err
	}
	if cluster, group := managedBy(o.Group); cluster != "" && group != "" {
		found, err := r.Clients.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &cluster, NodegroupName: &group})
		if err != nil {
			return Original{}, fmt.Errorf("describe the managed node group %s: %w", group, err)
		}
		o.Managed = found.Nodegroup
	}
	return o, nil
}

// conversion is one run.
type conversion struct {
	Original
	own   tags
	notes []cloud.GroupNote
}

func (c *conversion) note(effect cloud.ConversionEffect, setting, format string, values ...any) {
	c.notes = append(c.notes, cloud.GroupNote{Effect: effect, Setting: setting, Text: fmt.Sprintf(format, values...)})
}

// ToPool makes a NodePool and an EC2NodeClass that launch nodes like those of the group, and says what is different.
func (o Original) ToPool() cloud.GroupConversion {
	c := &conversion{Original: o, own: tagsOf(o.Group.Tags)}
	name := tenonv1alpha1.ObjectName(c.name())
	class, pool := c.class(name), c.pool(name)
	c.remainder()
	slices.SortStableFunc(c.notes, func(a, b cloud.GroupNote) int {
		return cmp.Compare(slices.Index(cloud.ConversionEffects(), a.Effect), slices.Index(cloud.ConversionEffects(), b.Effect))
	})
	return cloud.GroupConversion{Objects: []runtime.Object{class, pool}, Notes: c.notes}
}

// name is the name of the pool: that of the managed node group, or of the Auto Scaling group.
func (c *conversion) name() string {
	if c.Managed != nil && c.Managed.NodegroupName != nil {
		return *c.Managed.NodegroupName
	}
	return aws.ToString(c.Group.AutoScalingGroupName)
}

func (c *conversion) pool(name string) *karpenterv1.NodePool {
	pool := &karpenterv1.NodePool{
		TypeMeta: metav1.TypeMeta{APIVersion: karpenterv1.GroupVersion.String(), Kind: "NodePool"}, ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	spec := &pool.Spec.Template.Spec
	spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: name}
	in := func(key string, values []string) {
		spec.Requirements = append(spec.Requirements, karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: slices.Sorted(slices.Values(values))})
	}
	in(corev1.LabelInstanceTypeStable, c.Types)
	in(requirement.KeyCapacityType, c.capacityTypes())
	in(corev1.LabelTopologyZone, c.Group.AvailabilityZones)
	pool.Spec.Template.Labels = c.labels()
	spec.Taints, spec.StartupTaints = c.taints()
	spec.ExpireAfter = karpenterv1.NeverEnding()
	if life := aws.ToInt32(c.Group.MaxInstanceLifetime); life > 0 {
		spec.ExpireAfter = karpenterv1.DurationOf(time.Duration(life) * time.Second)
		c.note(cloud.Kept, "maximum instance lifetime", "spec.template.spec.expireAfter")
	}
	pool.Spec.Limits = karpenterv1.Limits{model.Nodes: *resource.NewQuantity(int64(aws.ToInt32(c.Group.MaxSize)), resource.DecimalSI)}
	c.note(cloud.Kept, "maximum size", "spec.limits.nodes")
	if least := aws.ToInt32(c.Group.MinSize); least > 0 {
		c.note(cloud.Lost, fmt.Sprintf("minimum size %d", least), "a pool has no minimum: room that is to stay free is a CapacityBuffer, and a fixed number of nodes is a static pool")
	}
	pool.Spec.Disruption = c.disruption()
	return pool
}

// capacityTypes are those of the policy, or of the launch template, or of the managed node group.
func (c *conversion) capacityTypes() []string {
	t := template{spot: c.Launch.InstanceMarketOptions != nil && c.Launch.InstanceMarketOptions.MarketType == ec2types.MarketTypeSpot}
	if c.Managed != nil && c.Managed.CapacityType == ekstypes.CapacityTypesSpot {
		t.spot = true
	}
	found := capacityTypes(c.Group, t)
	if len(found) > 1 {
		c.note(cloud.Changed, "on-demand base and percentage", "the pool buys the cheaper of spot and on-demand for each node; two pools with weights, or a topology spread over karpenter.sh/capacity-type, keep a share")
	}
	return found
}

// machineLabels are labels that each node gets from its machine.
var machineLabels = []string{
	corev1.LabelHostname, corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelArchStable, corev1.LabelOSStable, requirement.KeyCapacityType,
}

// labels are those that the group's nodes have beside those of the machine.
func (c *conversion) labels() map[string]string {
	out := map[string]string{}
	maps.Copy(out, readScript(aws.ToString(c.Launch.UserData)).labels)
	maps.Copy(out, c.own.labels)
	if c.Managed != nil {
		maps.Copy(out, readTags(c.Managed.Tags).labels)
		maps.Copy(out, c.Managed.Labels)
		c.note(cloud.Changed, "label "+labelManagedGroup, "nodes of pools do not have it: change pods that select on it, or write it into spec.template.metadata.labels")
	}
	for _, key := range order.Keys(out) {
		owner, _, _ := strings.Cut(key, "/")
		switch {
		case slices.Contains(machineLabels, key):
			delete(out, key)
		case key == eksCluster || key == eksGroup: // of the tags of EKS
			delete(out, key)
		case owner == "eks.amazonaws.com" || owner == "alpha.eksctl.io":
			if key != labelManagedGroup {
				c.note(cloud.Changed, "label "+key, "nodes of pools do not have it: change pods that select on it, or write it into spec.template.metadata.labels")
			}
			delete(out, key)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// startupTaints begin the keys of taints that a program removes once a node has started.
var startupTaints = []string{"startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/", "node.cilium.io/agent-not-ready", "ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready"}

func (c *conversion) taints() (lasting, startup []corev1.Taint) {
	all := map[string]model.Taint{}
	enter := func(list []model.Taint) {
		for _, t := range list {
			all[t.Key+":"+string(t.Effect)] = t
		}
	}
	enter(readScript(aws.ToString(c.Launch.UserData)).taints)
	enter(c.own.taints)
	if c.Managed != nil {
		enter(readTags(c.Managed.Tags).taints)
		for _, t := range c.Managed.Taints {
			if effect, known := taintEffects[t.Effect]; known {
				enter([]model.Taint{{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: effect}})
			}
		}
	}
	for _, key := range order.Keys(all) {
		t := corev1.Taint{Key: all[key].Key, Value: all[key].Value, Effect: corev1.TaintEffect(all[key].Effect)}
		if slices.ContainsFunc(startupTaints, func(prefix string) bool { return strings.HasPrefix(t.Key, prefix) }) {
			startup = append(startup, t)
			continue
		}
		lasting = append(lasting, t)
	}
	return lasting, startup
}

// unneededTime is how long Cluster Autoscaler leaves an unneeded node by default.
const unneededTime = 10 * time.Minute

func (c *conversion) disruption() karpenterv1.Disruption {
	after := unneededTime
	for _, name := range order.Keys(c.own.options) {
		setting := "tag " + tagOption + name
		if said, err := time.ParseDuration(c.own.options[name]); name == tenonv1alpha1.UnneededTime && err == nil {
			after = said
			c.note(cloud.Changed, setting, "spec.disruption.consolidateAfter: it counts from when the last pod came to the node or left it")
			continue
		}
		c.note(cloud.Lost, setting, "a pool removes nodes by what that saves, and has no such option")
	}
	out := karpenterv1.Disruption{ConsolidateAfter: karpenterv1.DurationOf(after), ConsolidationPolicy: karpenterv1.ConsolidateWhenEmptyOrUnderutilized, Budgets: []karpenterv1.Budget{{Nodes: "10%"}}}
	if c.Managed == nil || c.Managed.UpdateConfig == nil {
		return out
	}
	nodes := ""
	switch u := c.Managed.UpdateConfig; {
	case u.MaxUnavailable != nil:
		nodes = fmt.Sprint(*u.MaxUnavailable)
	case u.MaxUnavailablePercentage != nil:
		nodes = fmt.Sprintf("%d%%", *u.MaxUnavailablePercentage)
	default:
		return out
	}
	out.Budgets = append(out.Budgets, karpenterv1.Budget{Nodes: nodes, Reasons: []karpenterv1.DisruptionReason{karpenterv1.DisruptionDrifted}})
	c.note(cloud.Kept, "update config", "a budget for the reason Drifted")
	return out
}

// remainder notes settings of the group that no field of a pool or a class has.
func (c *conversion) remainder() {
	g := c.Group
	if p := g.MixedInstancesPolicy; p != nil {
		if d := p.InstancesDistribution; d != nil {
			if aws.ToString(d.SpotMaxPrice) != "" {
				c.note(cloud.Lost, "spot maximum price "+*d.SpotMaxPrice, "pools pay the market's price")
			}
			if s := aws.ToString(d.SpotAllocationStrategy); s != "" && s != "price-capacity-optimized" {
				c.note(cloud.Changed, "spot allocation strategy "+s, "pools use price-capacity-optimized")
			}
		}
		if p.LaunchTemplate != nil && slices.ContainsFunc(p.LaunchTemplate.Overrides, func(o types.LaunchTemplateOverrides) bool { return aws.ToString(o.WeightedCapacity) != "" }) {
			c.note(cloud.Lost, "weighted capacity", "pools count pods and nodes, and have no weights")
		}
		if p.LaunchTemplate != nil && slices.ContainsFunc(p.LaunchTemplate.Overrides, func(o types.LaunchTemplateOverrides) bool { return o.InstanceRequirements != nil }) {
			c.note(cloud.Changed, "instance requirements", "the %d types that meet them today are listed; types that come later are not", len(c.Types))
		}
	}
	for _, a := range c.own.resources.Amounts() {
		c.note(cloud.Lost, "tag "+tagResource+a.Name, "nodes of pools have what the machine and its device plug-ins report; a NodeOverlay adds capacity to the plan")
	}
	for _, p := range g.SuspendedProcesses {
		c.note(cloud.Needless, "suspended process "+aws.ToString(p.ProcessName), "pools have no such process")
	}
	needless := map[string]bool{"scale-in protection": aws.ToBool(g.NewInstancesProtectedFromScaleIn), "capacity rebalancing": aws.ToBool(g.CapacityRebalance)}
	for _, setting := range order.Keys(needless) {
		if needless[setting] {
			c.note(cloud.Needless, setting, "AWS does not choose instances of a pool to end, and Tenon acts on its warnings")
		}
	}
	if len(g.LoadBalancerNames)+len(g.TargetGroupARNs)+len(g.TrafficSources) > 0 {
		c.note(cloud.Lost, "load balancers of the group", "instances of a pool are not registered there: use a Service, or the AWS Load Balancer Controller")
	}
	if g.WarmPoolConfiguration != nil {
		c.note(cloud.Lost, "warm pool", "pools have none: a CapacityBuffer keeps room free")
	}
	c.note(cloud.Changed, "lifecycle hooks, scaling policies and scheduled actions", "they are not read, and a pool has nothing like them")
}
