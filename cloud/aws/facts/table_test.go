package facts_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud/aws/facts"
)

// Checksums, taken from the source data by another program: how many types have the attribute, and the sum of
// its values (for texts, of their lengths).
func TestEveryAttributeOfEveryTypeIsLoaded(t *testing.T) {
	t.Parallel()
	types := facts.Types()
	if len(types) != 1435 {
		t.Errorf("%d types, want 1435", len(types))
	}
	want := map[string][2]int64{
		"vcpus":             {1397, 89208},
		"memory":            {1397, 752681890},
		"arch":              {1390, 6950},
		"cpu":               {1363, 5565},
		"clock":             {1363, 4372600},
		"gpus":              {74, 219},
		"gpu":               {70, 423},
		"gpu-maker":         {70, 405},
		"gpu-memory":        {70, 2919563},
		"accelerators":      {13, 99},
		"accelerator":       {13, 131},
		"accelerator-maker": {13, 44},
		"neurons":           {12, 91},
		"neuron-cores":      {12, 322},
		"nvme":              {526, 4385662},
		"metal":             {158, 474},
		"hypervisor":        {1256, 6120},
		"encryption":        {1363, 5724},
		"network":           {1350, 103860134},
		"ebs":               {1328, 36451850},
		"interfaces":        {1401, 14213},
		"card-interfaces":   {1401, 13112},
		"cards":             {1401, 1586},
		"addresses":         {1401, 48524},
		"pods":              {1409, 580043},
		"branches":          {1401, 84953},
		"efa":               {297, 499},
		"documented":        {1363, 4089},
		"sources":           {1435, 29697},
		"complete":          {1345, 4035},
	}
	for _, attribute := range facts.Columns() {
		got := [2]int64{}
		for _, typ := range types {
			value := typ.Get(attribute)
			if value == "" {
				continue
			}
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				n = int64(len(value))
			}
			got[0]++
			got[1] += n
		}
		if got != want[attribute] {
			t.Errorf("%s: told by %d types with a total of %d, want %d and %d",
				attribute, got[0], got[1], want[attribute][0], want[attribute][1])
		}
	}
	if len(want) != len(facts.Columns()) {
		t.Errorf("totals of %d attributes, want %d", len(want), len(facts.Columns()))
	}
}

func TestTypesAreUniqueAndNamedByFamilyAndSize(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, typ := range facts.Types() {
		if typ.Name != typ.Family+"."+typ.Size || typ.Family == "" || typ.Size == "" {
			t.Errorf("%q is family %q and size %q", typ.Name, typ.Family, typ.Size)
		}
		if seen[typ.Name] {
			t.Errorf("%s is there twice", typ.Name)
		}
		seen[typ.Name] = true
	}
}

func TestSingleTypes(t *testing.T) {
	t.Parallel()
	m5 := unknown("m5", "large")
	m5.VCPUs, m5.MemoryMiB, m5.Architecture, m5.CPUManufacturer, m5.ClockMHz = 2, 8192, "amd64", "intel", 3100
	m5.Hypervisor, m5.EncryptionInTransit, m5.NetworkMbps, m5.EBSMbps = "nitro", "false", 750, 4750
	m5.Interfaces, m5.CardInterfaces, m5.Cards, m5.Addresses, m5.PodLimit, m5.BranchInterfaces = 3, 3, 1, 10, 29, 9
	m5.Documented, m5.Complete, m5.Sources = true, true, "doc+vpclimits+pricing"

	p4d := unknown("p4d", "24xlarge")
	p4d.VCPUs, p4d.MemoryMiB, p4d.Architecture, p4d.CPUManufacturer, p4d.ClockMHz = 96, 1179648, "amd64", "intel", 3000
	p4d.GPUs, p4d.GPU, p4d.GPUManufacturer, p4d.GPUMemoryMiB, p4d.LocalNVMeGB = 8, "a100", "nvidia", 40960, 8000
	p4d.Hypervisor, p4d.EncryptionInTransit, p4d.NetworkMbps, p4d.EBSMbps = "nitro", "true", 400000, 19000
	p4d.Interfaces, p4d.CardInterfaces, p4d.Cards, p4d.Addresses, p4d.PodLimit = 60, 15, 4, 50, 737
	p4d.BranchInterfaces, p4d.EFAInterfaces = 62, 4
	p4d.Documented, p4d.Complete, p4d.Sources = true, true, "doc+vpclimits+pricing"

	trn2 := unknown("trn2", "3xlarge") // only a table of bandwidths has it
	trn2.NetworkMbps, trn2.Sources = 200000, "bandwidth"

	for _, want := range []facts.Type{m5, p4d, trn2} {
		t.Run(want.Name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(facts.Types(), func(t facts.Type) bool { return t.Name == want.Name })
			if i < 0 {
				t.Fatal("not in the table")
			}
			if diff := cmp.Diff(want, facts.Types()[i]); diff != "" {
				t.Errorf("type (-want +got):\n%s", diff)
			}
		})
	}
}

