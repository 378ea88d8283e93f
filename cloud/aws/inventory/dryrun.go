package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/fingerprint"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/launchtemplate"
	"tenon/cloud/aws/network"
	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
	"tenon/core/model"
)

// mostOverrides is how many overrides EC2 accepts in one call.
const mostOverrides = 300

// verdictHolds is how long a verdict on a class holds. (As in Karpenter.) DryRun repeats a failed one sooner,
// to notice a permission that was added.
const (
	verdictHolds = 30 * time.Minute
	failureHolds = 5 * time.Minute
)

// DryRunResult says whether instances of a class can be launched, and if not, why.
type DryRunResult struct {
	Passed          bool
	Reason, Message string
}

// Two errors mean that the dry run gave no verdict that could be remembered.
var (
	// ErrAgain means that trying again soon may help.
	ErrAgain = errors.New("the dry run has to be repeated")
	// ErrNoProfile means that EC2 does not know the instance profile that the class names.
	ErrNoProfile = errors.New("the instance profile does not exist")
)

// DryRunOptions configure dry runs.
type DryRunOptions struct {
	EC2       api.EC2Launches
	Templates *launchtemplate.Store
	Catalogs  *offering.Catalogs
	Cluster   *Cluster
	Network   *network.Finder
	Region    string
	// ReservedCapacity is the feature gate of that name.
	ReservedCapacity bool
	// Skip accepts every class without a dry run.
	Skip  bool
	Clock clock.PassiveClock
}

// DryRun validates classes by dry runs, and remembers its verdicts.
type DryRun struct {
	DryRunOptions
	verdicts *api.Cache[dryRunKey, DryRunResult]
}

// dryRunKey identifies a class and all that the result depends on. It includes annotations, so that people
// can force another dry run by setting one.
type dryRunKey struct{ class, state string }

// NewDryRun makes a DryRun without any verdicts.
func NewDryRun(o DryRunOptions) *DryRun {
	return &DryRun{DryRunOptions: o, verdicts: api.NewCache[dryRunKey, DryRunResult](o.Clock, verdictHolds)}
}

// Run validates a class whose images, groups, subnets and profile are known.
func (t *DryRun) Run(ctx context.Context, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool) (DryRunResult, error) {
	tags := t.tags(class)
	k := dryRunKey{class.Name, fingerprint.Of([]any{
		class.Status.Subnets, class.Status.SecurityGroups, class.Status.AMIs, class.Status.InstanceProfile,
		class.Spec, annotationsOf(class), tags,
	})}
	tried := false
	verdict, err := t.verdicts.Get(ctx, k, func(ctx context.Context) (DryRunResult, error) {
		tried = true
		if t.Skip {
			return DryRunResult{Passed: true}, nil
		}
		return t.run(ctx, class, pools, tags)
	})
	if tried && err == nil && !verdict.Passed {
		t.verdicts.PutFor(k, verdict, failureHolds)
	}
	return verdict, err
}

// annotationsOf returns the user's annotations. It leaves out the hash, which only repeats the spec.
func annotationsOf(class *awsv1.EC2NodeClass) map[string]string {
	all := maps.Clone(class.Annotations)
	delete(all, awsv1.AnnotationNodeClassHash)
	delete(all, awsv1.AnnotationNodeClassHashVersion)
	return all
}

// Forget drops the verdicts on a class that is gone.
func (t *DryRun) Forget(class string) {
	for _, k := range t.verdicts.Keys() {
		if k.class == class {
			t.verdicts.Forget(k)
		}
	}
}

