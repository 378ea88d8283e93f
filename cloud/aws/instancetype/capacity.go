package instancetype

import (
	"math"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"

	"tenon/core/model"
)

// size is the capacity of a type, with intermediate figures that overheads need.
type size struct {
	capacity model.Resources
	// estimatedMemory is the memory that a type has if no node of it has been seen.
	estimatedMemory int64
	// interfacePods is how many pods could have an address if no interface were reserved.
	interfacePods int64
}

// leastOfTen is how many tenths of its estimate a type has at least, even if its nodes report less. The least
// figure counts for months and for all pools, so one node that reports a wrong figure or boots wrongly must
// not make its type useless.
const leastOfTen = 8

func (b *builder) sizeOf(t *facts.Type) size {
	s := size{
		estimatedMemory: EstimatedMemory(t, b.MemoryOverhead),
		interfacePods:   b.interfacePods(t, 0),
	}
	memory := s.estimatedMemory
	if learned, seen := b.LearnedMemory[t.Name]; seen {
		memory = max(learned, s.estimatedMemory/10*leastOfTen)
	}
	s.capacity = model.NewResources(b.devices(t)...)
	s.capacity.CPU = int64(t.VCPUs) * 1000
	s.capacity.Memory = memory
	s.capacity.Storage = b.storage(t)
	s.capacity.Pods = b.pods(t)
	return s
}

// EstimatedMemory is how many bytes of memory a node of the type is likely to see, before one has been seen.
// Firmware on arm64 keeps 64 MiB, and the hypervisor and the kernel keep a part of the rest, rounded up to a
// whole MiB.
func EstimatedMemory(t *facts.Type, overhead float64) int64 {
	published := int64(t.MemoryMiB)
	if t.Architecture == "arm64" {
		published -= 64
	}
	// The setting is a fraction. The product is rounded like a float, so that the estimate is the one that
	// nodes have been compared with so far.
	kept := int64(math.Ceil(float64(published*mebi) * overhead / float64(mebi)))
	return (published - kept) * mebi
}

// pods is how many pods the kubelet will take.
func (b *builder) pods(t *facts.Type) int64 {
	kubelet := &b.Class.Kubelet
	pods := int64(110) // the kubelet's default
	switch {
	case kubelet.MaxPods != nil:
		pods = *kubelet.MaxPods
	case !b.traits.windows():
		pods = b.interfacePods(t, b.ReservedENIs)
	}
	if kubelet.PodsPerCore > 0 && b.traits.podsPerCore {
		pods = min(pods, kubelet.PodsPerCore*int64(t.VCPUs))
	}
	return pods
}

// interfacePods is how many pods can have their own address: every interface of the default card keeps one
// address for itself, and two pods on the host's network need none. Without an interface the result is zero.
// It ignores prefix delegation and custom networking: their users set maxPods or reserve interfaces.
func (b *builder) interfacePods(t *facts.Type, reserved int64) int64 {
	interfaces, addresses := interfaceLimits(t)
	left := interfaces - reserved - b.Class.efaOnly(onFirstCard)
	if left <= 0 {
		return 0
	}
	return left*(addresses-1) + 2
}

// interfaceLimits returns the number of interfaces of the default card and of addresses per interface. For a
// few high-performance types only the number of pods is known; machines of that size have 50 addresses per
// interface.
func interfaceLimits(t *facts.Type) (interfaces, addresses int64) {
	if t.CardInterfaces.Known() && t.Addresses.Known() {
		return int64(t.CardInterfaces), int64(t.Addresses)
	}
	const usual = 50
	return (int64(t.PodLimit) - 2) / (usual - 1), usual
}

// storage is the size of the file system that holds the pods' files, by the first rule that applies.
func (b *builder) storage(t *facts.Type) int64 {
	devices := b.Class.BlockDevices
	if b.Class.RAID0 && t.LocalNVMeGB.Or(0) > 0 {
		return int64(t.LocalNVMeGB) * 1_000_000_000
	}
	for _, d := range devices {
		if d.Root && d.Bytes > 0 {
			return d.Bytes
		}
	}
	if b.Class.Family == awsv1.FamilyCustom && len(devices) > 0 {
		if last := devices[len(devices)-1]; last.Bytes > 0 {
			return last.Bytes
		}
		return b.traits.bytes
	}
	for _, d := range devices {
		if d.Name == b.traits.device && d.Bytes > 0 {
			return d.Bytes
		}
	}
	return b.traits.bytes
}

// devices returns the extended resources.
func (b *builder) devices(t *facts.Type) []model.Amount {
	efa := t.EFAInterfaces.Or(0)
	if b.Class.NetworkInterfaces != nil {
		efa = b.Class.efaOnly(onAnyCard)
	}
	amounts := []model.Amount{
		{Name: Neuron, Value: t.NeuronDevices.Or(0)},
		{Name: NeuronCore, Value: t.NeuronCores.Or(0)},
		{Name: EFA, Value: efa},
		{Name: PodENI, Value: t.BranchInterfaces.Or(0)},
	}
	if resource := gpuResource(t.GPUManufacturer); resource != "" {
		amounts = append(amounts, model.Amount{Name: resource, Value: t.GPUs.Or(0)})
	}
	if b.traits.windows() {
		amounts = append(amounts, model.Amount{Name: PrivateIPv4, Value: max(t.Addresses.Or(1)-1, 0)})
	}
	return amounts
}

// gpuResource is the resource under which a manufacturer's device plugin counts its GPUs.
func gpuResource(manufacturer string) string {
	switch manufacturer {
	case "nvidia":
		return NvidiaGPU
	case "amd":
		return AMDGPU
	case "habana":
		return HabanaGaudi
	}
	return ""
}
