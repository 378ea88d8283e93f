// Package inventory looks at AWS for classes: it combines the packages that find, make and remove what a
// class refers to, so that its caller uses one package instead of ten. It also checks, by dry runs, whether
// EC2 would launch instances of a class.
//
// It buys nothing and decides nothing about a class; cloud/aws/classstatus decides.
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

// Options configure the inventory.
type Options struct {
	Clients               api.Clients
	Clock                 clock.PassiveClock
	Cluster               *Cluster
	AMIRefreshInterval    time.Duration
	SubnetRefreshInterval time.Duration
	ReservedCapacity      bool // the feature gate of that name
	IsolatedVPC           bool
	DisableDryRun         bool
	VMMemoryOverhead      float64
	ReservedENIs          int64
	// Shifted returns the zones that traffic is shifted away from; see offering.Sources.
	Shifted func() (zoneIDs map[string]bool, revision uint64)
	// TemplateMade receives each new launch template; it may be nil.
	TemplateMade func(launchtemplate.Template)
}

// Inventory holds everything that Tenon knows about AWS, and the clients that find out more. Its parts may be
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

// New makes an inventory that has not looked at anything yet.
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

// FindImages returns the images of a class, or why there can be none.
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

// FindReservations returns the capacity reservations of a class, and when to look again.
func (s *Inventory) FindReservations(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, time.Duration, error) {
	found, err := s.Reservations.Find(ctx, class)
	return found, capacityreservation.Again(found, s.Clock.Now()), err
}

// FindPlacement reports whether the placement group of a class exists.
func (s *Inventory) FindPlacement(ctx context.Context, class *awsv1.EC2NodeClass) (bool, error) {
	found, err := s.Network.Placement(ctx, class)
	return found != nil, err
}

// FindSubnets returns the subnets of a class.
func (s *Inventory) FindSubnets(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.Subnet, error) {
	found, err := s.Network.Subnets(ctx, class)
	subnets := make([]awsv1.Subnet, len(found))
	for i, n := range found {
		subnets[i] = n.Subnet
	}
	return subnets, err
}

// FindSecurityGroups returns the security groups of a class.
func (s *Inventory) FindSecurityGroups(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.SecurityGroup, error) {
	return s.Network.SecurityGroups(ctx, class)
}

// EnsureProfile returns the instance profile of a class, and makes it if needed.
func (s *Inventory) EnsureProfile(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	return s.Profiles.Ensure(ctx, class)
}

// ServiceRange returns the range of the addresses of the cluster's services.
func (s *Inventory) ServiceRange(ctx context.Context) (string, error) {
	return s.Cluster.ServiceRange(ctx)
}

// Try checks by a dry run whether EC2 would launch instances of a class.
func (s *Inventory) Try(ctx context.Context, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool) (DryRunResult, error) {
	return s.DryRun.Run(ctx, class, pools)
}

// Retire removes what Tenon made in AWS for a class that is being deleted. An isolated network does not reach
// IAM, so profiles stay.
func (s *Inventory) Retire(ctx context.Context, class *awsv1.EC2NodeClass) error {
	if !s.IsolatedVPC {
		if err := s.Profiles.RemoveAll(ctx, class); err != nil {
			return err
		}
	}
	return s.Templates.DeleteAll(ctx, class.Name)
}

// Forget drops all data on a deleted class.
func (s *Inventory) Forget(class *awsv1.EC2NodeClass) {
	s.DryRun.Forget(class.Name)
	s.Catalogs.Forget(class.UID)
}

// UpdatePrices asks for the current prices. An isolated network does not reach the on-demand prices; spot
// prices come from EC2 itself.
func (s *Inventory) UpdatePrices(ctx context.Context) error {
	var onDemand error
	if !s.IsolatedVPC {
		onDemand = s.Prices.UpdateOnDemand(ctx, s.Clients.Pricing)
	}
	return errors.Join(onDemand, s.Prices.UpdateSpot(ctx, s.Clients.EC2, s.Clock.Now()))
}

// UpdateTypes asks EC2 for its types, and reports whether anything has changed.
func (s *Inventory) UpdateTypes(ctx context.Context) (changed bool, err error) {
	return s.InstanceTypes.Update(ctx)
}

// RecheckImages checks whether an image of a moving parameter is deprecated by now.
func (s *Inventory) RecheckImages(ctx context.Context) error { return s.Images.Recheck(ctx) }

// Version returns the cluster's version.
func (s *Inventory) Version(ctx context.Context) (string, error) { return s.Cluster.Version(ctx) }