// unknown is a type with only a name.
func unknown(family, size string) facts.Type {
	u := facts.Unknown
	return facts.Type{
		Name: family + "." + size, Family: family, Size: size,
		VCPUs: u, MemoryMiB: u, ClockMHz: u, GPUs: u, GPUMemoryMiB: u, Accelerators: u, NeuronDevices: u, NeuronCores: u,
		LocalNVMeGB: u, NetworkMbps: u, EBSMbps: u, Interfaces: u, CardInterfaces: u, Cards: u, Addresses: u, PodLimit: u,
		BranchInterfaces: u, EFAInterfaces: u,
	}
}

// The page of interface limits and EC2's formula agree for every type that has both.
func TestPodLimitsFollowTheFormula(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, typ := range facts.Types() {
		if !typ.CardInterfaces.Known() || !typ.PodLimit.Known() {
			continue
		}
		checked++
		if want := typ.CardInterfaces*(typ.Addresses-1) + 2; typ.PodLimit != want {
			t.Errorf("%s: %d pods, want %d", typ.Name, typ.PodLimit, want)
		}
	}
	if checked != 1401 {
		t.Errorf("checked %d types, want 1401", checked)
	}
}

func TestEncodeTypesWritesWhatDecodeTypesReads(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	if err := facts.EncodeTypes(&text, facts.Types()); err != nil {
		t.Fatal(err)
	}
	got, err := facts.DecodeTypes(text.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(facts.Types(), got); diff != "" {
		t.Errorf("types after a round trip (-want +got):\n%s", diff)
	}
}

func TestDecodeTypesRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"a type before its family":    {"m5.large 2", `line 1: type "m5.large" is not of family ""`},
		"a type of another family":    {"family m5\ncolumns\nm6.large", `line 3: type "m6.large" is not of family "m5"`},
		"a type without size":         {"family m5\ncolumns\nm5", `line 3: type "m5" is not of family "m5"`},
		"too few attributes":          {"family m5\ncolumns vcpus memory\nm5.large 2", "line 3: type m5.large has no memory"},
		"too many attributes":         {"family m5\ncolumns vcpus\nm5.large 2 3", "line 3: type m5.large has more attributes than columns"},
		"an unknown column":           {"family m5\ncolumns wheels", `line 2: no attribute is called "wheels"`},
		"an unknown family attribute": {"family m5 wheels=4", `line 1: no attribute is called "wheels"`},
		"a count that is text":        {"family m5 vcpus=two", `line 1: vcpus: "two" is not a count`},
		"a negative count":            {"family m5\ncolumns vcpus\nm5.large -1", `line 3: type m5.large: vcpus: "-1" is not a count`},
		"a flag that is neither":      {"family m5 metal=no", `line 1: metal: "no" is neither yes nor blank`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := facts.DecodeTypes(tc.text)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func FuzzDecodeTypes(f *testing.F) {
	f.Add("family m5 arch=amd64\ncolumns vcpus memory\nm5.large 2 8192\nm5.metal - -\n")
	f.Add("# a comment\n\nfamily t3\ncolumns\nt3.nano\n")
	f.Fuzz(func(t *testing.T, text string) {
		types, err := facts.DecodeTypes(text)
		if err != nil {
			return
		}
		for _, typ := range types {
			if typ.Name != typ.Family+"."+typ.Size {
				t.Errorf("%q is family %q and size %q", typ.Name, typ.Family, typ.Size)
			}
		}
	})
}

func BenchmarkDecodeTypes(b *testing.B) {
	var text strings.Builder
	if err := facts.EncodeTypes(&text, facts.Types()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := facts.DecodeTypes(text.String()); err != nil {
			b.Fatal(err)
		}
	}
}
