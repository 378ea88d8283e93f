// Package inventory looks at AWS for classes: it puts together all that finds, makes and
// removes what a class refers to, so that its user needs to know one thing instead of ten.
// It also tries out, by dry runs, whether instances of a class could be launched.
//
// It buys nothing and decides nothing about a class; that is cloud/aws/classstatus.
package inventory

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/ami"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/capacityreservation"
	"tenon/cloud/aws/instanceprofile"
	"tenon/cloud/aws/launchtemplate"
	"tenon/cloud/aws/network"
	"tenon/cloud/aws/offering"
)

// Options say how to look.
type Options struct {
	Clients               api.Clients
	Clock                 clock.PassiveClock
	Cluster               *Cluster
	AMIRefreshInterval    time.Duration
	SubnetRefreshInterval time.Duration
	ReservedCapacity      bool // the gate
	IsolatedVPC           bool
	DisableDryRun         bool
	VMMemoryOverhead      float64
	ReservedENIs          int64
	// Shifted tells zones that traffic is led away from; see offering.Sources.
	Shifted func() (zoneIDs map[string]bool, revision uint64)
	// TemplateMade gets each launch template that was created; it may be nil.
	TemplateMade func(launchtemplate.Template)
}

// Inventory is everything that is known of AWS, and how to find out more. Its parts may be
// used by many goroutines.
type Inventory struct {
	Options
	Network       *network.Finder
	Addresses     *network.Addresses
	Images        *ami.Finder
	Counts        *capacityreservation.Counts
	Reservations  *capacityreservation.Finder
	Profiles      *instanceprofile.Profiles
	InstanceTypes *offering.InstanceTypes
	Prices        *offering.PriceList
	Shortages     *offering.Shortages
	Memory        *offering.Memory
	Catalogs      *offering.Catalogs
	Templates     *launchtemplate.Store
	DryRun        *DryRun
}

// New has looked at nothing yet.
func New(o Options) *Inventory {
	c, ec2 := o.Clock, o.Clients.EC2
	s := &Inventory{
		Options:       o,
		Addresses:     network.NewAddresses(),
		Images:        ami.New(ec2, o.Clients.SSM, c, o.AMIRefreshInterval, o.Cluster.Version),
		Counts:        capacityreservation.NewCounts(c),
		Profiles:      instanceprofile.New(o.Clients.IAM, c, o.Clients.Region, o.Cluster.Name),
		InstanceTypes: offering.NewInstanceTypes(ec2),
		Prices:        offering.NewPriceList(o.Clients.Region),
		Shortages:     offering.NewShortages(c),
		Memory:        offering.NewMemory(c),
		Templates:     launchtemplate.NewStore(ec2, o.Cluster.Name, c, o.TemplateMade),
	}
	s.Network = network.New(ec2, c, o.SubnetRefreshInterval, s.Addresses)
	s.Reservations = capacityreservation.New(ec2, c, s.Counts)
	sources := offering.Sources{
		Region: o.Clients.Region, InstanceTypes: s.InstanceTypes, Prices: s.Prices, Shortages: s.Shortages, Memory: s.Memory,
		Network: s.Network, Shifted: o.Shifted, MemoryOverhead: o.VMMemoryOverhead, ReservedENIs: o.ReservedENIs,
	}
	if o.ReservedCapacity {
		sources.Counts = s.Counts
	}
	s.Catalogs = offering.New(sources)
	s.DryRun = NewDryRun(DryRunOptions{
		EC2: ec2, Templates: s.Templates, Catalogs: s.Catalogs, Cluster: o.Cluster, Network: s.Network,
		Region: o.Clients.Region, ReservedCapacity: o.ReservedCapacity, Skip: o.DisableDryRun, Clock: c,
	})
	return s
}

// FindImages are the images of a class, or why there can be none.
func (s *Inventory) FindImages(ctx context.Context, class *awsv1.EC2NodeClass) (found []awsv1.AMI, unsupported string, err error) {
	if alias, aliased, err := class.Spec.Alias(); err == nil && aliased {
		version, err := s.Cluster.Version(ctx)
		if err != nil {
			return nil, "", err
		}
		if why := ami.Unsupported(alias, version); why != "" {
			return nil, why, nil
		}
	}
	found, err = s.Images.Find(ctx, class)
	return found, "", err
}

// FindReservations are the capacity reservations of a class, and when to look again.
func (s *Inventory) FindReservations(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, time.Duration, error) {
	found, err := s.Reservations.Find(ctx, class)
	return found, capacityreservation.Again(found, s.Clock.Now()), err
}

// FindPlacement reports whether the placement group of a class is there.
func (s *Inventory) FindPlacement(ctx context.Context, class *awsv1.EC2NodeClass) (bool, error) {
	found, err := s.Network.Placement(ctx, class)
	return found != nil, err
}

// FindSubnets are the subnets of a class.
func (s *Inventory) FindSubnets(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.Subnet, error) {
	found, err := s.Network.Subnets(ctx, class)
	subnets := make([]awsv1.Subnet, len(found))
	for i, n := range found {
		subnets[i] = n.Subnet
	}
	return subnets, err
}

// FindSecurityGroups are the security groups of a class.
func (s *Inventory) FindSecurityGroups(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.SecurityGroup, error) {
	return s.Network.SecurityGroups(ctx, class)
}

// EnsureProfile is the instance profile of a class, which is made if need be.
func (s *Inventory) EnsureProfile(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	return s.Profiles.Ensure(ctx, class)
}

// ServiceRange is where the cluster's services are.
func (s *Inventory) ServiceRange(ctx context.Context) (string, error) {
	return s.Cluster.ServiceRange(ctx)
}

// Try tries out whether instances of a class could be launched.
func (s *Inventory) Try(ctx context.Context, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool) (DryRunResult, error) {
	return s.DryRun.Run(ctx, class, pools)
}

// Retire removes what was made in AWS for a class that goes away. In an isolated network
// IAM cannot be reached, so profiles stay.
func (s *Inventory) Retire(ctx context.Context, class *awsv1.EC2NodeClass) error {
	if !s.IsolatedVPC {
		if err := s.Profiles.RemoveAll(ctx, class); err != nil {
			return err
		}
	}
	return s.Templates.DeleteAll(ctx, class.Name)
}

// Forget drops what is remembered of a class that is gone.
func (s *Inventory) Forget(class *awsv1.EC2NodeClass) {
	s.DryRun.Forget(class.Name)
	s.Catalogs.Forget(class.UID)
}

// UpdatePrices asks for the prices of now. On-demand prices are not told in isolated
// networks; spot prices come from EC2 itself.
func (s *Inventory) UpdatePrices(ctx context.Context) error {
	var onDemand error
	if !s.IsolatedVPC {
		onDemand = s.Prices.UpdateOnDemand(ctx, s.Clients.Pricing)
	}
	return errors.Join(onDemand, s.Prices.UpdateSpot(ctx, s.Clients.EC2, s.Clock.Now()))
}

// UpdateTypes asks which types there are, and reports whether anything is different.
func (s *Inventory) UpdateTypes(ctx context.Context) (changed bool, err error) {
	return s.InstanceTypes.Update(ctx)
}

// RecheckImages looks whether images that are followed are deprecated by now.
func (s *Inventory) RecheckImages(ctx context.Context) error { return s.Images.Recheck(ctx) }

// Version is the cluster's.
func (s *Inventory) Version(ctx context.Context) (string, error) { return s.Cluster.Version(ctx) }
