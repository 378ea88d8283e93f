package accounts

import (
	"cmp"
	"net/netip"
	"reflect"
	"slices"

	"tenon/lab/aws/fault"
	"tenon/lab/aws/wire"
)

// start makes the chosen instance if there is capacity, addresses and a place for it. Then begin starts
// its life, or undo removes it.
func (r *Region) start(c choice) (*Instance, error) {
	if err := r.capacity(c); err != nil {
		return nil, err
	}
	partition, err := r.partition(c)
	if err != nil {
		return nil, err
	}
	interfaces, err := r.attach(c)
	if err != nil {
		return nil, err
	}
	i := r.newInstance(c)
	i.Interfaces, i.Placement.PartitionNumber = interfaces, partition
	i.Volumes = r.volumes(c)
	for _, v := range i.Volumes {
		v.Instance = i
	}
	r.useReservation(i, c)
	r.instances = append(r.instances, i)
	r.byID[i.ID] = i
	r.running[i.pool]++
	return i, nil
}

func (r *Region) newInstance(c choice) *Instance {
	w := r.world
	i := &Instance{
		ID: w.identifier("i"), Type: c.kind, Image: c.image, Subnet: c.subnet, Naming: c.subnet.Naming, State: Pending, Launched: r.Now(),
		CapacityType: c.capacityType, Spec: c.spec, Profile: c.profile, Groups: c.groups, Placement: c.spec.Placement,
		Token: c.token, FleetID: c.fleet, Bundle: c.bundle,
		pool: pool{c.kind.Name, c.subnet.Zone.Name, c.capacityType},
	}
	i.Number = w.made
	i.Tags = tagsFor("instance", c.spec.TagSpecs, c.tags)
	i.Placement.AvailabilityZone, i.Placement.Tenancy = c.subnet.Zone.Name, cmp.Or(c.spec.Placement.Tenancy, "default")
	if c.placement != nil {
		i.Placement.GroupID, i.Placement.GroupName = c.placement.ID, c.placement.Name
	}
	if c.capacityType == "spot" {
		i.Lifecycle, i.SpotRequest = "spot", w.identifier("sir")[:12]
		i.SpotPrice = r.spotLimit(c)
		i.SpotTags = tagsFor("spot-instances-request", c.spec.TagSpecs, c.tags)
	}
	if c.fleet != "" {
		i.Tags = putTags(i.Tags, []wire.Tag{{Key: "aws:ec2:fleet-id", Value: c.fleet}})
	}
	i.seen = r.Now().Add(r.hides("instance"))
	return i
}

// attach makes the interfaces. If the addresses do not suffice, it gives them back.
func (r *Region) attach(c choice) ([]*Interface, error) {
	var made []*Interface
	for _, spec := range c.interfaces {
		n := &Interface{ID: r.world.identifier("eni"), Spec: spec, Tags: tagsFor("network-interface", c.spec.TagSpecs, c.tags)}
		if len(spec.GroupIDs) == 0 {
			for _, g := range c.groups {
				n.Spec.GroupIDs = append(n.Spec.GroupIDs, g.ID)
			}
		}
		made = append(made, n)
		if err := n.address(c.subnet, r.goesPublic(c)); err != nil {
			for _, n := range made {
				n.release(c.subnet)
			}
			return nil, err
		}
	}
	return made, nil
}

// goesPublic reports whether the launch gets a public address: if its first interface says so, or else if
// the subnet does. With several interfaces only the interfaces decide.
func (r *Region) goesPublic(c choice) bool {
	if said := c.interfaces[0].AssociatePublicIpAddress; said != nil {
		return *said
	}
	return c.subnet.PublicByDefault && len(c.interfaces) == 1
}

func (n *Interface) address(s *Subnet, public bool) (err error) {
	if n.Spec.InterfaceType == "efa-only" {
		return nil // such an interface has no address
	}
	if n.Address, err = s.take(); err != nil {
		return err
	}
	n.MAC = mac(n.Address)
	if public && n.Spec.DeviceIndex == 0 && n.Spec.NetworkCardIndex == 0 {
		n.Public = publicOf(n.Address)
	}
	if s.SixByDefault && n.Spec.Ipv6AddressCount == 0 {
		n.Six = append(n.Six, s.takeSix())
	}
	for range n.Spec.SecondaryPrivateIpAddressCount {
		second, err := s.take()
		if err != nil {
			return err
		}
		n.Seconds = append(n.Seconds, second)
	}
	for range n.Spec.Ipv4PrefixCount {
		block, err := s.takeBlock()
		if err != nil {
			return err
		}
		n.Prefixes = append(n.Prefixes, block)
	}
	for range n.Spec.Ipv6AddressCount {
		n.Six = append(n.Six, s.takeSix())
	}
	return nil
}

// publicOf returns the public address that goes with a private one while that is in use. It lies in the
// range for benchmarks (RFC 2544): no packet goes there.
func publicOf(private netip.Addr) netip.Addr {
	b := private.As4()
	return netip.AddrFrom4([4]byte{198, 18 + b[1]%2, b[2], b[3]})
}