// tags returns the tags of a launch without a pool: EC2 accepts the empty name as a value.
func (t *DryRun) tags(class *awsv1.EC2NodeClass) map[string]string {
	tags := maps.Clone(class.Spec.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[awsv1.TagClusterPrefix+t.Cluster.Name] = "owned"
	tags[awsv1.TagNodePool] = ""
	tags[awsv1.TagClusterName] = t.Cluster.Name
	tags[awsv1.TagNodeClass] = class.Name
	return tags
}

func (t *DryRun) run(ctx context.Context, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool, tags map[string]string) (DryRunResult, error) {
	made, sampled, err := t.template(ctx, class, pools, tags)
	if err != nil {
		return DryRunResult{}, err
	}
	release, err := t.Templates.Hold(ctx, made)
	if err != nil {
		return judgeTemplate(err)
	}
	defer release()
	if _, err := t.EC2.CreateFleet(ctx, fleetOf(class, made.Name, sampled, tags), api.Once); !api.IsDryRun(err) {
		return judge(err, "CreateFleet")
	}
	switch err := t.runInstances(ctx, class, made.Name, sampled[0].Name, tags); {
	case api.IsDryRun(err):
	case lacksProfile(err) && class.Spec.InstanceProfile != nil:
		return DryRunResult{}, fmt.Errorf("%w: %w", ErrNoProfile, err)
	default:
		return judge(err, "RunInstances")
	}
	return DryRunResult{Passed: true}, nil
}

func (t *DryRun) template(ctx context.Context, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool, tags map[string]string) (launchtemplate.Template, []*catalog.Type, error) {
	offer, err := t.Catalogs.Offer(class)
	if err != nil {
		return launchtemplate.Template{}, nil, err
	}
	sampled, booted := sample(offer, class, pools)
	if len(sampled) == 0 {
		return launchtemplate.Template{}, nil, fmt.Errorf("try out class %s: no instance type boots any of its images", class.Name)
	}
	family, err := class.Spec.Family()
	if err != nil {
		return launchtemplate.Template{}, nil, err
	}
	facts, err := t.Cluster.Facts(ctx, family)
	if err != nil {
		return launchtemplate.Template{}, nil, err
	}
	o := launchtemplate.Options{
		Region: t.Region, Cluster: facts, Class: class, Tags: tags, ImageID: booted.ID,
		MaxPods: sampled[0].Capacity.Pods, Taints: []model.Taint{cloud.Unregistered()},
		CapacityType: catalog.OnDemand, Tenancy: tenancyOf(pools), ReservedCapacity: t.ReservedCapacity,
	}
	if group := t.Network.LastPlacement(class); group != nil {
		o.Placement.GroupID = group.ID
	}
	made, err := launchtemplate.Build(o)
	return made, sampled, err
}

func fleetOf(class *awsv1.EC2NodeClass, name string, sampled []*catalog.Type, tags map[string]string) *ec2.CreateFleetInput {
	var overrides []types.FleetLaunchTemplateOverridesRequest
	for _, t := range sampled {
		for _, s := range class.Status.Subnets {
			if len(overrides) < mostOverrides {
				overrides = append(overrides, types.FleetLaunchTemplateOverridesRequest{InstanceType: types.InstanceType(t.Name), SubnetId: aws.String(s.ID)})
			}
		}
	}
	return &ec2.CreateFleetInput{
		DryRun: aws.Bool(true), Type: types.FleetTypeInstant, Context: class.Spec.Context,
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: aws.String(name), Version: aws.String("$Latest")},
			Overrides:                   overrides,
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand,
		},
		OnDemandOptions:   &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyLowestPrice},
		TagSpecifications: tagged(tags, types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeFleet),
	}
}

// runInstances tries one subnet after the other until one works. If none does, it returns EC2's error for the
// first one. An unknown profile is unknown in all subnets.
func (t *DryRun) runInstances(ctx context.Context, class *awsv1.EC2NodeClass, name, instanceType string, tags map[string]string) error {
	var first error
	for _, s := range class.Status.Subnets {
		_, err := t.EC2.RunInstances(ctx, &ec2.RunInstancesInput{
			DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: types.InstanceType(instanceType),
			LaunchTemplate:    &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String(name), Version: aws.String("$Latest")},
			NetworkInterfaces: interfacesOf(class, s.ID),
			TagSpecifications: tagged(tags, types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface),
		}, api.Once)
		if api.IsDryRun(err) || lacksProfile(err) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func interfacesOf(class *awsv1.EC2NodeClass, subnet string) []types.InstanceNetworkInterfaceSpecification {
	if len(class.Spec.NetworkInterfaces) == 0 {
		return []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), SubnetId: aws.String(subnet)}}
	}
	var list []types.InstanceNetworkInterfaceSpecification
	for _, i := range class.Spec.NetworkInterfaces {
		list = append(list, types.InstanceNetworkInterfaceSpecification{
			NetworkCardIndex: aws.Int32(i.NetworkCardIndex), DeviceIndex: aws.Int32(i.DeviceIndex),
			InterfaceType: aws.String(i.InterfaceType), SubnetId: aws.String(subnet),
		})
	}
	return list
}

func tagged(tags map[string]string, kinds ...types.ResourceType) []types.TagSpecification {
	var list []types.TagSpecification
	for _, kind := range kinds {
		list = append(list, types.TagSpecification{ResourceType: kind, Tags: launchtemplate.Tags(tags)})
	}
	return list
}
