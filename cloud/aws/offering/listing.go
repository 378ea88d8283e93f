package offering

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
)

func listingOf(infos []types.InstanceTypeInfo, zones map[string][]string) *Listing {
	builtIn, place := map[string]facts.Type{}, map[string]int{}
	for i, t := range facts.Types() {
		builtIn[t.Name], place[t.Name] = t, i+1
	}
	l := &Listing{Discovered: map[string]instancetype.Discovered{}}
	for i := range infos {
		info := &infos[i]
		name := string(info.InstanceType)
		base, known := builtIn[name]
		if !known {
			base = facts.Blank(name)
			place[name] = len(builtIn) + 1 // after all others, by name
		}
		l.Types = append(l.Types, typeOf(info, base))
		offered := slices.Compact(zones[name])
		l.Discovered[name] = discoveredOf(info, offered)
		l.Zones = append(l.Zones, offered...)
	}
	slices.Sort(l.Zones)
	l.Zones = slices.Compact(l.Zones)
	slices.SortFunc(l.Types, func(a, b facts.Type) int {
		return cmp.Or(cmp.Compare(place[a.Name], place[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return l
}

// typeOf is what is known of a type: what EC2 says over what is built in.
func typeOf(info *types.InstanceTypeInfo, t facts.Type) facts.Type {
	addProcessor(info, &t)
	addStorage(info, &t)
	addNetwork(info, &t)
	addGPUs(info, &t)
	addAccelerators(info, &t)
	return t
}

func addProcessor(info *types.InstanceTypeInfo, t *facts.Type) {
	if info.VCpuInfo != nil && info.VCpuInfo.DefaultVCpus != nil {
		t.VCPUs = facts.Quantity(*info.VCpuInfo.DefaultVCpus)
	}
	if info.MemoryInfo != nil && info.MemoryInfo.SizeInMiB != nil {
		t.MemoryMiB = facts.Quantity(*info.MemoryInfo.SizeInMiB)
	}
	if p := info.ProcessorInfo; p != nil {
		t.Architecture = architectureOf(p.SupportedArchitectures)
		t.CPUManufacturer = kebab(aws.ToString(p.Manufacturer))
		t.ClockMHz = facts.Quantity(math.Round(aws.ToFloat64(p.SustainedClockSpeedInGhz) * 1000))
	}
	t.BareMetal = aws.ToBool(info.BareMetal)
	t.Hypervisor = string(info.Hypervisor)
}

// architectureOf is the first one that Kubernetes has a name for.
func architectureOf(supported []types.ArchitectureType) string {
	for _, a := range supported {
		switch a {
		case types.ArchitectureTypeX8664:
			return "amd64"
		case types.ArchitectureTypeArm64:
			return "arm64"
		default: // 32 bits, and Macs
		}
	}
	return ""
}

func addStorage(info *types.InstanceTypeInfo, t *facts.Type) {
	t.LocalNVMeGB, t.EBSMbps = facts.Unknown, facts.Unknown
	if s := info.InstanceStorageInfo; s != nil && s.NvmeSupport != types.EphemeralNvmeSupportUnsupported && s.TotalSizeInGB != nil {
		t.LocalNVMeGB = facts.Quantity(*s.TotalSizeInGB)
	}
	if e := info.EbsInfo; e != nil && e.EbsOptimizedSupport == types.EbsOptimizedSupportDefault && e.EbsOptimizedInfo != nil {
		t.EBSMbps = quantity(e.EbsOptimizedInfo.MaximumBandwidthInMbps)
	}
}

func addNetwork(info *types.InstanceTypeInfo, t *facts.Type) {
	n := info.NetworkInfo
	if n == nil {
		return
	}
	t.EncryptionInTransit = strconv.FormatBool(aws.ToBool(n.EncryptionInTransitSupported))
	t.Interfaces, t.Addresses = quantity(n.MaximumNetworkInterfaces), quantity(n.Ipv4AddressesPerInterface)
	t.Cards = facts.Quantity(len(n.NetworkCards))
	for _, card := range n.NetworkCards {
		if aws.ToInt32(card.NetworkCardIndex) == aws.ToInt32(n.DefaultNetworkCardIndex) {
			t.CardInterfaces = quantity(card.MaximumNetworkInterfaces)
		}
	}
	t.EFAInterfaces = 0
	if n.EfaInfo != nil {
		t.EFAInterfaces = facts.Quantity(aws.ToInt32(n.EfaInfo.MaximumEfaInterfaces))
	}
}

// addGPUs counts all GPUs, and names them when they are of one kind.
func addGPUs(info *types.InstanceTypeInfo, t *facts.Type) {
	if info.GpuInfo == nil || len(info.GpuInfo.Gpus) == 0 {
		return
	}
	t.GPUs, t.GPU, t.GPUManufacturer, t.GPUMemoryMiB = 0, "", "", facts.Unknown
	for i, g := range info.GpuInfo.Gpus {
		maker := kebab(aws.ToString(g.Manufacturer))
		if i == 0 {
			t.GPUManufacturer = maker
		}
		if maker == t.GPUManufacturer {
			t.GPUs += facts.Quantity(aws.ToInt32(g.Count))
		}
	}
	if len(info.GpuInfo.Gpus) == 1 {
		g := info.GpuInfo.Gpus[0]
		t.GPU = kebab(aws.ToString(g.Name))
		if g.MemoryInfo != nil {
			t.GPUMemoryMiB = quantity(g.MemoryInfo.SizeInMiB)
		}
	}
}

// addAccelerators: the devices of Neuron go before what EC2 calls inference accelerators,
// which are the older way to tell the same.
func addAccelerators(info *types.InstanceTypeInfo, t *facts.Type) {
	if n := info.NeuronInfo; n != nil && len(n.NeuronDevices) > 0 {
		t.Accelerators, t.Accelerator, t.AcceleratorManufacturer = facts.Unknown, "", ""
		t.NeuronDevices, t.NeuronCores = 0, facts.Unknown
		for _, d := range n.NeuronDevices {
			t.NeuronDevices += facts.Quantity(aws.ToInt32(d.Count))
		}
		first := n.NeuronDevices[0]
		if first.CoreInfo != nil {
			t.NeuronCores = facts.Quantity(aws.ToInt32(first.Count) * aws.ToInt32(first.CoreInfo.Count))
		}
		if len(n.NeuronDevices) == 1 {
			t.Accelerators, t.Accelerator, t.AcceleratorManufacturer = quantity(first.Count), kebab(aws.ToString(first.Name)), "aws"
		}
		return
	}
	if a := info.InferenceAcceleratorInfo; a != nil && len(a.Accelerators) == 1 {
		first := a.Accelerators[0]
		t.Accelerators, t.Accelerator = quantity(first.Count), kebab(aws.ToString(first.Name))
		t.AcceleratorManufacturer = kebab(aws.ToString(first.Manufacturer))
	}
}

func discoveredOf(info *types.InstanceTypeInfo, zones []string) instancetype.Discovered {
	d := instancetype.Discovered{
		Zones:               append([]string{}, zones...),
		CapacityTypes:       []string{},
		Features:            []string{},
		PlacementStrategies: []string{},
	}
	for _, class := range info.SupportedUsageClasses {
		d.CapacityTypes = append(d.CapacityTypes, string(class))
	}
	if info.ProcessorInfo != nil {
		for _, feature := range info.ProcessorInfo.SupportedFeatures {
			d.Features = append(d.Features, string(feature))
		}
	}
	if info.PlacementGroupInfo != nil {
		for _, strategy := range info.PlacementGroupInfo.SupportedStrategies {
			d.PlacementStrategies = append(d.PlacementStrategies, string(strategy))
		}
	}
	if n := info.NetworkInfo; n != nil {
		d.NoENA = n.EnaSupport == types.EnaSupportUnsupported
		cards := slices.Clone(n.NetworkCards)
		slices.SortFunc(cards, func(a, b types.NetworkCardInfo) int {
			return cmp.Compare(aws.ToInt32(a.NetworkCardIndex), aws.ToInt32(b.NetworkCardIndex))
		})
		for _, card := range cards {
			d.CardInterfaces = append(d.CardInterfaces, int64(aws.ToInt32(card.MaximumNetworkInterfaces)))
		}
	}
	return d
}

func quantity[N int32 | int64](n *N) facts.Quantity {
	if n == nil {
		return facts.Unknown
	}
	return facts.Quantity(*n)
}

// kebab is how names are written in labels.
func kebab(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }
