package facts

// Quantity is a count or a size. A value that no source gives is Unknown, which is not zero.
type Quantity int64

// Unknown is a quantity that is not known.
const Unknown Quantity = -1

// Known reports whether a source gives the quantity.
func (q Quantity) Known() bool { return q >= 0 }

// Or returns the quantity, or the fallback if it is not known.
func (q Quantity) Or(fallback int64) int64 {
	if q.Known() {
		return int64(q)
	}
	return fallback
}

// Type is what Tenon knows about one instance type. Where no source gives a value, texts are empty and
// quantities Unknown.
type Type struct {
	// Name is Family, a dot, and Size.
	Name, Family, Size string

	VCPUs     Quantity
	MemoryMiB Quantity
	// Architecture has the name that Kubernetes uses. It is empty for Macs, on which Kubernetes nodes do not
	// run.
	Architecture    string
	CPUManufacturer string
	// ClockMHz is the sustained clock; 0 where EC2 publishes none.
	ClockMHz Quantity

	// GPUs is 0 for types with a fraction of a GPU; they still have a GPU's name and memory.
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
	// Addresses is how many IPv4 addresses an interface can have.
	Addresses Quantity
	// PodLimit is how many pods can have an address when every interface of the default card is in use.
	PodLimit         Quantity
	BranchInterfaces Quantity
	EFAInterfaces    Quantity

	// Documented types are on the reference page of instance types; the tests check the formulas of
	// allocatable resources against that page.
	Documented bool
	// Sources names the sources that describe the type, joined by plus signs.
	Sources string
	// Complete types have documented attributes, interface limits and a price.
	Complete bool
}