func (n *Interface) release(s *Subnet) {
	if n.Address.IsValid() {
		s.give(netip.PrefixFrom(n.Address, 32))
	}
	for _, a := range n.Seconds {
		s.give(netip.PrefixFrom(a, 32))
	}
	for _, p := range n.Prefixes {
		s.give(p)
	}
}

// volumes returns the image's volumes, with the changes and additions of the specification.
func (r *Region) volumes(c choice) []*Volume {
	tags := tagsFor("volume", c.spec.TagSpecs, c.tags)
	var made []*Volume
	for _, d := range c.image.Devices {
		made = append(made, &Volume{Device: d.Name, SizeGiB: d.SizeGiB, Type: "gp3", Snapshot: c.image.snapshot(d)})
	}
	for _, d := range c.spec.Devices {
		at := slices.IndexFunc(made, func(v *Volume) bool { return v.Device == d.DeviceName })
		switch {
		case d.Ebs == nil:
			continue
		case at < 0:
			at = len(made)
			made = append(made, &Volume{Device: d.DeviceName, SizeGiB: 8, Type: "gp2"})
		}
		made[at].specify(*d.Ebs)
	}
	for _, v := range made {
		v.ID, v.Tags = r.world.identifier("vol"), slices.Clone(tags)
		v.Zone, v.Created = c.subnet.Zone, r.Now()
		v.perform()
	}
	return made
}

// specify applies a launch's settings to a volume.
func (v *Volume) specify(e Ebs) {
	if e.VolumeSize > 0 {
		v.SizeGiB = e.VolumeSize
	}
	v.Type, v.Snapshot = cmp.Or(e.VolumeType, v.Type), cmp.Or(e.SnapshotID, v.Snapshot)
	v.IOPS, v.Throughput = e.Iops, e.Throughput
	v.Encrypted = e.Encrypted != nil && *e.Encrypted
	v.Keep = e.DeleteOnTermination != nil && !*e.DeleteOnTermination
}

// perform fills in the defaults of the volume's type.
func (v *Volume) perform() {
	switch v.Type {
	case "gp3":
		v.IOPS, v.Throughput = cmp.Or(v.IOPS, 3000), cmp.Or(v.Throughput, 125)
	case "gp2":
		v.IOPS = min(max(3*v.SizeGiB, 100), 16000)
	}
}

// faultPool returns the instance's pool as faults name it.
func (r *Region) faultPool(p pool) fault.Pool {
	return fault.Pool{Account: r.Account.ID, Region: r.Name, InstanceType: p.instanceType, Zone: p.zone, CapacityType: p.capacityType}
}

// RunOrder holds the parameters of RunInstances.
type RunOrder struct {
	Spec     Spec
	Template *TemplateRef
	SubnetID string
	Min, Max int
	Token    string
	DryRun   bool
}

// runToken records a RunInstances request that was carried out.
type runToken struct {
	order     RunOrder
	instances []*Instance
}

// Run launches at least Min and at most Max instances of one kind, or none.
func (r *Region) Run(o RunOrder) ([]*Instance, error) {
	if done, ok := r.runs[o.Token]; ok && o.Token != "" && !o.DryRun {
		if !reflect.DeepEqual(done.order, o) {
			return nil, wire.Errorf("IdempotentParameterMismatch", "The client token '%s' was used with other parameters.", o.Token)
		}
		return done.instances, nil
	}
	c, err := r.runChoice(o)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return nil, wire.DryRun()
	}
	instances, err := r.startMany(c, o.Min, o.Max)
	if err == nil && o.Token != "" {
		r.runs[o.Token] = &runToken{o, instances}
	}
	return instances, err
}

func (r *Region) runChoice(o RunOrder) (choice, error) {
	spec := o.Spec
	if o.Template != nil {
		t, err := r.templateVersion(*o.Template)
		if err != nil {
			return choice{}, err
		}
		spec = t.Spec.over(o.Spec)
		// Tags of both apply, the request's first.
		spec.TagSpecs = slices.Concat(t.Spec.TagSpecs, o.Spec.TagSpecs)
	}
	switch {
	case o.Min < 1 || o.Max < o.Min:
		return choice{}, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter maxCount is invalid. minCount is %d.", o.Max, o.Min)
	case o.SubnetID != "" && len(spec.Interfaces) > 0:
		return choice{}, wire.Errorf("InvalidParameterCombination", "Network interfaces and an instance-level subnet ID may not be specified on the same request")
	}
	capacityType := "on-demand"
	if spec.Market.MarketType == "spot" {
		capacityType = "spot"
	}
	return r.resolve(order{spec: spec, subnetID: o.SubnetID, capacityType: capacityType, token: o.Token, bundle: r.world.identifier("r")})
}

// startMany launches instances, and takes them back if it does not reach the minimum.
func (r *Region) startMany(c choice, least, most int) ([]*Instance, error) {
	var made []*Instance
	for range most {
		i, err := r.start(c)
		if err != nil && len(made) < least {
			for _, i := range made {
				r.undo(i)
			}
			return nil, err
		}
		if err != nil {
			break
		}
		made = append(made, i)
	}
	for _, i := range made {
		r.begin(i)
	}
	return made, nil
}
