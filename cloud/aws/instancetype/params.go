package instancetype

import (
	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// Params is everything that a catalogue depends on.
type Params struct {
	Region string
	// Zones lists the zones in which the class has subnets.
	Zones []facts.Zone
	// OtherZones names the other zones of the region. EC2 offers types there too, but the class cannot use
	// them.
	OtherZones []string
	// Types lists the facts to build from; nil stands for the built-in table.
	Types []facts.Type
	// Discovered is EC2's description of the types in this region. Nil means that EC2 was not asked: then
	// Build assumes that every zone offers every type, as on-demand and as spot. Otherwise the region does
	// not offer a type that is missing here.
	Discovered map[string]Discovered
	// LearnedMemory is the memory, in bytes, that nodes of a type were seen to have.
	LearnedMemory map[string]int64
	// Prices says what instances cost. If it is nil, nothing has a price.
	Prices Prices
	// Unavailable reports offers that cannot be bought at the moment; nil means that all can.
	Unavailable func(instanceType, zone, capacityType string) bool
	// UnavailableIn reports the same for single partitions of the placement group.
	UnavailableIn func(instanceType, zone, capacityType, partition string) bool
	Reservations  []Reservation
	// MemoryOverhead is the assumed part of a machine's memory that the hypervisor and the kernel keep, such
	// as 0.075.
	MemoryOverhead float64
	// ReservedENIs are network interfaces that cannot be used for pods.
	ReservedENIs int64
	Class        Class
}

// Defaults for settings in Params.
const (
	DefaultMemoryOverhead = 0.075
	// DefaultSpotPercent is an estimate for offers without a known spot price: the cost of a spot instance in
	// percent of its on-demand price.
	DefaultSpotPercent = 70
)

// Defaults returns parameters for planning without AWS: all zones of the region, built-in prices, estimated
// spot prices, and a class of AL2023 nodes.
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

// Discovered is what EC2 says about one type and no table holds. A nil list means that EC2 was not asked, and
// rules nothing out.
type Discovered struct {
	Zones         []string
	CapacityTypes []string
	// Features are the features of the processor, such as nested-virtualization.
	Features []string
	// PlacementStrategies lists the strategies of placement groups that may hold the type.
	PlacementStrategies []string
	// CardInterfaces is the maximum number of interfaces of each network card, by the card's index.
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
	// Available is how many more instances it has room for.
	Available int64
	// Expiring reservations end too soon for a new instance.
	Expiring bool
}

// Class is the part of an EC2NodeClass that determines the offers and capacity of its nodes.
type Class struct {
	// Family is the family of machine images: one of the families of the API. Any other name behaves like
	// AL2.
	Family  string
	Kubelet Kubelet
	// BlockDevices replaces the family's devices unless it is empty.
	BlockDevices []BlockDevice
	// RAID0 puts the pods' storage on the instance store.
	RAID0 bool
	// NetworkInterfaces is nil if the class leaves the choice to Tenon; an empty list counts as a choice.
	NetworkInterfaces    []NetworkInterface
	ConnectionTracking   bool
	NestedVirtualization bool
	PlacementGroup       *PlacementGroup
}

// Kubelet is the part of the kubelet's configuration that matters for scheduling.
type Kubelet struct {
	MaxPods     *int64
	PodsPerCore int64
	// SystemReserved and KubeReserved hold one amount for each resource that the user
	// named, zeros included. See ParseReserved.
	SystemReserved []model.Amount
	KubeReserved   []model.Amount
	// EvictionHard lists the thresholds that the user named. See ParseThreshold.
	EvictionHard []Threshold
}

// BlockDevice is a volume of the instance.
type BlockDevice struct {
	Name string
	Root bool // the volume holds the kubelet's files
	// Bytes is the size; zero if the snapshot decides.
	Bytes int64
}

// NetworkInterface is a configured interface.
type NetworkInterface struct {
	Card, Device int64
	EFAOnly      bool
}

// PlacementGroup is the group that instances are launched into.
type PlacementGroup struct {
	ID         string
	Strategy   string // cluster, partition or spread
	Partitions int    // only for the strategy partition
}

// efaOnly counts the interfaces that carry only EFA traffic.
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
