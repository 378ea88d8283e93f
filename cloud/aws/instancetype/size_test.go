package instancetype_test

import (
	"fmt"
	"math/rand"
	"testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
)

// The test covers all documented types: "cpu allocatable = vcpus × 1000 − reserve, 6 % of the first core, 1 %
// of the second, 0.5 % of the next two, 0.25 % of the rest, each step truncated"; "memory allocatable (MiB) =
// M − ceil(M × 0.075) − (11 × pods + 255) − 100, M less 64 on arm64"; "pods = eniPods"; "allocatable
// ephemeral storage is 17Gi throughout". The test computes differently from the package: in MiB, in
// thousandths, core by core.
func TestAllocatableOfEveryDocumentedType(t *testing.T) {
	t.Parallel()
	built := map[string]model.Resources{}
	for _, typ := range instancetype.Build(instancetype.Defaults("us-west-2")).Catalog.Types {
		built[typ.Name] = allocatable(typ)
	}
	checked := 0
	for _, f := range facts.Types() {
		if !f.Documented {
			continue
		}
		checked++
		got := built[f.Name]
		want := model.Resources{
			CPU:     int64(f.VCPUs)*1000 - documentedReserve(int64(f.VCPUs)),
			Memory:  documentedMemory(f) * mebi,
			Storage: 17 * gibi,
			Pods:    int64(f.PodLimit),
		}
		got.Extended = nil
		if !got.Equal(want) {
			t.Errorf("%s: allocatable %+v, want %+v", f.Name, got, want)
		}
	}
	if checked != 1363 {
		t.Errorf("checked %d types, want 1363", checked)
	}
}

func documentedReserve(cores int64) int64 {
	tail := int64(0)
	reserve := int64(0)
	for core := int64(1); core <= cores; core++ {
		switch core {
		case 1:
			reserve += 60
		case 2:
			reserve += 10
		case 3, 4:
			reserve += 5
		default:
			tail += 25 // tenths of a milli-core
		}
	}
	return reserve + tail/10
}

