package offering

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/capacityreservation"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/network"
	"tenon/core/catalog"
)

// ErrNoSubnets is the error for a class without known subnets.
var ErrNoSubnets = errors.New("no subnets found")

// Sources are what a catalogue is made from.
type Sources struct {
	Region        string
	InstanceTypes *InstanceTypes
	Prices        *PriceList
	Shortages     *Shortages
	// Counts of reservations; nil where reservations are not used.
	Counts  *capacityreservation.Counts
	Memory  *Memory
	Network *network.Finder
	// Shifted returns the IDs of the zones that traffic is shifted away from, and a number that differs after
	// each change. Nil means that there are none.
	Shifted        func() (zoneIDs map[string]bool, revision uint64)
	MemoryOverhead float64
	ReservedENIs   int64
}

// Catalogs keeps the catalogues of classes. It may be used by many goroutines.
type Catalogs struct {
	sources Sources

	mu   sync.Mutex
	made map[types.UID]*cachedCatalog
}

// cachedCatalog is a catalogue; one caller builds it while others wait.
type cachedCatalog struct {
	mu    sync.Mutex
	key   key
	offer Offer
}

// Offer is what a class can buy. It must not be changed.
type Offer struct {
	Catalog *catalog.Catalog
	// Incompatible are types of which the class could not use an instance: all their
	// offerings are unavailable.
	Incompatible map[string]bool
}

// New makes a Catalogs without any catalogue.
func New(s Sources) *Catalogs { return &Catalogs{sources: s, made: map[types.UID]*cachedCatalog{}} }

// key is everything that a catalogue depends on. The generation stands for the class's spec.
type key struct {
	generation                                   int64
	status                                       string
	stock, prices, shorts, counts, seen, shifted uint64
	placement                                    string
}

// inputs are what a catalogue is made from, at one time.
type inputs struct {
	key
	listing   *Listing
	prices    *Prices
	shorts    ShortageView
	seen      MemoryView
	shifted   map[string]bool
	placement *network.Placement
}

// Offer is what a class, as it is now, can buy.
func (s *Catalogs) Offer(class *awsv1.EC2NodeClass) (Offer, error) {
	e := s.entry(class.UID)
	e.mu.Lock()
	defer e.mu.Unlock()
	in, err := s.gather(class)
	if err != nil {
		return Offer{}, fmt.Errorf("list what class %s can buy: %w", class.Name, err)
	}
	if e.offer.Catalog != nil && e.key == in.key {
		return e.offer, nil
	}
	offer, err := s.make(class, in)
	if err != nil {
		return Offer{}, fmt.Errorf("list what class %s can buy: %w", class.Name, err)
	}
	e.key, e.offer = in.key, offer
	return offer, nil
}

// Forget drops what was made for a class that is gone.
func (s *Catalogs) Forget(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.made, uid)
}

func (s *Catalogs) entry(uid types.UID) *cachedCatalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, found := s.made[uid]
	if !found {
		e = &cachedCatalog{}
		s.made[uid] = e
	}
	return e
}

func (s *Catalogs) gather(class *awsv1.EC2NodeClass) (inputs, error) {
	in := inputs{
		listing:   s.sources.InstanceTypes.Listing(),
		prices:    s.sources.Prices.Prices(),
		shorts:    s.sources.Shortages.View(),
		seen:      s.sources.Memory.View(ImagesOf(class.Status.AMIs)),
		placement: s.sources.Network.LastPlacement(class),
	}
	switch {
	case len(in.listing.Types) == 0:
		return in, ErrNoTypes
	case len(class.Status.Subnets) == 0:
		return in, ErrNoSubnets
	}
	in.key = key{
		generation: class.Generation, status: digest(&class.Status), stock: in.listing.Revision(),
		prices: in.prices.Revision(), shorts: in.shorts.Revision(), seen: in.seen.Revision,
	}
	if s.sources.Counts != nil && len(class.Status.CapacityReservations) > 0 {
		in.counts = s.sources.Counts.Revision()
	}
	if s.sources.Shifted != nil {
		in.shifted, in.key.shifted = s.sources.Shifted()
	}
	if in.placement != nil {
		in.key.placement = fmt.Sprint(*in.placement)
	}
	return in, nil
}

