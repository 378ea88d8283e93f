package ec2

import (
	"strconv"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type typesInput struct {
	listing
	Names []string `query:"InstanceType"`
}

type typesOutput struct {
	Types []typeItem `xml:"instanceTypeSet>item"`
	Next  string     `xml:"nextToken,omitempty"`
}

type typeItem struct {
	Name           string          `xml:"instanceType"`
	Usage          []string        `xml:"supportedUsageClasses>item"`
	RootTypes      []string        `xml:"supportedRootDeviceTypes>item"`
	Virtualization []string        `xml:"supportedVirtualizationTypes>item"`
	BareMetal      bool            `xml:"bareMetal"`
	Burstable      bool            `xml:"burstablePerformanceSupported"`
	Hypervisor     string          `xml:"hypervisor,omitempty"`
	Processor      processorItem   `xml:"processorInfo"`
	CPU            cpuItem         `xml:"vCpuInfo"`
	Memory         int64           `xml:"memoryInfo>sizeInMiB"`
	HasStorage     bool            `xml:"instanceStorageSupported"`
	Storage        *storageItem    `xml:"instanceStorageInfo"`
	EBS            ebsItem         `xml:"ebsInfo"`
	Network        networkInfoItem `xml:"networkInfo"`
	GPU            *gpuInfoItem    `xml:"gpuInfo"`
	Inference      *inferenceItem  `xml:"inferenceAcceleratorInfo"`
	Neuron         *neuronItem     `xml:"neuronInfo"`
	Strategies     []string        `xml:"placementGroupInfo>supportedStrategies>item"`
	Enclaves       string          `xml:"nitroEnclavesSupport"`
}

type processorItem struct {
	Architectures []string `xml:"supportedArchitectures>item"`
	Clock         float64  `xml:"sustainedClockSpeedInGhz,omitempty"`
	Features      []string `xml:"supportedFeatures>item"`
	Manufacturer  string   `xml:"manufacturer,omitempty"`
}

type cpuItem struct {
	VCPUs int64 `xml:"defaultVCpus"`
}

type storageItem struct {
	SizeGB int64  `xml:"totalSizeInGB"`
	NVMe   string `xml:"nvmeSupport"`
}

type ebsItem struct {
	Optimized string        `xml:"ebsOptimizedSupport"`
	Info      *ebsSpeedItem `xml:"ebsOptimizedInfo"`
	NVMe      string        `xml:"nvmeSupport"`
}

type ebsSpeedItem struct {
	Maximum int64 `xml:"maximumBandwidthInMbps"`
}

type networkInfoItem struct {
	Performance string     `xml:"networkPerformance"`
	Interfaces  int64      `xml:"maximumNetworkInterfaces"`
	CardCount   int64      `xml:"maximumNetworkCards"`
	DefaultCard int        `xml:"defaultNetworkCardIndex"`
	Cards       []cardItem `xml:"networkCards>item"`
	Addresses   int64      `xml:"ipv4AddressesPerInterface"`
	Addresses6  int64      `xml:"ipv6AddressesPerInterface"`
	Six         bool       `xml:"ipv6Supported"`
	ENA         string     `xml:"enaSupport"`
	EFA         bool       `xml:"efaSupported"`
	EFAInfo     *efaItem   `xml:"efaInfo"`
	Encrypted   bool       `xml:"encryptionInTransitSupported"`
}

type cardItem struct {
	Index       int    `xml:"networkCardIndex"`
	Performance string `xml:"networkPerformance"`
	Interfaces  int64  `xml:"maximumNetworkInterfaces"`
}

type efaItem struct {
	Interfaces int64 `xml:"maximumEfaInterfaces"`
}

type gpuInfoItem struct {
	GPUs  []gpuItem `xml:"gpus>item"`
	Total int64     `xml:"totalGpuMemoryInMiB"`
}

type gpuItem struct {
	Name         string `xml:"name"`
	Manufacturer string `xml:"manufacturer"`
	Count        int64  `xml:"count"`
	Memory       int64  `xml:"memoryInfo>sizeInMiB"`
}

type inferenceItem struct {
	Accelerators []acceleratorItem `xml:"accelerators>member"`
}

type acceleratorItem struct {
	Name         string `xml:"name"`
	Manufacturer string `xml:"manufacturer"`
	Count        int64  `xml:"count"`
}

type neuronItem struct {
	Devices []neuronDeviceItem `xml:"neuronDevices>item"`
}

type neuronDeviceItem struct {
	Name  string `xml:"name"`
	Count int64  `xml:"count"`
	Cores int64  `xml:"coreInfo>count"`
}

func describeTypes(r *accounts.Region, in *typesInput) (*typesOutput, error) {
	if err := whole(in.listing, in.Names, "instanceTypesSet"); err != nil {
		return nil, err
	}
	kinds, err := pick(in.Names, r.Market.Types(), func(name string) (facts.Type, error) {
		if t, ok := r.Market.Type(name); ok {
			return t, nil
		}
		return facts.Type{}, wire.Errorf("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", name)
	})
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, kinds, listed[facts.Type]{
		key:        func(t facts.Type) string { return t.Name },
		attributes: func(t facts.Type) (wire.Attributes, []wire.Tag) { return typeAttributes(t), nil },
		limits:     wire.Limits{Min: 5, Max: 100},
	})
	out := &typesOutput{Next: next}
	for _, t := range found {
		out.Types = append(out.Types, itemOfType(t))
	}
	return out, err
}