func documentedMemory(f facts.Type) int64 {
	m := int64(f.MemoryMiB)
	if f.Architecture == "arm64" {
		m -= 64
	}
	kept := m * 75 / 1000
	if kept*1000 < m*75 {
		kept++
	}
	return max(m-kept-(11*int64(f.PodLimit)+255)-100, 0)
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	pods := func(n int64) *int64 { return &n }
	cases := map[string]struct {
		typ   string
		with  func(*instancetype.Params)
		want  map[string]int64 // capacity
		alloc map[string]int64
	}{
		// "m5.large: cpu 1930m, memory 8192 − 615 − 574 − 100 = 6903Mi, ephemeral 17Gi."
		"an ordinary machine": {
			typ:   "m5.large",
			want:  map[string]int64{"cpu": 2000, "memory": 7577 * mebi, "pods": 29, "ephemeral-storage": 20 * gibi, "vpc.amazonaws.com/pod-eni": 9},
			alloc: map[string]int64{"cpu": 1930, "memory": 6903 * mebi, "pods": 29, "ephemeral-storage": 17 * gibi},
		},
		// "a1.medium: cpu 940m, memory 1984 − 149 − 343 − 100 = 1392Mi."
		"firmware on arm64 keeps memory": {
			typ:   "a1.medium",
			want:  map[string]int64{"cpu": 1000, "memory": (1984 - 149) * mebi, "pods": 8},
			alloc: map[string]int64{"cpu": 940, "memory": 1392 * mebi},
		},
		"the smallest machine has a little left": {
			typ:   "t3.nano",
			want:  map[string]int64{"memory": (512 - 39) * mebi, "pods": 4},
			alloc: map[string]int64{"cpu": 1930, "memory": 74 * mebi},
		},
		"GPUs and fast interfaces": {
			typ: "p4d.24xlarge",
			want: map[string]int64{"cpu": 96000, "nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 4, "vpc.amazonaws.com/pod-eni": 62,
				"amd.com/gpu": 0, "aws.amazon.com/neuron": 0},
			alloc: map[string]int64{"cpu": 95690, "memory": 1082712 * mebi, "nvidia.com/gpu": 8},
		},
		"GPUs of another maker":         {typ: "g4ad.16xlarge", want: map[string]int64{"amd.com/gpu": 4, "nvidia.com/gpu": 0}},
		"a part of a GPU is none":       {typ: "g6f.large", want: map[string]int64{"nvidia.com/gpu": 0}},
		"GPUs of an unknown maker":      {typ: "p3.2xlarge", want: map[string]int64{"nvidia.com/gpu": 0, "amd.com/gpu": 0, "habana.ai/gaudi": 0}},
		"Neuron devices and cores":      {typ: "inf2.24xlarge", want: map[string]int64{"aws.amazon.com/neuron": 6, "aws.amazon.com/neuroncore": 12}},
		"another company's accelerator": {typ: "dl2q.24xlarge", want: map[string]int64{"aws.amazon.com/neuron": 0}},
		"maxPods leaves the kubelet's reserve as it is": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.Class.Kubelet.MaxPods = pods(110) },
			want: map[string]int64{"pods": 110}, alloc: map[string]int64{"memory": 6903 * mebi},
		},
		"maxPods may be zero": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.Class.Kubelet.MaxPods = pods(0) }, want: map[string]int64{"pods": 0},
		},
		"podsPerCore lowers": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.Class.Kubelet.PodsPerCore = 4 }, want: map[string]int64{"pods": 8},
		},
		"podsPerCore never raises": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.Class.Kubelet.PodsPerCore = 40 }, want: map[string]int64{"pods": 29},
		},
		"podsPerCore lowers maxPods too": {
			typ:  "m5.large",
			with: func(p *instancetype.Params) { p.Class.Kubelet.MaxPods, p.Class.Kubelet.PodsPerCore = pods(50), 10 },
			want: map[string]int64{"pods": 20},
		},
		"Bottlerocket does not know podsPerCore": {
			typ: "m5.large",
			with: func(p *instancetype.Params) {
				p.Class.Family, p.Class.Kubelet.PodsPerCore = awsv1.FamilyBottlerocket, 4
			},
			want: map[string]int64{"pods": 29},
		},
		"Bottlerocket reserves for the pods that it takes": {
			typ: "m5.large",
			with: func(p *instancetype.Params) {
				p.Class.Family, p.Class.Kubelet.MaxPods = awsv1.FamilyBottlerocket, pods(8)
			},
			alloc: map[string]int64{"memory": (7577 - (11*8 + 255) - 100) * mebi},
		},
		"a reserved interface has no pods, but its reserve": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.ReservedENIs = 1 },
			want: map[string]int64{"pods": 2*9 + 2}, alloc: map[string]int64{"memory": 6903 * mebi},
		},
		"no interface left, no pods": { // "E(r) is 0, not 2, when no interface is left."
			typ: "m5.large", with: func(p *instancetype.Params) { p.ReservedENIs = 3 }, want: map[string]int64{"pods": 0},
		},
		"more interfaces reserved than there are": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.ReservedENIs = 7 }, want: map[string]int64{"pods": 0},
		},
		"an EFA-only interface on the first card has no pods": {
			typ: "p4d.24xlarge",
			with: func(p *instancetype.Params) {
				p.Class.NetworkInterfaces = []instancetype.NetworkInterface{{}, {Card: 0, Device: 1, EFAOnly: true}, {Card: 1, Device: 1, EFAOnly: true}}
			},
			want:  map[string]int64{"pods": 14*49 + 2, "vpc.amazonaws.com/efa": 2},
			alloc: map[string]int64{"memory": (1179648 - 88474 - (11*(14*49+2) + 255) - 100) * mebi},
		},
		"an empty list of interfaces has no EFA": {
			typ: "p4d.24xlarge", with: func(p *instancetype.Params) { p.Class.NetworkInterfaces = []instancetype.NetworkInterface{} },
			want: map[string]int64{"vpc.amazonaws.com/efa": 0, "pods": 737},
		},
		"only the pod limit is known":                   {typ: "hpc7a.12xlarge", want: map[string]int64{"pods": 100}},
		"only the pod limit is known, of one interface": {typ: "hpc6id.32xlarge", want: map[string]int64{"pods": 51}},
		"only the pod limit is known, interface reserved": {
			typ: "trn2.48xlarge", with: func(p *instancetype.Params) { p.ReservedENIs = 1 }, want: map[string]int64{"pods": 51},
		},
		"Windows takes 110 pods, each with an address": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.Class.Family = awsv1.FamilyWindows2022 },
			want:  map[string]int64{"pods": 110, "ephemeral-storage": 50 * gibi, "vpc.amazonaws.com/PrivateIPv4Address": 9},
			alloc: map[string]int64{"memory": (7577 - (11*110 + 255) - 100) * mebi, "ephemeral-storage": (50 - 1 - 5) * gibi},
		},
		"memory that nodes were seen to have": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.LearnedMemory = map[string]int64{"m5.large": 7800 * mebi} },
			want: map[string]int64{"memory": 7800 * mebi}, alloc: map[string]int64{"memory": (7800 - 574 - 100) * mebi},
		},
		"a node that says it has next to nothing": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.LearnedMemory = map[string]int64{"m5.large": mebi} },
			want: map[string]int64{"memory": 7577 * mebi / 10 * 8},
		},
		"another overhead of the hypervisor": {
			typ: "m5.large", with: func(p *instancetype.Params) { p.MemoryOverhead = 0 }, want: map[string]int64{"memory": 8192 * mebi},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instancetype.Defaults("us-west-2")
			if tc.with != nil {
				tc.with(&p)
			}
			typ := find(t, p, tc.typ)
			expect(t, "capacity", typ.Capacity, tc.want)
			expect(t, "allocatable", allocatable(typ), tc.alloc)
		})
	}
}

