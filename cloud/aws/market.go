package aws

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	"tenon/cloud"
	"tenon/cloud/aws/launch"
	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
)

// Catalog implements cloud.CatalogReader.
func (p *Provider) Catalog(ctx context.Context, ref cloud.ClassRef) (*catalog.Catalog, error) {
	class, err := p.readyClass(ctx, ref)
	if err != nil {
		return nil, err
	}
	offer, err := p.offer(class)
	return offer.Catalog, err
}

// offer returns what a class can buy. Until EC2 has listed its types, just after the start of the process,
// the provider cannot know that; the pool is not at fault.
func (p *Provider) offer(class *awsv1.EC2NodeClass) (offering.Offer, error) {
	offer, err := p.Catalogs.Offer(class)
	if errors.Is(err, offering.ErrNoTypes) {
		err = &cloud.ClassNotReady{Class: cloud.ClassRef{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: class.Name}, Undecided: true, Err: err}
	}
	return offer, err
}

// readyClass returns a class if it is ready for launches.
func (p *Provider) readyClass(ctx context.Context, ref cloud.ClassRef) (*awsv1.EC2NodeClass, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if ref.Group != awsv1.Group || ref.Kind != awsv1.KindEC2NodeClass {
		return nil, &cloud.ClassNotReady{Class: ref, Err: fmt.Errorf("%s is no node class of AWS", ref)}
	}
	class, err := p.class(ctx, ref.Name)
	if err != nil {
		return nil, fmt.Errorf("find node class %s: %w", ref.Name, err)
	}
	if why := unready(ref.Name, class); why != nil {
		return nil, &cloud.ClassNotReady{Class: ref, Undecided: undecided(class), Err: why}
	}
	return class, nil
}

// unready says why a class cannot be used; nil if it can.
func unready(name string, class *awsv1.EC2NodeClass) error {
	if class == nil {
		return fmt.Errorf("ec2nodeclasses.karpenter.k8s.aws %q not found", name)
	}
	if class.DeletionTimestamp != nil {
		return fmt.Errorf("ec2nodeclasses.karpenter.k8s.aws %q is terminating, treating as not found", name)
	}
	ready := meta.FindStatusCondition(class.Status.Conditions, condition.Ready)
	switch {
	case ready == nil || ready.Status == metav1.ConditionUnknown:
		return errors.New("NodeClass is in Ready=Unknown")
	case ready.Status == metav1.ConditionFalse:
		return errors.New(ready.Message)
	case ready.ObservedGeneration != class.Generation:
		return errors.New("NodeClass readiness is about an older generation")
	}
	return class.Spec.ValidateTags()
}

// undecided reports whether a class that cannot be used may become usable in a moment: either no controller
// has looked at it yet, or it is about to appear, because it was applied together with what refers to it.
func undecided(class *awsv1.EC2NodeClass) bool {
	if class == nil {
		return true
	}
	ready := meta.FindStatusCondition(class.Status.Conditions, condition.Ready)
	return class.DeletionTimestamp == nil && (ready == nil || ready.Status == metav1.ConditionUnknown || ready.ObservedGeneration != class.Generation)
}

// facts returns what a launch depends on.
func (p *Provider) facts(ctx context.Context, ref cloud.ClassRef) (launch.Facts, error) {
	class, err := p.readyClass(ctx, ref)
	if err != nil {
		return launch.Facts{}, err
	}
	if len(class.Status.Subnets) == 0 {
		return launch.Facts{}, &cloud.Rejected{Reason: "SubnetResolutionFailed", Message: "Error getting subnets"}
	}
	offer, err := p.offer(class)
	if _, undecided := errors.AsType[*cloud.ClassNotReady](err); undecided {
		return launch.Facts{}, err
	}
	if err != nil {
		return launch.Facts{}, &cloud.Rejected{Reason: "InstanceTypeResolutionFailed", Message: "Error resolving instance types", Err: err}
	}
	family, err := class.Spec.Family()
	if err != nil {
		return launch.Facts{}, &cloud.ClassNotReady{Class: ref, Err: err}
	}
	cluster, err := p.Cluster.Facts(ctx, family)
	if err != nil {
		return launch.Facts{}, &cloud.ClassNotReady{Class: ref, Err: err}
	}
	f := launch.Facts{
		Region: p.Clients.Region, Cluster: cluster, Class: class, Catalog: offer.Catalog,
		ReservedCapacity: p.ReservedCapacity, SpotMargin: p.spotMargin, Subnet: p.subnetOf(class),
	}
	if group := p.Network.LastPlacement(class); group != nil {
		f.Group = group.ID
	}
	return f, nil
}

// subnetOf chooses the subnet of a zone with the most free addresses. It takes a subnet that has just been
// found full only when there is no other.
func (p *Provider) subnetOf(class *awsv1.EC2NodeClass) func(string) (awsv1.Subnet, bool) {
	short := p.Shortages.View()
	var open []awsv1.Subnet
	for _, s := range class.Status.Subnets {
		if !short.HasSubnet(s.ID) {
			open = append(open, s)
		}
	}
	return func(zone string) (awsv1.Subnet, bool) {
		if best, found := p.Addresses.Best(open, zone); found {
			return best, true
		}
		return p.Addresses.Best(class.Status.Subnets, zone)
	}
}
