package instancetype

import (
	"regexp"
	"strconv"
	"strings"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// requirements returns all labels of a type. It lists a label that the type lacks as absent, so that pods can
// ask for its absence.
func (b *builder) requirements(t buyable) requirement.Set {
	b.scratch = b.scratch[:0]
	b.addIdentity(t.Type)
	b.addMachine(t.Type)
	b.addGPU(t.Type)
	b.addAccelerator(t.Type)
	b.addPurchase(t)
	b.addReservations(t.reservations)
	return requirement.NewSet(b.scratch...)
}

// add notes a label with one value; without a value, it notes that the label is absent.
func (b *builder) add(key, value string) { b.scratch = append(b.scratch, b.label(key, value)) }

func (b *builder) addCount(key string, q facts.Quantity) {
	if !q.Known() {
		b.add(key, "")
		return
	}
	b.add(key, strconv.FormatInt(int64(q), 10))
}

// label is the requirement that a label has the value, or is absent when value is empty.
func (b *builder) label(key, value string) requirement.Requirement {
	id := [2]string{key, value}
	r, made := b.labels[id]
	if !made {
		r = requirement.New(key, requirement.DoesNotExist)
		if value != "" {
			r = requirement.New(key, requirement.In, value)
		}
		b.labels[id] = r
	}
	return r
}

// generation splits the name of a type: c, 7 in c7gn.large; u, 1 in u-6tb1.metal.
var generation = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\.`)

func (b *builder) addIdentity(t *facts.Type) {
	category, number := "", ""
	if m := generation.FindStringSubmatch(t.Name); m != nil {
		category, number = m[1], m[2]
	}
	b.add(requirement.KeyInstanceType, t.Name)
	b.add(awsv1.LabelInstanceCategory, category)
	b.add(awsv1.LabelInstanceGeneration, number)
	b.add(awsv1.LabelInstanceFamily, t.Family)
	b.add(awsv1.LabelInstanceSize, t.Size)
	b.add(awsv1.LabelInstanceCapabilityFlex, strconv.FormatBool(strings.Contains(t.Family, "-flex")))
}

func (b *builder) addMachine(t *facts.Type) {
	b.add(requirement.KeyArch, t.Architecture)
	b.add(requirement.KeyOS, b.operatingSystem(t))
	b.add(requirement.KeyWindowsBuild, b.traits.build)
	b.addCount(awsv1.LabelInstanceCPU, t.VCPUs)
	b.add(awsv1.LabelInstanceCPUManufacturer, kebab(t.CPUManufacturer))
	b.addCount(awsv1.LabelInstanceCPUSustainedClockSpeedMHz, t.ClockMHz)
	b.addCount(awsv1.LabelInstanceMemory, t.MemoryMiB)
	b.addCount(awsv1.LabelInstanceEBSBandwidth, t.EBSMbps)
	b.addCount(awsv1.LabelInstanceNetworkBandwidth, t.NetworkMbps)
	b.addCount(awsv1.LabelInstanceLocalNVME, t.LocalNVMeGB)
	b.add(awsv1.LabelInstanceEncryptionInTransitSupported, t.EncryptionInTransit)
	if t.BareMetal {
		// Bare metal has the label with an empty value.
		b.scratch = append(b.scratch, requirement.New(awsv1.LabelInstanceHypervisor, requirement.In, ""))
		return
	}
	b.add(awsv1.LabelInstanceHypervisor, t.Hypervisor)
}

// operatingSystem is empty where the family's images do not run on the type.
func (b *builder) operatingSystem(t *facts.Type) string {
	switch {
	case !b.traits.windows():
		return "linux"
	case t.Architecture == "amd64":
		return "windows"
	}
	return ""
}

func (b *builder) addGPU(t *facts.Type) {
	if t.GPU == "" { // a count without a name says nothing
		for _, key := range []string{awsv1.LabelInstanceGPUName, awsv1.LabelInstanceGPUManufacturer, awsv1.LabelInstanceGPUCount, awsv1.LabelInstanceGPUMemory} {
			b.add(key, "")
		}
		return
	}
	b.add(awsv1.LabelInstanceGPUName, kebab(t.GPU))
	b.add(awsv1.LabelInstanceGPUManufacturer, kebab(t.GPUManufacturer))
	b.addCount(awsv1.LabelInstanceGPUCount, t.GPUs)
	b.addCount(awsv1.LabelInstanceGPUMemory, t.GPUMemoryMiB)
}

func (b *builder) addAccelerator(t *facts.Type) {
	b.add(awsv1.LabelInstanceAcceleratorName, kebab(t.Accelerator))
	b.add(awsv1.LabelInstanceAcceleratorManufacturer, kebab(t.AcceleratorManufacturer))
	b.addCount(awsv1.LabelInstanceAcceleratorCount, t.Accelerators)
}

// kebab converts text to the form of label values: lower case, with dashes for spaces.
func kebab(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }

func (b *builder) addPurchase(t buyable) {
	var names, ids []string
	for _, z := range t.zones {
		names = append(names, z.Name)
		if z.ID != "" {
			ids = append(ids, z.ID)
		}
	}
	ways := t.capacityTypes
	if len(t.reservations) > 0 {
		ways = append([]string{catalog.Reserved}, ways...)
	}
	b.add(requirement.KeyRegion, b.Region)
	b.scratch = append(b.scratch,
		requirement.New(requirement.KeyZone, requirement.In, names...),
		requirement.New(requirement.KeyCapacityType, requirement.In, ways...),
		requirement.New(awsv1.LabelInstanceTenancy, requirement.In, awsv1.TenancyDefault, awsv1.TenancyDedicated))
	if len(ids) > 0 {
		b.scratch = append(b.scratch, requirement.New(awsv1.LabelZoneID, requirement.In, ids...))
	}
	if group := b.Class.PlacementGroup; group != nil {
		b.add(awsv1.LabelPlacementGroupID, group.ID)
		if partitions := group.partitions(); len(partitions) > 0 {
			b.scratch = append(b.scratch, requirement.New(awsv1.LabelPlacementGroupPartition, requirement.In, partitions...))
		}
	}
}

// partitions returns the names of the group's partitions, if it has any.
func (g *PlacementGroup) partitions() []string {
	if g == nil || g.Strategy != "partition" {
		return nil
	}
	names := make([]string, g.Partitions)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}

func (b *builder) addReservations(of []Reservation) {
	if len(of) == 0 {
		b.scratch = append(b.scratch, b.unreserved()...)
		return
	}
	var ids, kinds, interruptible []string
	for _, r := range of {
		ids = append(ids, r.ID)
		kinds = append(kinds, r.Kind)
		interruptible = append(interruptible, strconv.FormatBool(r.Interruptible))
	}
	b.scratch = append(b.scratch,
		requirement.New(awsv1.LabelCapacityReservationID, requirement.In, ids...),
		requirement.New(awsv1.LabelCapacityReservationType, requirement.In, kinds...),
		requirement.New(awsv1.LabelCapacityReservationInterruptible, requirement.In, interruptible...))
}

func (b *builder) unreserved() []requirement.Requirement {
	return []requirement.Requirement{
		b.label(awsv1.LabelCapacityReservationID, ""),
		b.label(awsv1.LabelCapacityReservationType, ""),
		b.label(awsv1.LabelCapacityReservationInterruptible, ""),
	}
}
