package aws_test

import (
	"fmt"
	"slices"
	"testing"

	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
)

// The provider reads from EC2 what the built-in table says, from which the emulator answers: nothing is
// lost or changed on the way over the wire.
func TestStockReadsWhatEC2Says(t *testing.T) {
	t.Parallel()
	s := inventoryOf(t, newEmulator(t, withCluster("1.36")))
	if changed := got(s.UpdateTypes(t.Context()))(t); !changed {
		t.Error("the first listing is no news")
	}
	first := s.InstanceTypes.Listing()
	if changed := got(s.UpdateTypes(t.Context()))(t); changed || s.InstanceTypes.Listing() != first {
		t.Error("the same listing is news")
	}
	builtIn := map[string]facts.Type{}
	for _, f := range facts.Types() {
		builtIn[f.Name] = f
	}
	wrong := map[string][]string{}
	for _, have := range first.Types {
		want, known := builtIn[have.Name]
		if !known {
			t.Errorf("type %s is not built in", have.Name)
			continue
		}
		for _, f := range []struct {
			name       string
			have, want facts.Quantity
		}{
			{"vcpus", have.VCPUs, want.VCPUs}, {"memory", have.MemoryMiB, want.MemoryMiB}, {"gpus", have.GPUs, want.GPUs},
			{"accelerators", have.Accelerators, want.Accelerators}, {"neuron devices", have.NeuronDevices, want.NeuronDevices},
			{"neuron cores", have.NeuronCores, want.NeuronCores}, {"disks", have.LocalNVMeGB, want.LocalNVMeGB},
			{"card interfaces", have.CardInterfaces, want.CardInterfaces}, {"addresses", have.Addresses, want.Addresses},
			{"efa", have.EFAInterfaces, want.EFAInterfaces}, {"ebs", have.EBSMbps, want.EBSMbps}, {"network", have.NetworkMbps, want.NetworkMbps},
			{"cards", have.Cards, want.Cards}, {"clock", have.ClockMHz, want.ClockMHz}, {"gpu memory", have.GPUMemoryMiB, want.GPUMemoryMiB},
		} {
			if f.want.Known() && f.want > 0 && f.have != f.want {
				wrong[f.name] = append(wrong[f.name], fmt.Sprintf("%s %d, want %d", have.Name, f.have, f.want))
			}
		}
		for _, f := range [][3]string{
			{"architecture", have.Architecture, want.Architecture}, {"hypervisor", have.Hypervisor, want.Hypervisor}, {"gpu", have.GPU, want.GPU},
			{"gpu manufacturer", have.GPUManufacturer, want.GPUManufacturer}, {"accelerator", have.Accelerator, want.Accelerator},
			{"accelerator manufacturer", have.AcceleratorManufacturer, want.AcceleratorManufacturer}, {"cpu", have.CPUManufacturer, want.CPUManufacturer},
			{"encryption", have.EncryptionInTransit, want.EncryptionInTransit},
		} {
			if f[2] != "" && f[1] != f[2] {
				wrong[f[0]] = append(wrong[f[0]], fmt.Sprintf("%s %q, want %q", have.Name, f[1], f[2]))
			}
		}
	}
	for name, list := range wrong {
		t.Errorf("%s: %d differ, such as %v", name, len(list), list[:min(len(list), 5)])
	}
	if !slices.Equal(first.Zones, []string{region + "a", region + "b", region + "c", region + "d"}) {
		t.Errorf("zones %v", first.Zones)
	}
}

// A catalogue made from EC2's answers has the capacity that the built-in facts give.
func TestCatalogueFromEC2(t *testing.T) {
	t.Parallel()
	s := inventoryOf(t, newEmulator(t, withCluster("1.36")))
	got(s.UpdateTypes(t.Context()))(t)
	class := survey(t, s, nodeClass("al2023@latest"))
	offer, err := s.Catalogs.Offer(class)
	if err != nil {
		t.Fatal(err)
	}
	params, err := instancetype.Defaults(region).ForClass(class)
	if err != nil {
		t.Fatal(err)
	}
	complete := map[string]bool{} // for other types the emulator makes up the limits of interfaces
	for _, f := range facts.Types() {
		complete[f.Name] = f.CardInterfaces.Known() && f.Addresses.Known()
	}
	planned := map[string]string{}
	for _, p := range instancetype.Build(params).Catalog.Types {
		planned[p.Name] = fmt.Sprint(p.Capacity, p.Overhead)
	}
	var differ []string
	for _, o := range offer.Catalog.Types {
		if want, there := planned[o.Name]; there && complete[o.Name] && fmt.Sprint(o.Capacity, o.Overhead) != want {
			differ = append(differ, fmt.Sprintf("%s: %v, want %s", o.Name, fmt.Sprint(o.Capacity, o.Overhead), want))
		}
	}
	if len(differ) > 0 {
		t.Errorf("%d types differ, such as\n%s", len(differ), differ[0])
	}
}