func expect(t *testing.T, what string, got model.Resources, want map[string]int64) {
	t.Helper()
	for name, value := range want {
		if got.Get(name) != value {
			t.Errorf("%s of %s is %d, want %d", what, name, got.Get(name), value)
		}
	}
}

func TestStorage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		family  string
		raid    bool
		typ     string
		devices []instancetype.BlockDevice
		want    int64
	}{
		"the family's own":                      {family: "AL2023", want: 20 * gibi},
		"AL2":                                   {family: "AL2", want: 20 * gibi},
		"Bottlerocket's second volume":          {family: "Bottlerocket", want: 20 * gibi},
		"Windows":                               {family: "Windows2019", want: 50 * gibi},
		"Custom":                                {family: "Custom", want: 20 * gibi},
		"an unknown family is AL2":              {family: "AL3000", want: 20 * gibi},
		"the family's device":                   {family: "AL2023", devices: []instancetype.BlockDevice{{Name: "/dev/xvdz", Bytes: 9 * gibi}, {Name: "/dev/xvda", Bytes: 80 * gibi}}, want: 80 * gibi},
		"the root volume wins over it":          {family: "AL2023", devices: []instancetype.BlockDevice{{Name: "/dev/xvda", Bytes: 80 * gibi}, {Name: "/dev/xvdz", Root: true, Bytes: 90 * gibi}}, want: 90 * gibi},
		"a root volume without size does not":   {family: "AL2023", devices: []instancetype.BlockDevice{{Name: "/dev/xvda", Bytes: 80 * gibi}, {Name: "/dev/xvdz", Root: true}}, want: 80 * gibi},
		"a device that is not the family's":     {family: "Bottlerocket", devices: []instancetype.BlockDevice{{Name: "/dev/xvda", Bytes: 80 * gibi}}, want: 20 * gibi},
		"Bottlerocket's device":                 {family: "Bottlerocket", devices: []instancetype.BlockDevice{{Name: "/dev/xvdb", Bytes: 80 * gibi}}, want: 80 * gibi},
		"a snapshot decides":                    {family: "AL2023", devices: []instancetype.BlockDevice{{Name: "/dev/xvda"}}, want: 20 * gibi},
		"Custom takes the last":                 {family: "Custom", devices: []instancetype.BlockDevice{{Name: "/dev/xvda", Bytes: 80 * gibi}, {Name: "/dev/xvdc", Bytes: 30 * gibi}}, want: 30 * gibi},
		"Custom takes the last, without a size": {family: "Custom", devices: []instancetype.BlockDevice{{Name: "/dev/xvda", Bytes: 80 * gibi}, {Name: "/dev/xvdc"}}, want: 20 * gibi},
		"the instance store":                    {family: "AL2023", raid: true, typ: "p4d.24xlarge", devices: []instancetype.BlockDevice{{Root: true, Bytes: gibi}}, want: 8000e9},
		"a machine without an instance store":   {family: "AL2023", raid: true, want: 20 * gibi},
		"an instance store that is not asked":   {family: "AL2023", typ: "p4d.24xlarge", want: 20 * gibi},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instancetype.Defaults("us-west-2")
			p.Class.Family, p.Class.RAID0, p.Class.BlockDevices = tc.family, tc.raid, tc.devices
			if tc.typ == "" {
				tc.typ = "m5.large"
			}
			if got := find(t, p, tc.typ).Capacity.Storage; got != tc.want {
				t.Errorf("%d bytes, want %d", got, tc.want)
			}
		})
	}
}

