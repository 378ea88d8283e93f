package instancetype

import (
	"fmt"
	"slices"
	"strings"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/scalar"
	"tenon/cloud/aws/facts"
)

// ForClass returns p for the nodes of a class: with what its spec says and, once subnets have been
// discovered, only in their zones. Only EC2 knows the placement group and the reservations of a class; a
// caller that has asked EC2 adds them.
func (p Params) ForClass(class *awsv1.EC2NodeClass) (Params, error) {
	decoded, err := ClassOf(&class.Spec)
	if err != nil {
		return p, fmt.Errorf("class %s: %w", class.Name, err)
	}
	p.Class = decoded
	if len(class.Status.Subnets) > 0 {
		p.Zones, p.OtherZones = zonesOfSubnets(class.Status.Subnets, p.Zones, p.OtherZones)
	}
	return p, nil
}

// zonesOfSubnets separates the zones with subnets from the others of a region.
func zonesOfSubnets(subnets []awsv1.Subnet, zones []facts.Zone, others []string) (with []facts.Zone, without []string) {
	for _, s := range subnets {
		if !slices.ContainsFunc(with, named(s.Zone)) {
			with = append(with, facts.Zone{Name: s.Zone, ID: s.ZoneID})
		}
	}
	slices.SortFunc(with, func(a, b facts.Zone) int { return strings.Compare(a.Name, b.Name) })
	for _, z := range zones {
		others = append(slices.Clip(others), z.Name)
	}
	for _, name := range others {
		if !slices.ContainsFunc(with, named(name)) && !slices.Contains(without, name) {
			without = append(without, name)
		}
	}
	slices.Sort(without)
	return with, without
}

func named(name string) func(facts.Zone) bool {
	return func(z facts.Zone) bool { return z.Name == name }
}

// ClassOf reads the part of a class's spec that decides what its nodes offer.
func ClassOf(spec *awsv1.EC2NodeClassSpec) (Class, error) {
	family, err := spec.Family()
	if err != nil {
		return Class{}, err
	}
	kubelet, err := kubeletOf(spec.Kubelet)
	if err != nil {
		return Class{}, fmt.Errorf("kubelet: %w", err)
	}
	c := Class{
		Family:             family,
		Kubelet:            kubelet,
		BlockDevices:       blockDevicesOf(spec.BlockDeviceMappings),
		RAID0:              spec.InstanceStorePolicy != nil && *spec.InstanceStorePolicy == "RAID0",
		NetworkInterfaces:  networkInterfacesOf(spec.NetworkInterfaces),
		ConnectionTracking: spec.ConnectionTracking != nil,
	}
	if cpu := spec.CPUOptions; cpu != nil && cpu.NestedVirtualization != nil {
		c.NestedVirtualization = *cpu.NestedVirtualization == "enabled"
	}
	return c, nil
}

func kubeletOf(spec *awsv1.KubeletConfiguration) (Kubelet, error) {
	if spec == nil {
		return Kubelet{}, nil
	}
	var k Kubelet
	var err error
	if spec.MaxPods != nil {
		pods := int64(*spec.MaxPods)
		k.MaxPods = &pods
	}
	if spec.PodsPerCore != nil {
		k.PodsPerCore = int64(*spec.PodsPerCore)
	}
	if k.SystemReserved, err = ParseReserved(spec.SystemReserved); err != nil {
		return k, fmt.Errorf("systemReserved: %w", err)
	}
	if k.KubeReserved, err = ParseReserved(spec.KubeReserved); err != nil {
		return k, fmt.Errorf("kubeReserved: %w", err)
	}
	if k.EvictionHard, err = ParseThresholds(spec.EvictionHard); err != nil {
		return k, fmt.Errorf("evictionHard: %w", err)
	}
	return k, nil
}

func blockDevicesOf(mappings []*awsv1.BlockDeviceMapping) []BlockDevice {
	var devices []BlockDevice
	for _, m := range mappings {
		if m == nil {
			continue
		}
		d := BlockDevice{Root: m.RootVolume}
		if m.DeviceName != nil {
			d.Name = *m.DeviceName
		}
		if m.EBS != nil && m.EBS.VolumeSize != nil {
			d.Bytes = scalar.Amount(*m.EBS.VolumeSize)
		}
		devices = append(devices, d)
	}
	return devices
}

func networkInterfacesOf(configured []*awsv1.NetworkInterface) []NetworkInterface {
	if configured == nil {
		return nil
	}
	interfaces := make([]NetworkInterface, 0, len(configured))
	for _, i := range configured {
		if i != nil {
			interfaces = append(interfaces, NetworkInterface{
				Card: int64(i.NetworkCardIndex), Device: int64(i.DeviceIndex), EFAOnly: i.InterfaceType == "efa-only",
			})
		}
	}
	return interfaces
}
