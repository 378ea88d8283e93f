package offering

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/facts"
)

func gpu(maker, name string, count int32) types.GpuDeviceInfo {
	return types.GpuDeviceInfo{Manufacturer: aws.String(maker), Name: aws.String(name), Count: aws.Int32(count), MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: aws.Int32(16384)}}
}

func neuronDevice(name string, count, cores int32) types.NeuronDeviceInfo {
	return types.NeuronDeviceInfo{Name: aws.String(name), Count: aws.Int32(count), CoreInfo: &types.NeuronDeviceCoreInfo{Count: aws.Int32(cores)}}
}

// Devices are named only when they are all of one kind, and counted in any case.
func TestDevices(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		info types.InstanceTypeInfo
		want facts.Type // what is said of devices
	}{
		"one kind of GPU": {
			types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("NVIDIA", "Tesla T4", 4)}}},
			facts.Type{GPUs: 4, GPU: "tesla-t4", GPUManufacturer: "nvidia", GPUMemoryMiB: 16384, Accelerators: -1, NeuronDevices: -1, NeuronCores: -1},
		},
		"a part of a GPU": {
			types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("NVIDIA", "L4", 0)}}},
			facts.Type{GPUs: 0, GPU: "l4", GPUManufacturer: "nvidia", GPUMemoryMiB: 16384, Accelerators: -1, NeuronDevices: -1, NeuronCores: -1},
		},
		"two kinds of GPU": {
			types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("NVIDIA", "L4", 1), gpu("NVIDIA", "T4", 2)}}},
			facts.Type{GPUs: 3, GPUManufacturer: "nvidia", GPUMemoryMiB: -1, Accelerators: -1, NeuronDevices: -1, NeuronCores: -1},
		},
		"Neuron goes before the older way to say it": {
			types.InstanceTypeInfo{
				NeuronInfo:               &types.NeuronInfo{NeuronDevices: []types.NeuronDeviceInfo{neuronDevice("Inferentia2", 6, 2)}},
				InferenceAcceleratorInfo: &types.InferenceAcceleratorInfo{Accelerators: []types.InferenceDeviceInfo{{Name: aws.String("other"), Count: aws.Int32(1)}}},
			},
			facts.Type{Accelerators: 6, Accelerator: "inferentia2", AcceleratorManufacturer: "aws", NeuronDevices: 6, NeuronCores: 12, GPUs: -1, GPUMemoryMiB: -1},
		},
		"two kinds of Neuron devices": {
			types.InstanceTypeInfo{NeuronInfo: &types.NeuronInfo{NeuronDevices: []types.NeuronDeviceInfo{neuronDevice("A", 1, 4), neuronDevice("B", 2, 8)}}},
			facts.Type{Accelerators: -1, NeuronDevices: 3, NeuronCores: 4, GPUs: -1, GPUMemoryMiB: -1},
		},
		"an accelerator that is not Neuron": {
			types.InstanceTypeInfo{InferenceAcceleratorInfo: &types.InferenceAcceleratorInfo{Accelerators: []types.InferenceDeviceInfo{
				{Name: aws.String("AI 100"), Manufacturer: aws.String("Qualcomm"), Count: aws.Int32(8)}}}},
			facts.Type{Accelerators: 8, Accelerator: "ai-100", AcceleratorManufacturer: "qualcomm", NeuronDevices: -1, NeuronCores: -1, GPUs: -1, GPUMemoryMiB: -1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := typeOf(&tc.info, facts.Blank("x.large"))
			got := facts.Type{
				GPUs: have.GPUs, GPU: have.GPU, GPUManufacturer: have.GPUManufacturer, GPUMemoryMiB: have.GPUMemoryMiB,
				Accelerators: have.Accelerators, Accelerator: have.Accelerator, AcceleratorManufacturer: have.AcceleratorManufacturer,
				NeuronDevices: have.NeuronDevices, NeuronCores: have.NeuronCores,
			}
			if got != tc.want {
				t.Errorf("devices\n%+v, want\n%+v", got, tc.want)
			}
		})
	}
}

// Types that are not built in come last, by name, and know what EC2 says.
func TestNewTypes(t *testing.T) {
	t.Parallel()
	l := listingOf([]types.InstanceTypeInfo{
		{InstanceType: "z9.small"}, {InstanceType: "m5.large"}, {InstanceType: "z9.large", SupportedUsageClasses: []types.UsageClassType{"spot"},
			NetworkInfo: &types.NetworkInfo{EnaSupport: types.EnaSupportUnsupported, DefaultNetworkCardIndex: aws.Int32(1), NetworkCards: []types.NetworkCardInfo{
				{NetworkCardIndex: aws.Int32(1), MaximumNetworkInterfaces: aws.Int32(7)}, {NetworkCardIndex: aws.Int32(0), MaximumNetworkInterfaces: aws.Int32(5)}}}},
	}, map[string][]string{"m5.large": {"a", "b"}, "z9.large": {"b", "c"}, "gone.large": {"d"}})
	var names []string
	for _, t := range l.Types {
		names = append(names, t.Name)
	}
	if !slices.Equal(names, []string{"m5.large", "z9.large", "z9.small"}) || !slices.Equal(l.Zones, []string{"a", "b", "c"}) {
		t.Errorf("types %v in zones %v", names, l.Zones)
	}
	d := l.Discovered["z9.large"]
	if !d.NoENA || !slices.Equal(d.CardInterfaces, []int64{5, 7}) || l.Types[1].CardInterfaces != 7 || !slices.Equal(d.CapacityTypes, []string{"spot"}) {
		t.Errorf("discovered %+v, interfaces of the default card %d", d, l.Types[1].CardInterfaces)
	}
	if zones := l.Discovered["z9.small"].Zones; zones == nil || len(zones) != 0 {
		t.Errorf("a type that is offered nowhere is offered in %v", zones)
	}
}