func TestOverhead(t *testing.T) {
	t.Parallel()
	const kubeMemory, kubeCPU = 574 * mebi, 70 // of m5.large
	threshold := func(signal, text string) func(*instancetype.Kubelet) {
		return func(k *instancetype.Kubelet) {
			parsed, err := instancetype.ParseThreshold(signal, text)
			if err != nil {
				panic(err)
			}
			k.EvictionHard = []instancetype.Threshold{parsed}
		}
	}
	cases := map[string]struct {
		with func(*instancetype.Kubelet)
		want model.Resources
	}{
		"the defaults": {
			with: func(*instancetype.Kubelet) {}, want: model.Resources{CPU: kubeCPU, Memory: kubeMemory + 100*mebi, Storage: 3 * gibi},
		},
		"the kubelet's reserve is replaced where it is given": {
			with: func(k *instancetype.Kubelet) {
				k.KubeReserved = []model.Amount{{Name: "cpu", Value: 0}, {Name: "pid", Value: 9}}
			},
			want: model.Resources{Memory: kubeMemory + 100*mebi, Storage: 3 * gibi},
		},
		"the system's reserve is added": {
			with: func(k *instancetype.Kubelet) {
				k.SystemReserved = []model.Amount{{Name: "cpu", Value: 100}, {Name: "memory", Value: mebi}, {Name: "ephemeral-storage", Value: gibi}}
			},
			want: model.Resources{CPU: kubeCPU + 100, Memory: kubeMemory + 101*mebi, Storage: 4 * gibi},
		},
		"a threshold in bytes": {
			with: threshold("memory.available", "1Gi"), want: model.Resources{CPU: kubeCPU, Memory: kubeMemory + gibi, Storage: 3 * gibi},
		},
		"a threshold in percent is rounded up": {
			with: threshold("memory.available", "5%"),
			want: model.Resources{CPU: kubeCPU, Memory: kubeMemory + 397253018, Storage: 3 * gibi}, // 7577Mi / 20 = 397253017.6
		},
		"all of it means none": {
			with: threshold("memory.available", "100%"), want: model.Resources{CPU: kubeCPU, Memory: kubeMemory, Storage: 3 * gibi},
		},
		"a threshold of the file system": {
			with: threshold("nodefs.available", "25%"), want: model.Resources{CPU: kubeCPU, Memory: kubeMemory + 100*mebi, Storage: 6 * gibi},
		},
		"a threshold that is not about room": {
			with: threshold("nodefs.inodesFree", "25%"), want: model.Resources{CPU: kubeCPU, Memory: kubeMemory + 100*mebi, Storage: 3 * gibi},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instancetype.Defaults("us-west-2")
			tc.with(&p.Class.Kubelet)
			if got := find(t, p, "m5.large").Overhead; !got.Equal(tc.want) {
				t.Errorf("overhead %+v, want %+v", got, tc.want)
			}
		})
	}
}

