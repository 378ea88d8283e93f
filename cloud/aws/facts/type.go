package facts

// Quantity is a count or a size. A value without a source is Unknown, which is not zero.
type Quantity int64

// Unknown is a quantity that is not known.
const Unknown Quantity = -1

// Known reports whether some source tells the quantity.
func (q Quantity) Known() bool { return q >= 0 }

// Or is the quantity, or the fallback when it is not known.
func (q Quantity) Or(fallback int64) int64 {
	if q.Known() {
		return int64(q)
	}
	return fallback
}

// Type is what is known of one instance type. Texts are empty and quantities Unknown
// where no source tells.
type Type struct {
	// Name is Family, a dot, and Size.
	Name, Family, Size string

	VCPUs     Quantity
	MemoryMiB Quantity
	// Architecture is what Kubernetes calls it. It is empty for Macs, which no
	// Kubernetes node runs on.
	Architecture    string
	CPUManufacturer string
	// ClockMHz is the sustained clock; 0 where EC2 publishes none.
	ClockMHz Quantity

	// GPUs is 0 for types with a part of a GPU, which have a name and memory all the same.
	GPUs            Quantity
	GPU             string
	GPUManufacturer string
	GPUMemoryMiB    Quantity // of each

	Accelerators            Quantity
	Accelerator             string
	AcceleratorManufacturer string
	NeuronDevices           Quantity
	NeuronCores             Quantity

	LocalNVMeGB Quantity // decimal gigabytes
	BareMetal   bool
	Hypervisor  string // nitro or xen; empty for bare metal too
	// EncryptionInTransit is true or false.
	EncryptionInTransit string

	NetworkMbps Quantity // the bandwidth that can be sustained
	EBSMbps     Quantity // the most, where EBS optimisation is the default

	Interfaces     Quantity // over all network cards
	CardInterfaces Quantity // of the default card
	Cards          Quantity
	// Addresses is how many IPv4 addresses each interface may have.
	Addresses Quantity
	// PodLimit is how many pods can have an address, with every interface of the
	// default card in use.
	PodLimit         Quantity
	BranchInterfaces Quantity
	EFAInterfaces    Quantity

	// Documented types are on the reference page of instance types, against which the
	// formulas of allocatable resources were checked.
	Documented bool
	// Sources are the names of the sources that tell of the type, joined by plus signs.
	Sources string
	// Complete types have documented attributes, interface limits and a price.
	Complete bool
}
