package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
	"tenon/lab/aws/fault"
	"tenon/lab/aws/market"
	"tenon/lab/aws/wire"
)

// order is one launch as a request describes it.
type order struct {
	spec         Spec
	subnetID     string // of the request or the override; interfaces may name their own
	capacityType string // on-demand or spot
	maxPrice     string
	tags         []TagSpec
	token, fleet string
	bundle       string
	reservation  *reservedLaunch // for a fleet of reserved capacity
}

// reservedLaunch says into which reservation a fleet launches: the kind and, if the fleet names it, the
// identifier.
type reservedLaunch struct{ kind, id string }

// choice is an order whose parts have all been looked up and found to fit together.
type choice struct {
	order
	kind       facts.Type
	image      *Image
	subnet     *Subnet
	groups     []*SecurityGroup
	profile    *Profile
	placement  *PlacementGroup
	reserved   *Reservation // the reservation that the order names
	interfaces []InterfaceSpec
}

// resolve looks up what an order names. The errors are those of RunInstances.
func (r *Region) resolve(o order) (c choice, err error) {
	c = choice{order: o}
	steps := []func(*choice) error{
		r.resolveType, r.resolveImage, r.resolveNetwork, r.resolveGroups, r.resolveProfile, r.resolvePlacement, r.resolveReservation, checkSpec,
	}
	for _, step := range steps {
		if err := step(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (r *Region) resolveType(c *choice) error {
	name := cmp.Or(c.spec.InstanceType, "m1.small")
	kind, ok := r.Market.Type(name)
	if !ok {
		return wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", name)
	}
	c.kind = kind
	return nil
}

func (r *Region) resolveImage(c *choice) (err error) {
	if c.spec.ImageID == "" {
		return wire.Errorf("MissingParameter", "The request must contain the parameter ImageId")
	}
	id := c.spec.ImageID
	if name, ok := strings.CutPrefix(id, "resolve:ssm:"); ok {
		p, err := r.Parameter(name)
		if err != nil {
			return wire.Errorf("InvalidParameterValue", "The parameter %s cannot be resolved.", name)
		}
		id = p.Value
	}
	if c.image, err = r.Image(id); err != nil {
		return err
	}
	if c.image.Architecture != ec2Architecture(c.kind.Architecture) {
		return wire.Errorf("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. "+
			"Specify an instance type and an AMI that have matching architectures, and try again.", ec2Architecture(c.kind.Architecture), c.image.Architecture)
	}
	return nil
}

// ec2Architecture returns EC2's name for an architecture, which Kubernetes calls amd64, for example.
func ec2Architecture(name string) string {
	if name == "amd64" {
		return "x86_64"
	}
	return name
}

func (r *Region) resolveNetwork(c *choice) (err error) {
	c.interfaces = c.spec.Interfaces
	if len(c.interfaces) == 0 {
		c.interfaces = []InterfaceSpec{{GroupIDs: c.spec.GroupIDs}}
	}
	subnet := cmp.Or(c.subnetID, c.interfaces[0].SubnetID)
	if subnet == "" {
		subnet = r.usualSubnet(c.spec.Placement.AvailabilityZone)
	}
	if c.subnet, err = r.Subnet(subnet); err != nil {
		return err
	}
	if zone := c.spec.Placement.AvailabilityZone; zone != "" && zone != c.subnet.Zone.Name {
		return wire.Errorf("InvalidParameterValue", "The Availability Zone '%s' of the request is not that of the subnet '%s'.", zone, subnet)
	}
	if !r.Market.Offered(c.kind, c.subnet.Zone.Name) {
		return wire.Errorf("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", c.kind.Name, c.subnet.Zone.Name)
	}
	return checkInterfaces(c)
}

// usualSubnet returns the subnet for an instance that names none.
func (r *Region) usualSubnet(zone string) string {
	for _, s := range r.subnets {
		if zone == "" || s.Zone.Name == zone {
			return s.ID
		}
	}
	return "subnet-in-" + zone // the look-up says that it does not exist
}

func checkInterfaces(c *choice) error {
	var efa int64
	for _, n := range c.interfaces {
		if n.AssociatePublicIpAddress != nil && *n.AssociatePublicIpAddress && len(c.interfaces) > 1 {
			return wire.Errorf("InvalidParameterCombination", "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.")
		}
		if strings.HasPrefix(n.InterfaceType, "efa") {
			efa++
		}
		if n.NetworkCardIndex >= int(c.kind.Cards.Or(1)) {
			return wire.Errorf("InvalidParameterValue", "The instance type %s has no network card %d.", c.kind.Name, n.NetworkCardIndex)
		}
	}
	if limit := c.kind.Interfaces.Or(2); int64(len(c.interfaces)) > limit {
		return wire.Errorf("AttachmentLimitExceeded", "The instance type %s has %d network interfaces.", c.kind.Name, limit)
	}
	if efa > c.kind.EFAInterfaces.Or(0) {
		return wire.Errorf("InvalidParameterCombination", "The instance type %s has %d EFA interfaces.", c.kind.Name, c.kind.EFAInterfaces.Or(0))
	}
	return nil
}

func (r *Region) resolveGroups(c *choice) error {
	ids := c.interfaces[0].GroupIDs
	if len(ids) == 0 {
		ids = c.spec.GroupIDs
	}
	if len(ids) == 0 {
		for _, g := range r.groups {
			if g.Network == c.subnet.Network && g.Name == "default" {
				ids = []string{g.ID}
			}
		}
	}
	for _, id := range ids {
		g, err := r.SecurityGroup(id)
		if err != nil {
			return err
		}
		if g.Network != c.subnet.Network {
			return wire.Errorf("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, c.subnet.ID)
		}
		c.groups = append(c.groups, g)
	}
	return nil
}

func (r *Region) resolveProfile(c *choice) (err error) {
	if c.spec.Profile == (ProfileRef{}) {
		return nil
	}
	c.profile, err = r.Account.profileFor(c.spec.Profile)
	return err
}

func checkSpec(c *choice) error {
	for _, d := range c.spec.Devices {
		i := slices.IndexFunc(c.image.Devices, func(have Device) bool { return have.Name == d.DeviceName })
		if i >= 0 && d.Ebs != nil && d.Ebs.VolumeSize > 0 && d.Ebs.VolumeSize < c.image.Devices[i].SizeGiB {
			return wire.Errorf("InvalidBlockDeviceMapping", "Volume of size %dGB is smaller than snapshot of %s, expect size >= %dGB",
				d.Ebs.VolumeSize, c.image.ID, c.image.Devices[i].SizeGiB)
		}
	}
	return checkUserData(c.spec.UserData, "InvalidParameterValue")
}

// capacity returns an error if the pool has no room for one more.
func (r *Region) capacity(c choice) error {
	if c.reserved != nil {
		return c.reserved.room()
	}
	at := pool{c.kind.Name, c.subnet.Zone.Name, c.capacityType}
	short, limited := r.world.faults.Pool(fault.Pool{
		Account: r.Account.ID, Region: r.Name, InstanceType: at.instanceType, Zone: at.zone, CapacityType: at.capacityType,
	}, r.Now())
	if limited && r.running[at] >= short.Limit {
		return shortage(short, at)
	}
	if err := r.quota(c); err != nil {
		return err
	}
	return r.affordable(c)
}

func shortage(s fault.Shortage, at pool) error {
	e := wire.StatusErrorf(500, "InsufficientInstanceCapacity", "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). "+
		"Our system will be working on provisioning additional capacity.", at.instanceType, at.zone)
	if s.Code != "" {
		e.Code = s.Code
	}
	if s.Message != "" {
		e.Message = s.Message
	}
	return e
}

// Quotas returns what limits the account in this region.
func (r *Region) Quotas() Quotas { return r.world.config.Quotas }

func (r *Region) quota(c choice) error {
	q := r.world.config.Quotas
	var spots, cpus int
	for _, i := range r.instances {
		switch {
		case !i.alive():
		case i.CapacityType == "spot":
			spots++
		default:
			cpus += int(i.Type.VCPUs.Or(0))
		}
	}
	if c.capacityType == "spot" && q.SpotInstances > 0 && spots >= q.SpotInstances {
		return wire.Errorf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	}
	if more := int(c.kind.VCPUs.Or(0)); c.capacityType != "spot" && q.OnDemandVCPUs > 0 && cpus+more > q.OnDemandVCPUs {
		return wire.Errorf("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows "+
			"for the instance bucket that the specified instance type belongs to.", q.OnDemandVCPUs)
	}
	return nil
}

// spotLimit returns the most that a spot launch may cost: what the request says, or the price on demand.
func (r *Region) spotLimit(c choice) string {
	limit := cmp.Or(c.maxPrice, c.spec.Market.SpotOptions.MaxPrice)
	if price, known := r.Market.OnDemand(c.kind.Name); limit == "" && known {
		limit = market.Decimal(price)
	}
	return limit
}

// affordable checks the price against the most that a spot launch may cost.
func (r *Region) affordable(c choice) error {
	if c.capacityType != "spot" {
		return nil
	}
	price, known := r.Market.Spot(c.kind.Name, c.subnet.Zone.Name, r.Now())
	if !known {
		return wire.Errorf("UnfulfillableCapacity", "%s has no spot capacity in %s.", c.kind.Name, c.subnet.Zone.Name)
	}
	limit := cmp.Or(c.maxPrice, c.spec.Market.SpotOptions.MaxPrice)
	if limit == "" {
		return nil
	}
	most, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return wire.Errorf("InvalidParameterValue", "Invalid value '%s' for the maximum price.", limit)
	}
	if model.MoneyFromFloat(most) < price.Price {
		return wire.Errorf("SpotMaxPriceTooLow", "Your Spot request price of %s is lower than the minimum required Spot request fulfillment price of %s.", limit, price.Price)
	}
	return nil
}