func typeAttributes(t facts.Type) wire.Attributes {
	return wire.Attributes{
		"instance-type": one(t.Name), "bare-metal": truth(t.BareMetal), "supported-virtualization-type": one("hvm"),
		"processor-info.supported-architecture": one(architecture(t)), "vcpu-info.default-vcpus": one(strconv.FormatInt(t.VCPUs.Or(0), 10)),
		"memory-info.size-in-mib": one(strconv.FormatInt(t.MemoryMiB.Or(0), 10)), "supported-usage-class": {"on-demand", "spot"},
		"instance-storage-supported": truth(t.LocalNVMeGB.Or(0) > 0), "hypervisor": one(t.Hypervisor),
		"burstable-performance-supported": truth(strings.HasPrefix(t.Family, "t")), "network-info.efa-supported": truth(t.EFAInterfaces.Or(0) > 0),
	}
}

func architecture(t facts.Type) string {
	if t.Architecture == "amd64" {
		return "x86_64"
	}
	return t.Architecture
}

// manufacturers maps names to the spelling of EC2; users see the lower case.
var manufacturers = map[string]string{"intel": "Intel", "amd": "AMD", "aws": "AWS", "nvidia": "NVIDIA", "habana": "Habana"}

func spelled(name string) string {
	if s, ok := manufacturers[name]; ok {
		return s
	}
	return name
}

func itemOfType(t facts.Type) typeItem {
	item := typeItem{
		Name: t.Name, Usage: []string{"on-demand", "spot"}, RootTypes: []string{"ebs"}, Virtualization: []string{"hvm"}, BareMetal: t.BareMetal,
		Burstable: strings.HasPrefix(t.Family, "t"), Hypervisor: t.Hypervisor, CPU: cpuItem{t.VCPUs.Or(0)}, Memory: t.MemoryMiB.Or(0),
		Processor: processorItem{
			Architectures: []string{architecture(t)}, Clock: float64(t.ClockMHz.Or(0)) / 1000, Manufacturer: spelled(t.CPUManufacturer),
		},
		EBS: ebsItem{Optimized: "unsupported", NVMe: "required"}, Network: itemOfNetwork(t),
		Strategies: []string{"cluster", "partition", "spread"}, Enclaves: "unsupported",
	}
	if t.BareMetal {
		item.Hypervisor = ""
	}
	if t.Hypervisor == "nitro" && t.VCPUs.Or(0) >= 4 && !item.Burstable {
		item.Enclaves = "supported"
	}
	if item.Burstable {
		item.Strategies = []string{"partition", "spread"}
	}
	if size := t.LocalNVMeGB.Or(0); size > 0 {
		item.HasStorage, item.Storage = true, &storageItem{size, "required"}
	}
	if speed := t.EBSMbps.Or(0); speed > 0 {
		item.EBS.Optimized, item.EBS.Info = "default", &ebsSpeedItem{speed}
	}
	accelerate(&item, t)
	return item
}

