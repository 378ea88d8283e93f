package offering

import (
	"regexp"
	"strconv"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/lexicon"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// requirements are all labels of a type. A label that the type does not have is written
// down as such, so that pods can ask for its absence.
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

// add notes a label with one value; an absent one when there is no value.
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

// generation takes the name of a type apart: c, 7 in c7gn.large; u, 1 in u-6tb1.metal.
var generation = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\.`)

func (b *builder) addIdentity(t *facts.Type) {
	category, number := "", ""
	if m := generation.FindStringSubmatch(t.Name); m != nil {
		category, number = m[1], m[2]
	}
	b.add(requirement.KeyInstanceType, t.Name)
	b.add(lexicon.InstanceCategory, category)
	b.add(lexicon.InstanceGeneration, number)
	b.add(lexicon.InstanceFamily, t.Family)
	b.add(lexicon.InstanceSize, t.Size)
	b.add(lexicon.InstanceFlex, strconv.FormatBool(strings.Contains(t.Family, "-flex")))
}

func (b *builder) addMachine(t *facts.Type) {
	b.add(requirement.KeyArch, t.Architecture)
	b.add(requirement.KeyOS, b.operatingSystem(t))
	b.add(requirement.KeyWindowsBuild, b.traits.build)
	b.addCount(lexicon.InstanceCPU, t.VCPUs)
	b.add(lexicon.InstanceCPUManufacturer, kebab(t.CPUManufacturer))
	b.addCount(lexicon.InstanceCPUClock, t.ClockMHz)
	b.addCount(lexicon.InstanceMemory, t.MemoryMiB)
	b.addCount(lexicon.InstanceEBSBandwidth, t.EBSMbps)
	b.addCount(lexicon.InstanceNetwork, t.NetworkMbps)
	b.addCount(lexicon.InstanceLocalNVMe, t.LocalNVMeGB)
	b.add(lexicon.InstanceEncryption, t.EncryptionInTransit)
	if t.BareMetal {
		// Bare metal has the label, with nothing in it.
		b.scratch = append(b.scratch, requirement.New(lexicon.InstanceHypervisor, requirement.In, ""))
		return
	}
	b.add(lexicon.InstanceHypervisor, t.Hypervisor)
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
	if t.GPU == "" { // a count alone does not tell what there is to count
		for _, key := range []string{lexicon.InstanceGPUName, lexicon.InstanceGPUManufacturer, lexicon.InstanceGPUCount, lexicon.InstanceGPUMemory} {
			b.add(key, "")
		}
		return
	}
	b.add(lexicon.InstanceGPUName, kebab(t.GPU))
	b.add(lexicon.InstanceGPUManufacturer, kebab(t.GPUManufacturer))
	b.addCount(lexicon.InstanceGPUCount, t.GPUs)
	b.addCount(lexicon.InstanceGPUMemory, t.GPUMemoryMiB)
}

func (b *builder) addAccelerator(t *facts.Type) {
	b.add(lexicon.InstanceAcceleratorName, kebab(t.Accelerator))
	b.add(lexicon.InstanceAcceleratorManufacturer, kebab(t.AcceleratorManufacturer))
	b.addCount(lexicon.InstanceAcceleratorCount, t.Accelerators)
}

// kebab is how label values are written: lower case, dashes for spaces.
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
		requirement.New(lexicon.InstanceTenancy, requirement.In, lexicon.Tenancies()...))
	if len(ids) > 0 {
		b.scratch = append(b.scratch, requirement.New(lexicon.ZoneID, requirement.In, ids...))
	}
	if group := b.Class.PlacementGroup; group != nil {
		b.add(lexicon.PlacementGroupID, group.ID)
		if partitions := group.partitions(); len(partitions) > 0 {
			b.scratch = append(b.scratch, requirement.New(lexicon.PlacementGroupPartition, requirement.In, partitions...))
		}
	}
}

// partitions are the names of the group's partitions, if it has any.
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
		requirement.New(lexicon.ReservationID, requirement.In, ids...),
		requirement.New(lexicon.ReservationType, requirement.In, kinds...),
		requirement.New(lexicon.ReservationInterruptible, requirement.In, interruptible...))
}

func (b *builder) unreserved() []requirement.Requirement {
	return []requirement.Requirement{
		b.label(lexicon.ReservationID, ""),
		b.label(lexicon.ReservationType, ""),
		b.label(lexicon.ReservationInterruptible, ""),
	}
}
