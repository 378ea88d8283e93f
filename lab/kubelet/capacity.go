package kubelet

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resourcesOf returns the capacity and the allocatable resources that an instance's kubelet reports.
func resourcesOf(i Instance, defaults v1.ResourceList) (capacity, allocatable v1.ResourceList, err error) {
	machine := i.Capacity
	if len(machine) == 0 {
		machine = defaults
	}
	capacity = machine.DeepCopy()
	capacity[v1.ResourcePods] = *resource.NewQuantity(podLimit(machine, i.Kubelet), resource.DecimalSI)
	if i.Allocatable != nil {
		return capacity, i.Allocatable.DeepCopy(), nil
	}
	allocatable, err = allocatableOf(capacity, machine.Pods().Value(), i.Kubelet)
	return capacity, allocatable, err
}

// podLimit is maxPods, else what the network interfaces allow, and never more than podsPerCore gives.
func podLimit(machine v1.ResourceList, k KubeletConfig) int64 {
	limit := machine.Pods().Value()
	if k.MaxPods != nil {
		limit = int64(*k.MaxPods)
	}
	if k.PodsPerCore > 0 {
		limit = min(limit, int64(k.PodsPerCore)*machine.Cpu().Value())
	}
	return limit
}

// allocatableOf subtracts from the capacity the reservations for the kubelet and the system, the
// amounts that eviction keeps free, and huge pages from the memory. Images compute the kubelet's reservation at boot from the pods that the
// interfaces allow, not from maxPods.
func allocatableOf(capacity v1.ResourceList, interfacePods int64, k KubeletConfig) (v1.ResourceList, error) {
	reserved := kubeReserved(capacity.Cpu().MilliValue(), interfacePods)
	if err := replace(reserved, k.KubeReserved); err != nil {
		return nil, fmt.Errorf("kubeReserved: %w", err)
	}
	system := v1.ResourceList{}
	if err := replace(system, k.SystemReserved); err != nil {
		return nil, fmt.Errorf("systemReserved: %w", err)
	}
	eviction, err := evictionReserve(capacity, k.EvictionHard)
	if err != nil {
		return nil, fmt.Errorf("evictionHard: %w", err)
	}
	allocatable := capacity.DeepCopy()
	for _, part := range []v1.ResourceList{reserved, system, eviction} {
		subtract(allocatable, part)
	}
	for name, pages := range capacity {
		if strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) {
			subtract(allocatable, v1.ResourceList{v1.ResourceMemory: pages})
		}
	}
	return allocatable, nil
}

// kubeReserved follows the EKS images: a falling share of each range of CPU, and a fixed amount of memory
// for each pod.
func kubeReserved(milliCPU, pods int64) v1.ResourceList {
	var cpu int64
	for _, band := range []struct {
		from, to int64
		share    int64 // in hundredths of a percent
	}{{0, 1000, 600}, {1000, 2000, 100}, {2000, 4000, 50}, {4000, math.MaxInt64, 25}} {
		if milliCPU > band.from {
			cpu += (min(milliCPU, band.to) - band.from) * band.share / 10000
		}
	}
	return v1.ResourceList{
		v1.ResourceCPU:              *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		v1.ResourceMemory:           *resource.NewQuantity((11*pods+255)<<20, resource.BinarySI),
		v1.ResourceEphemeralStorage: *resource.NewQuantity(1<<30, resource.BinarySI),
	}
}

// evictionReserve returns the amounts that hard eviction thresholds keep free: 100Mi of memory and a tenth
// of the disk unless the configuration sets others.
func evictionReserve(capacity v1.ResourceList, thresholds map[string]string) (v1.ResourceList, error) {
	reserve := v1.ResourceList{}
	for _, signal := range []struct {
		name, otherwise string
		resource        v1.ResourceName
	}{
		{"memory.available", "100Mi", v1.ResourceMemory},
		{"nodefs.available", "10%", v1.ResourceEphemeralStorage},
	} {
		text := orElse(thresholds[signal.name], signal.otherwise)
		q, err := threshold(text, capacity[signal.resource])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", signal.name, err)
		}
		reserve[signal.resource] = q
	}
	return reserve, nil
}

// threshold reads a quantity or a percentage of the capacity. 100 % turns a
// threshold off (Kubernetes: "Node-pressure Eviction").
func threshold(text string, capacity resource.Quantity) (resource.Quantity, error) {
	number, percent := strings.CutSuffix(text, "%")
	if !percent {
		return resource.ParseQuantity(text)
	}
	share, err := strconv.ParseFloat(number, 64)
	if err != nil || share < 0 || share > 100 {
		return resource.Quantity{}, fmt.Errorf("percentage %q: want 0%% to 100%%", text)
	}
	if share == 100 {
		share = 0
	}
	bytes := math.Ceil(float64(capacity.Value()) * share / 100)
	return *resource.NewQuantity(int64(bytes), resource.BinarySI), nil
}

// replace overwrites the amounts that the configuration names.
func replace(list v1.ResourceList, text map[string]string) error {
	for name, value := range text {
		q, err := resource.ParseQuantity(value)
		if err != nil {
			return fmt.Errorf("%s %q: %w", name, value, err)
		}
		list[v1.ResourceName(name)] = q
	}
	return nil
}

// subtract never goes below zero, and omits resources that the machine does not have.
func subtract(from, part v1.ResourceList) {
	for name, amount := range part {
		left, has := from[name]
		if !has {
			continue
		}
		left.Sub(amount)
		if left.Sign() < 0 {
			left = *resource.NewQuantity(0, left.Format)
		}
		from[name] = left
	}
}