func itemOfNetwork(t facts.Type) networkInfoItem {
	n := networkInfoItem{
		Performance: "Moderate", Interfaces: t.Interfaces.Or(2), CardCount: t.Cards.Or(1), Addresses: t.Addresses.Or(4), Addresses6: t.Addresses.Or(4),
		Six: true, ENA: "required", Encrypted: t.EncryptionInTransit == "true",
	}
	if speed := t.NetworkMbps; speed.Known() {
		n.Performance = strconv.FormatFloat(float64(speed)/1000, 'f', -1, 64) + " Gigabit"
	}
	if t.Hypervisor == "xen" {
		n.ENA = "supported"
	}
	if efa := t.EFAInterfaces.Or(0); efa > 0 {
		n.EFA, n.EFAInfo = true, &efaItem{efa}
	}
	onDefault := t.CardInterfaces.Or(n.Interfaces)
	rest := n.Interfaces - onDefault
	for card := range int(n.CardCount) {
		c := cardItem{Index: card, Performance: n.Performance, Interfaces: onDefault}
		if card > 0 {
			c.Interfaces = rest / (n.CardCount - 1)
		}
		n.Cards = append(n.Cards, c)
	}
	return n
}

// accelerate adds a type's accelerators.
func accelerate(item *typeItem, t facts.Type) {
	if t.GPU != "" {
		memory, count := t.GPUMemoryMiB.Or(0), t.GPUs.Or(0)
		item.GPU = &gpuInfoItem{[]gpuItem{{t.GPU, spelled(t.GPUManufacturer), count, memory}}, memory * max(count, 1)}
	}
	if devices := t.NeuronDevices.Or(0); devices > 0 {
		item.Neuron = &neuronItem{[]neuronDeviceItem{{t.Accelerator, devices, t.NeuronCores.Or(0) / devices}}}
	}
	if t.Accelerator != "" && strings.HasPrefix(t.Family, "inf") {
		item.Inference = &inferenceItem{[]acceleratorItem{{t.Accelerator, spelled(t.AcceleratorManufacturer), t.Accelerators.Or(1)}}}
	}
}

type offeringsInput struct {
	listing
	LocationType string
}

type offeringsOutput struct {
	Offerings []offeringItem `xml:"instanceTypeOfferingSet>item"`
	Next      string         `xml:"nextToken,omitempty"`
}

type offeringItem struct {
	Type     string `xml:"instanceType"`
	Kind     string `xml:"locationType"`
	Location string `xml:"location"`
}

func describeOfferings(r *accounts.Region, in *offeringsInput) (*offeringsOutput, error) {
	kind := in.LocationType
	if kind == "" {
		kind = "region"
	}
	var all []offeringItem
	for _, t := range r.Market.Types() {
		switch kind {
		case "region":
			all = append(all, offeringItem{t.Name, kind, r.Name})
		case "availability-zone", "availability-zone-id":
			for _, z := range r.Zones {
				location := map[bool]string{true: z.Name, false: z.ID}[kind == "availability-zone"]
				if r.Market.Offered(t, z.Name) {
					all = append(all, offeringItem{t.Name, kind, location})
				}
			}
		default:
			return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for locationType.", kind)
		}
	}
	found, next, err := list(in.listing, all, listed[offeringItem]{
		key: func(o offeringItem) string { return o.Type + " " + o.Location },
		attributes: func(o offeringItem) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"instance-type": one(o.Type), "location": one(o.Location)}, nil
		},
		limits: wire.Limits{Min: 5, Max: 1000},
	})
	return &offeringsOutput{found, next}, err
}
