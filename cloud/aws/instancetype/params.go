package instancetype

import (
	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// Params are all that a catalogue depends on.
type Params struct {
	Region string
	// Zones are those in which the class has subnets.
	Zones []facts.Zone
	// OtherZones are the names of further zones of the region. Types are offered there
	// too, but the class cannot use them.
	OtherZones []string
	// Types are the facts to build from; nil stands for the built-in table.
	Types []facts.Type
	// Discovered is what EC2 says of types in this region. Nil means that EC2 was not asked:
	// then every type is taken to be offered everywhere, in both ways. Otherwise a type
	// that is missing here is not offered.
	Discovered map[string]Discovered
	// LearnedMemory is the memory, in bytes, that nodes of a type were seen to have.
	LearnedMemory map[string]int64
	// Prices tells what instances cost. Without it nothing has a price.
	Prices Prices
	// Unavailable tells of offers that cannot be had at the moment; nil means that all can.
	Unavailable func(instanceType, zone, capacityType string) bool
	// UnavailableIn tells the same of single partitions of the placement group.
	UnavailableIn func(instanceType, zone, capacityType, partition string) bool
	Reservations  []Reservation
	// MemoryOverhead is the part of a machine's memory that the hypervisor and the
	// kernel are taken to keep, such as 0.075.
	MemoryOverhead float64
	// ReservedENIs are network interfaces that cannot be used for pods.
	ReservedENIs int64
	Class        Class
}

// Defaults of settings that Params carry.
const (
	DefaultMemoryOverhead = 0.075
	// DefaultSpotPercent is an estimate, used where no spot price is known: what a spot
	// instance costs in percent of its on-demand price.
	DefaultSpotPercent = 70
)

// Defaults are parameters for planning without AWS: all zones of the region, built-in
// prices, estimated spot prices, and a class of AL2023 nodes.
func Defaults(region string) Params {
	zones, _ := facts.ZonesOf(region)
	return Params{
		Region:         region,
		Zones:          zones,
		Prices:         BuiltIn(region, DefaultSpotPercent),
		MemoryOverhead: DefaultMemoryOverhead,
		Class:          Class{Family: awsv1.FamilyAL2023},
	}
}

// Discovered is what EC2 says of one type and no table holds. Lists that are nil are
// taken as not asked for, and speak against nothing.
type Discovered struct {
	Zones         []string
	CapacityTypes []string
	// Features are those of the processor, such as nested-virtualization.
	Features []string
	// PlacementStrategies are those of placement groups that may hold the type.
	PlacementStrategies []string
	// CardInterfaces is the most interfaces of each network card, by the card's index.
	CardInterfaces []int64
	// NoENA is set for types without the enhanced network adapter.
	NoENA bool
}

// Reservation is a capacity reservation that the class may use.
type Reservation struct {
	ID            string
	InstanceType  string
	Zone          string
	Kind          string // default or capacity-block
	Interruptible bool
	// Available is how many instances it still holds.
	Available int64
	// Expiring reservations end too soon for a new instance.
	Expiring bool
}

// Class is the part of an EC2NodeClass that decides what a node offers.
type Class struct {
	// Family of machine images: one of the families of the API. Any other name behaves
	// as AL2.
	Family  string
	Kubelet Kubelet
	// BlockDevices replace those of the family when there are any.
	BlockDevices []BlockDevice
	// RAID0 makes the instance store the place for pods' storage.
	RAID0 bool
	// NetworkInterfaces is nil when the class leaves them to us; an empty list is a list.
	NetworkInterfaces    []NetworkInterface
	ConnectionTracking   bool
	NestedVirtualization bool
	PlacementGroup       *PlacementGroup
}

// Kubelet is the part of the kubelet's configuration that matters to schedulers.
type Kubelet struct {
	MaxPods     *int64
	PodsPerCore int64
	// SystemReserved and KubeReserved hold one amount for each resource that the user
	// named, zeros included. See ParseReserved.
	SystemReserved []model.Amount
	KubeReserved   []model.Amount
	// EvictionHard are the thresholds that the user named. See ParseThreshold.
	EvictionHard []Threshold
}

// BlockDevice is a volume of the instance.
type BlockDevice struct {
	Name string
	Root bool // holds the kubelet's files
	// Bytes is the size, or zero when the snapshot decides.
	Bytes int64
}

// NetworkInterface is one configured interface.
type NetworkInterface struct {
	Card, Device int64
	EFAOnly      bool
}

// PlacementGroup is the group that instances are launched into.
type PlacementGroup struct {
	ID         string
	Strategy   string // cluster, partition or spread
	Partitions int    // of strategy partition
}

// efaOnly counts the interfaces that only EFA can use.
func (c *Class) efaOnly(counts func(NetworkInterface) bool) int64 {
	n := int64(0)
	for _, i := range c.NetworkInterfaces {
		if i.EFAOnly && counts(i) {
			n++
		}
	}
	return n
}

func onAnyCard(NetworkInterface) bool { return true }

func onFirstCard(i NetworkInterface) bool { return i.Card == 0 }