// digest is the part of a status that matters. The order of subnets does not: it changes
// with every address that is taken.
func digest(status *awsv1.EC2NodeClassStatus) string {
	var parts []string
	for _, n := range status.Subnets {
		parts = append(parts, n.ID+" "+n.Zone+" "+n.ZoneID)
	}
	slices.Sort(parts)
	for _, r := range status.CapacityReservations {
		parts = append(parts, r.ID+" "+r.State)
	}
	return strings.Join(append(parts, ImagesOf(status.AMIs)), "\n")
}

func (s *Catalogs) make(class *awsv1.EC2NodeClass, in inputs) (Offer, error) {
	p, err := instancetype.Params{
		Region: s.sources.Region, OtherZones: in.listing.Zones,
		Types: in.listing.Types, Discovered: in.listing.Discovered,
		LearnedMemory: in.seen.Bytes, Prices: in.prices,
		MemoryOverhead: s.sources.MemoryOverhead, ReservedENIs: s.sources.ReservedENIs,
	}.ForClass(class)
	if err != nil {
		return Offer{}, err
	}
	if s.sources.Counts != nil {
		p.Reservations = s.sources.Counts.Offered(class.Status.CapacityReservations)
	}
	group := ""
	if in.placement != nil {
		p.Class.PlacementGroup = &in.placement.PlacementGroup
		group = in.placement.ID
	}
	closed := closedZones(class.Status.Subnets, in.shorts, in.shifted)
	p.Unavailable = func(instanceType, zone, capacityType string) bool {
		if capacityType == catalog.Reserved { // the reservation's count says it; and addresses do not matter to it
			return closed[zone].shifted
		}
		return closed[zone].shifted || closed[zone].full ||
			in.shorts.Has(Shortage{InstanceType: instanceType, Zone: zone, CapacityType: capacityType, Group: group})
	}
	if group != "" {
		p.UnavailableIn = func(instanceType, zone, capacityType, partition string) bool {
			return in.shorts.Has(Shortage{InstanceType: instanceType, Zone: zone, CapacityType: capacityType, Group: group, Partition: partition})
		}
	}
	offer := offerOf(instancetype.Build(p))
	date(offer.Catalog, in.shorts, group)
	return offer, nil
}

// date notes on each short offering since when it has been short.
func date(c *catalog.Catalog, shorts ShortageView, group string) {
	if shorts.Next().IsZero() {
		return
	}
	for i := range c.Types {
		t := &c.Types[i]
		for j := range t.Offerings {
			if o := &t.Offerings[j]; !o.Available && o.CapacityType != catalog.Reserved {
				o.Outage = shorts.Outage(Shortage{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Group: group})
			}
		}
	}
}

// closure says why nothing can be launched in a zone.
type closure struct{ full, shifted bool }

// closedZones are zones of which all subnets are full, and those that traffic is led away
// from.
func closedZones(subnets []awsv1.Subnet, shorts ShortageView, shifted map[string]bool) map[string]closure {
	closed := map[string]closure{}
	for _, n := range subnets {
		c, known := closed[n.Zone]
		full := shorts.HasSubnet(n.ID)
		c.full = full && (c.full || !known)
		c.shifted = c.shifted || shifted[n.ZoneID]
		closed[n.Zone] = c
	}
	maps.DeleteFunc(closed, func(_ string, c closure) bool { return c == closure{} })
	return closed
}

func offerOf(r instancetype.Result) Offer {
	o := Offer{Catalog: &r.Catalog, Incompatible: map[string]bool{}}
	for _, remark := range r.Remarks {
		if remark.Why == instancetype.Incompatible {
			o.Incompatible[remark.Type] = true
		}
	}
	return o
}