// Percentages refer to the estimate even if the real memory is known.
func TestPercentageOfLearnedMemory(t *testing.T) {
	t.Parallel()
	p := instancetype.Defaults("us-west-2")
	p.LearnedMemory = map[string]int64{"m5.large": 4096 * mebi}
	p.Class.Kubelet.EvictionHard = []instancetype.Threshold{{Signal: instancetype.MemoryAvailable, Percent: true, Hundredths: 1000}}
	if got, want := find(t, p, "m5.large").Overhead.Memory, 574*mebi+(7577*mebi+9)/10; got != want {
		t.Errorf("overhead %d bytes, want %d", got, want)
	}
}

// For every class, pods get neither more than the capacity nor less than zero, and reserving one more
// interface does not increase the room.
func TestRoomOfRandomClasses(t *testing.T) {
	t.Parallel()
	for seed := range int64(10) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			p := randomParams(rand.New(rand.NewSource(seed)))
			more := p
			more.ReservedENIs++
			tighter := instancetype.Build(more).Catalog.Types
			for i, typ := range instancetype.Build(p).Catalog.Types {
				room := allocatable(typ)
				if !room.Fits(typ.Capacity) {
					t.Fatalf("%s: %+v allocatable of %+v", typ.Name, room, typ.Capacity)
				}
				for _, a := range append(room.Amounts(), typ.Overhead.Amounts()...) {
					if a.Value < 0 {
						t.Fatalf("%s: %s is %d", typ.Name, a.Name, a.Value)
					}
				}
				if tighter[i].Capacity.Pods > typ.Capacity.Pods {
					t.Fatalf("%s: %d pods with one more interface reserved, %d before", typ.Name, tighter[i].Capacity.Pods, typ.Capacity.Pods)
				}
			}
		})
	}
}

func randomParams(r *rand.Rand) instancetype.Params {
	p := instancetype.Defaults("us-west-2")
	p.MemoryOverhead = float64(r.Intn(200)) / 1000
	p.ReservedENIs = r.Int63n(5)
	families := []string{"AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"}
	p.Class.Family = families[r.Intn(len(families))]
	p.Class.RAID0 = r.Intn(2) == 0
	kubelet := &p.Class.Kubelet
	if r.Intn(2) == 0 {
		pods := r.Int63n(300)
		kubelet.MaxPods = &pods
	}
	kubelet.PodsPerCore = r.Int63n(20)
	kubelet.SystemReserved = []model.Amount{{Name: "cpu", Value: r.Int63n(4000)}, {Name: "memory", Value: r.Int63n(8 * gibi)}}
	kubelet.KubeReserved = []model.Amount{{Name: "memory", Value: r.Int63n(gibi)}, {Name: "ephemeral-storage", Value: r.Int63n(40 * gibi)}}
	kubelet.EvictionHard = []instancetype.Threshold{
		{Signal: instancetype.MemoryAvailable, Percent: true, Hundredths: r.Int63n(10_001)},
		{Signal: instancetype.NodeFSAvailable, Amount: r.Int63n(40 * gibi)},
	}
	return p
}
