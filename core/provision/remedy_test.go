package provision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision/advice"
	"tenon/core/provision/search"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

const (
	zoneKey         = requirement.KeyZone
	capacityTypeKey = requirement.KeyCapacityType
	sizeKey         = "example.com/size"
)

// machineType costs a cent for each core on demand, 0.7 of that as spot, in zones a and b.
func machineType(name, arch string, cores int64) catalog.Type {
	t := catalog.Type{
		Name:     name,
		Capacity: model.Resources{CPU: cores * 1000, Memory: cores << 32, Pods: 10 * cores},
		Overhead: model.Resources{CPU: 100},
		Requirements: requirement.NewSet(
			requirement.New(requirement.KeyInstanceType, requirement.In, name),
			requirement.New(requirement.KeyArch, requirement.In, arch),
			requirement.New(requirement.KeyOS, requirement.In, "linux"),
			requirement.New(sizeKey, requirement.In, fmt.Sprint(cores)),
			requirement.New(zoneKey, requirement.In, "a", "b"),
			requirement.New(capacityTypeKey, requirement.In, "spot", "on-demand"),
		),
	}
	for _, zone := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			catalog.Offering{Zone: zone, CapacityType: catalog.OnDemand, Price: model.Money(10_000 * cores), Available: true},
			catalog.Offering{Zone: zone, CapacityType: catalog.Spot, Price: model.Money(7_000 * cores), Available: true})
	}
	return t
}

// market is one pool of small machines: what a test changes is what it is about.
func market() *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Settings: snapshot.Settings{Preferences: snapshot.Respect, WellKnown: requirement.Core().WellKnown().With(sizeKey)},
		Catalogs: []catalog.Catalog{{Types: []catalog.Type{
			machineType("amd-2", "amd64", 2), machineType("amd-4", "amd64", 4), machineType("amd-8", "amd64", 8), machineType("amd-32", "amd64", 32),
			machineType("arm-2", "arm64", 2), machineType("arm-4", "arm64", 4),
		}}},
		Pools:     []snapshot.Pool{poolOf("default", requirement.New(requirement.KeyArch, requirement.In, "amd64"))},
		Templates: []snapshot.Template{{Namespace: "default", Labels: map[string]string{"app": "web"}, Requests: model.Resources{CPU: 1000, Memory: 1 << 30, Pods: 1}}},
	}
}

func poolOf(name string, more ...requirement.Requirement) snapshot.Pool {
	labels := map[string]string{requirement.KeyNodePool: name}
	return snapshot.Pool{Name: name, Labels: labels, Requirements: requirement.FromLabels(labels).With(more...)}
}

// pending adds pods of the first template.
func pending(s *snapshot.Snapshot, n int) {
	for i := range n {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("web-%d", i), Pending: true})
	}
}

const effort = 1_000_000

func planned(s *snapshot.Snapshot) plan.Plan { return solved(s, Options{Effort: effort}) }

// ask makes the label a rule of the pods.
func ask(s *snapshot.Snapshot, r ...requirement.Requirement) {
	s.Templates[0].Selector = s.Templates[0].Selector.With(r...)
}

func in(key string, values ...string) requirement.Requirement {
	return requirement.New(key, requirement.In, values...)
}

// Each case says what is in the way, what we answer, and how a user would follow the advice:
// after that, every pod must have a place, and cost what was promised.
func TestTheSmallestChangeThatPlacesAPod(t *testing.T) {
	t.Parallel()
	gpuTaint := model.Taint{Key: "gpu", Value: "true", Effect: model.NoSchedule}
	antiAffinity := snapshot.AffinityTerm{Key: zoneKey, Namespaces: []string{"default"}, Selector: model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{"web"}}}}}
	cases := map[string]struct {
		pods   int
		spoil  func(*snapshot.Snapshot)
		why    string // the pool's text begins with it
		want   string
		follow func(*snapshot.Snapshot)
		price  model.Money
	}{
		"a taint": {
			spoil: func(s *snapshot.Snapshot) { s.Pools[0].Taints = []model.Taint{gpuTaint} },
			why:   "did not tolerate taint (taint=gpu=true:NoSchedule)",
			want:  "let the pod tolerate gpu=true:NoSchedule: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Templates[0].Tolerations = []model.Toleration{{Key: "gpu", Value: "true", Effect: model.NoSchedule}}
			},
			price: 14_000,
		},
		"two taints": {
			spoil: func(s *snapshot.Snapshot) {
				s.Pools[0].Taints = []model.Taint{gpuTaint, {Key: "team", Effect: model.NoExecute}}
			},
			why: "did not tolerate taint (taint=gpu=true:NoSchedule)",
		},
		"a label that is not defined": {
			spoil: func(s *snapshot.Snapshot) { ask(s, in("team", "red")) },
			why:   `incompatible requirements, label "team" does not have known values`,
			want:  "give the nodes of pool default the label team=red, or drop what the pod asks of it: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Pools[0].Labels["team"] = "red"
				s.Pools[0].Requirements = s.Pools[0].Requirements.With(in("team", "red"))
			},
			price: 14_000,
		},
		"a label that users may not define": {
			spoil:  func(s *snapshot.Snapshot) { ask(s, in("node.kubernetes.io/exotic", "yes")) },
			why:    "incompatible requirements, label",
			want:   "let the pod do without node.kubernetes.io/exotic In [yes]: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Selector = requirement.Set{} },
			price:  14_000,
		},
		"another architecture": {
			spoil: func(s *snapshot.Snapshot) { ask(s, in(requirement.KeyArch, "arm64")) },
			why:   "incompatible requirements, key kubernetes.io/arch, kubernetes.io/arch In [arm64] not in kubernetes.io/arch In [amd64]",
			want:  "let pool default have kubernetes.io/arch arm64 too, beyond kubernetes.io/arch In [amd64]: then arm-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.Replaced(in(requirement.KeyArch, "amd64", "arm64"))
			},
			price: 14_000,
		},
		"a zone without offers": {
			spoil:  func(s *snapshot.Snapshot) { ask(s, in(zoneKey, "z")) },
			why:    "no instance type met the scheduling requirements or had a required offering",
			want:   "let the pod do without topology.kubernetes.io/zone In [z]: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Selector = requirement.Set{} },
			price:  14_000,
		},
		"a shortage of what the pool insists on": {
			spoil: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.With(in(capacityTypeKey, "spot"))
				for _, kind := range s.Catalogs[0].Types {
					for i := range kind.Offerings {
						kind.Offerings[i].Available = kind.Offerings[i].CapacityType != catalog.Spot
					}
				}
			},
			why:  "out of stock: amd-2 and 7 other offering(s) that would do; no instance type has the required offering",
			want: "let pool default have karpenter.sh/capacity-type on-demand too, beyond karpenter.sh/capacity-type In [spot]: then amd-2 of pool default would do, 0.02 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.Replaced(in(capacityTypeKey, "spot", "on-demand"))
			},
			price: 20_000,
		},
		"a shortage in a pool that asks for variety": {
			spoil: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.With(
					in(capacityTypeKey, "spot"), requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(4))
				for _, kind := range s.Catalogs[0].Types {
					for i := range kind.Offerings {
						kind.Offerings[i].Available = kind.Offerings[i].CapacityType != catalog.Spot
					}
				}
			},
			why:  "out of stock: amd-2 and 7 other offering(s) that would do; no instance type has the required offering",
			want: "let pool default have karpenter.sh/capacity-type on-demand too, beyond karpenter.sh/capacity-type In [spot]: then amd-2 of pool default would do, 0.02 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.Replaced(in(capacityTypeKey, "spot", "on-demand"))
			},
			price: 20_000,
		},
		"a pod larger than the pool's types": {
			spoil: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.With(requirement.New(sizeKey, requirement.Lt, "5"))
				s.Templates[0].Requests.CPU = 20_000
			},
			why:  "no instance type has enough resources; cpu: 20 wanted, 3.9 free on the nearest, amd-4",
			want: "let pool default have example.com/size 32 too, beyond example.com/size Exists <=4: then amd-32 of pool default would do, 0.224 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.Without(sizeKey)
			},
			price: 224_000,
		},
		"a pod slightly larger than anything": {
			spoil:  func(s *snapshot.Snapshot) { s.Templates[0].Requests.CPU = 32_000 },
			why:    "no instance type has enough resources; cpu: 32 wanted, 31.9 free on the nearest, amd-32",
			want:   "let the pod request less: cpu 32 → 31.9: then amd-32 of pool default would do, 0.224 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Requests.CPU = 31_900 },
			price:  224_000,
		},
		"daemons that take the room": {
			spoil: func(s *snapshot.Snapshot) {
				s.Templates[0].Requests.CPU = 31_000
				s.Templates = append(s.Templates, snapshot.Template{Namespace: "kube-system", Daemon: true, Requests: model.Resources{CPU: 2000, Pods: 1}})
				s.Daemons = []snapshot.Daemon{{Namespace: "kube-system", Name: "agent", Template: 1}}
			},
			why:    "no instance type has enough resources; cpu: 31 wanted, 29.9 free on the nearest, amd-32, where daemons take 2",
			want:   "let the pod request less: cpu 31 → 29.9: then amd-32 of pool default would do, 0.224 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Requests.CPU = 29_900 },
			price:  224_000,
		},
		"daemons that have no room themselves": {
			spoil: func(s *snapshot.Snapshot) {
				s.Templates = append(s.Templates, snapshot.Template{Namespace: "kube-system", Daemon: true, Requests: model.Resources{CPU: 40_000, Pods: 1}})
				s.Daemons = []snapshot.Daemon{{Namespace: "kube-system", Name: "agent", Template: 1}}
			},
			why: "no instance type has enough resources; cpu: daemons take 40, and the nearest, amd-32, has 31.9",
		},
		"a resource that no type has": {
			spoil: func(s *snapshot.Snapshot) {
				s.Templates[0].Requests.Extended = []model.Amount{{Name: "example.com/fpga", Value: 1}}
			},
			why:    "no instance type has enough resources; example.com/fpga: 1 wanted, 0 free on the nearest, amd-2",
			want:   "let the pod request less: example.com/fpga 1 → 0: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Requests.Extended = nil },
			price:  14_000,
		},
		"a limit": {
			pods:   3,
			spoil:  func(s *snapshot.Snapshot) { s.Pools[0].Limits = []model.Amount{{Name: model.CPU, Value: 1000}} },
			why:    "all available instance types exceed limits for nodepool (NodePool=default); cpu: 1 left, and the smallest that would do, amd-2, has 2",
			want:   "raise the limits of pool default: cpu 1 → 4: then all 3 such pods have a place, on 1 node of pool default for 0.028 an hour",
			follow: func(s *snapshot.Snapshot) { s.Pools[0].Limits[0].Value = 4000 },
			price:  28_000,
		},
		"a shortage beside another team's pool": {
			spoil: func(s *snapshot.Snapshot) {
				s.Templates[0].Requests.CPU = 6000
				for i := range s.Catalogs[0].Types[2].Offerings {
					s.Catalogs[0].Types[2].Offerings[i].Available = false
				}
				s.Pools[0].Limits = []model.Amount{{Name: "cpu", Value: 16_000}}
				theirs := poolOf("theirs")
				theirs.Taints = []model.Taint{{Key: "team", Value: "theirs", Effect: model.NoSchedule}}
				s.Pools = append(s.Pools, theirs)
			},
			why: "out of stock: amd-8 and 3 other offering(s) that would do; all available instance types exceed limits for nodepool (NodePool=default)",
		},
		"a shortage of all that is not dear": {
			spoil: func(s *snapshot.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements.With(requirement.New(sizeKey, requirement.Lt, "9"))
				s.Templates[0].Requests.CPU = 6000
				for i := range s.Catalogs[0].Types[2].Offerings {
					s.Catalogs[0].Types[2].Offerings[i].Available = false
				}
			},
			why:    "out of stock: amd-8 and 3 other offering(s) that would do; no instance type",
			want:   "let the pod request less: cpu 6 → 3.9: then amd-4 of pool default would do, 0.028 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Requests.CPU = 3900 },
			price:  28_000,
		},
		"a shortage whose time is known": {
			spoil: func(s *snapshot.Snapshot) {
				s.Templates[0].Requests.CPU = 6000
				since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
				for i := range s.Catalogs[0].Types[2].Offerings {
					s.Catalogs[0].Types[2].Offerings[i].Available = false
					s.Catalogs[0].Types[2].Offerings[i].Outage = &catalog.Outage{Since: since, Until: since.Add(3 * time.Minute)}
				}
				s.Pools[0].Limits = []model.Amount{{Name: "cpu", Value: 16_000}}
			},
			why: "out of stock: amd-8 (since 12:00:00, tried again at 12:03:00 UTC) and 3 other offering(s) that would do; all available instance types exceed limits",
		},
		"a limit of nodes": {
			spoil:  func(s *snapshot.Snapshot) { s.Pools[0].Limits = []model.Amount{{Name: model.Nodes, Value: 0}} },
			why:    "node limits have been exhausted for nodepool (NodePool=default)",
			want:   "raise the limits of pool default: nodes 0 → 1: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) { s.Pools[0].Limits[0].Value = 1 },
			price:  14_000,
		},
		"a taint of a pool that asks for variety": {
			spoil: func(s *snapshot.Snapshot) {
				for cores := int64(5); cores < 40; cores++ {
					s.Catalogs[0].Types = append(s.Catalogs[0].Types, machineType(fmt.Sprintf("more-%d", cores), "amd64", cores))
				}
				s.Pools[0].Taints = []model.Taint{gpuTaint}
				s.Pools[0].Requirements = s.Pools[0].Requirements.With(requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(25))
			},
			why:  "did not tolerate taint (taint=gpu=true:NoSchedule)",
			want: "let the pod tolerate gpu=true:NoSchedule: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) {
				s.Templates[0].Tolerations = []model.Toleration{{Key: "gpu", Value: "true", Effect: model.NoSchedule}}
			},
			price: 14_000,
		},
		"a port that a daemon has": {
			spoil: func(s *snapshot.Snapshot) {
				port := []model.HostPort{{Port: 9100, Protocol: "TCP"}}
				s.Templates[0].HostPorts = port
				s.Templates = append(s.Templates, snapshot.Template{Namespace: "kube-system", Daemon: true, HostPorts: port, Requests: model.Resources{Pods: 1}})
				s.Daemons = []snapshot.Daemon{{Namespace: "kube-system", Name: "agent", Template: 1}}
			},
			why:    "pod hostport conflicts with existing hostport configuration, port=9100",
			want:   "let the pod do without host port 9100: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].HostPorts = nil },
			price:  14_000,
		},
		"partners that are not there": {
			spoil: func(s *snapshot.Snapshot) {
				lonely := antiAffinity
				lonely.Selector = model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{"database"}}}}
				s.Templates[0].Affinity = []snapshot.AffinityTerm{lonely}
			},
			why:    "unsatisfiable topology constraint for pod affinity, key=topology.kubernetes.io/zone",
			want:   "make the pod's pod affinity on topology.kubernetes.io/zone a preference: then amd-2 of pool default would do, 0.014 an hour",
			follow: func(s *snapshot.Snapshot) { s.Templates[0].Affinity = nil },
			price:  14_000,
		},
		"nothing that one change could mend": {
			spoil: func(s *snapshot.Snapshot) {
				s.Pools[0].Taints = []model.Taint{gpuTaint}
				ask(s, in(zoneKey, "z"))
			},
			why: "did not tolerate taint",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := market()
			pending(s, max(tc.pods, 1))
			tc.spoil(s)
			p := planned(s)
			if len(p.Unplaced) == 0 || len(p.Claims) > 0 {
				t.Fatalf("the pods have a place: %+v", p.Claims)
			}
			v := p.Unplaced[0].Verdict
			if got := v.Pools[0].Text(); !strings.HasPrefix(got, tc.why) {
				t.Errorf("reason\n got %s\nwant %s…", got, tc.why)
			}
			if tc.want == "" {
				if v.Remedy != nil || !v.Sought {
					t.Fatalf("remedy %+v, sought %v: no single change helps", v.Remedy, v.Sought)
				}
				return
			}
			if v.Remedy == nil {
				t.Fatal("no remedy")
			}
			if got := v.Remedy.Text(); got != tc.want {
				t.Errorf("remedy\n got %s\nwant %s", got, tc.want)
			}
			tc.follow(s)
			after := planned(s)
			if len(after.Unplaced) > 0 || after.Cost.New != tc.price || v.Remedy.Price != tc.price {
				t.Errorf("after the change %d pods have no place, price %s, promised %s, want %s", len(after.Unplaced), after.Cost.New, v.Remedy.Price, tc.price)
			}
		})
	}
}

func TestOfEqualChangesTheCheapestPoolIsNamed(t *testing.T) {
	t.Parallel()
	s := market()
	big := poolOf("big", requirement.New(sizeKey, requirement.Gt, "7"))
	small := poolOf("small")
	for _, p := range []*snapshot.Pool{&big, &small} {
		p.Taints = []model.Taint{{Key: "dedicated", Value: p.Name, Effect: model.NoSchedule}}
	}
	s.Pools = []snapshot.Pool{big, small}
	pending(s, 1)
	v := planned(s).Unplaced[0].Verdict
	if v.Remedy == nil || v.Remedy.Pool != "small" || v.Remedy.Change != reason.Tolerate {
		t.Errorf("remedy %+v", v.Remedy)
	}
}

// An anti-affinity is a rule of the workload: the advice is simulated with the change made
// to all of its pods, those that run already too.
func TestSofteningAppliesToTheWholeWorkload(t *testing.T) {
	t.Parallel()
	s := market()
	term := snapshot.AffinityTerm{Key: zoneKey, Namespaces: []string{"default"}, Selector: model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{"web"}}}}}
	s.Templates[0].AntiAffinity = []snapshot.AffinityTerm{term}
	pending(s, 3) // and two zones
	p := planned(s)
	if len(p.Unplaced) != 1 {
		t.Fatalf("%d pods have no place, want one", len(p.Unplaced))
	}
	v := p.Unplaced[0].Verdict
	if v.Remedy == nil || v.Remedy.Change != reason.Soften {
		t.Fatalf("remedy %+v, because %s", v.Remedy, v.Pools[0].Text())
	}
	// The same rule of a stranger that runs in both zones cannot be softened on the pod.
	s.Templates = append(s.Templates, snapshot.Template{Namespace: "default", Labels: map[string]string{"app": "lone"}, AntiAffinity: []snapshot.AffinityTerm{term}, Requests: model.Resources{Pods: 1}})
	s.Templates[0].AntiAffinity = nil
	for _, zone := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, snapshot.Node{Name: "n-" + zone, Labels: map[string]string{zoneKey: zone}, Initialized: true})
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: "lone-" + zone, Template: 1, Node: "n-" + zone})
	}
	v = planned(s).Unplaced[0].Verdict
	if v.Remedy != nil || !v.Sought {
		t.Errorf("remedy %+v", v.Remedy)
	}
}

// A pod that asks for a label of a pool that is not ready is not led to another pool.
func TestAPoolThatIsNotReadyIsMendedFirst(t *testing.T) {
	t.Parallel()
	s := market()
	own := poolOf("own", in("team", "red"))
	own.Labels["team"] = "red"
	own.Unready = reason.Unready{Code: reason.NotReady, Message: `there is no EC2NodeClass "defualt"`}
	s.Pools = append(s.Pools, own)
	ask(s, in("team", "red"))
	pending(s, 1)
	v := planned(s).Unplaced[0].Verdict
	if got, want := v.RemedyText(), "smallest change: make pool own ready"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	s.Pools[1].Unready = reason.Unready{Code: reason.PoolStatic}
	if v := planned(s).Unplaced[0].Verdict; v.Remedy == nil || v.Remedy.Change != reason.AddLabel {
		t.Errorf("beside a static pool: %s", v.RemedyText())
	}
}

// minValues speaks of instance types that could take the pod.
func TestFunnelCountsVariety(t *testing.T) {
	t.Parallel()
	s := market()
	s.Pools[0].Requirements = s.Pools[0].Requirements.With(requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(3))
	s.Templates[0].Requests.CPU = 6000 // amd-8 and amd-32
	pending(s, 1)
	d := search.New(snapshot.Sort(s, nil), effort, nil)
	a := d.Best()
	adv := advice.New(d, a, d.Limits, nil)
	wish := append(d.Wishes, d.Refused...)[0]
	v := adv.Verdict(wish, reason.Reason{})
	want := "minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type]): 3 wanted, 2 possible"
	if got := v.Pools[0].Text(); !strings.HasPrefix(got, want) {
		t.Errorf("\n got %s\nwant %s…", got, want)
	}
	if v.Remedy == nil || !strings.HasPrefix(v.Remedy.Text(), "lower minValues of node.kubernetes.io/instance-type in pool default from 3 to 2: then amd-8") {
		t.Errorf("remedy %+v", v.Remedy)
	}
	d.Snapshot.Settings.BestEffortMinimum = true
	if v := advice.New(d, a, d.Limits, nil).Verdict(wish, reason.Reason{}); v.Pools[0].Reason.Code == reason.MinimumNotMet {
		t.Errorf("a minimum that may be lowered is in the way: %s", v.Pools[0].Text())
	}
}

// However many pools and shapes there are, looking for remedies ends.
func TestTheSearchForRemediesIsBounded(t *testing.T) {
	t.Parallel()
	s := market()
	for i := range 200 {
		p := poolOf(fmt.Sprintf("pool-%03d", i))
		p.Taints = []model.Taint{{Key: fmt.Sprintf("team-%d", i), Effect: model.NoSchedule}, {Key: "all", Effect: model.NoSchedule}}
		s.Pools = append(s.Pools, p)
	}
	s.Pools = s.Pools[1:]
	pending(s, 1)
	v := planned(s).Unplaced[0].Verdict
	if len(v.Pools) != 200 || v.Remedy != nil || !v.Sought {
		t.Errorf("%d pools, remedy %+v, sought %v", len(v.Pools), v.Remedy, v.Sought)
	}
	if text := v.Text(); len(text) > reason.MaxText {
		t.Errorf("%d bytes", len(text))
	}
	d := search.New(snapshot.Sort(s, nil), effort, nil)
	a := d.Best()
	adv := advice.New(d, a, d.Limits, nil)
	adv.Visits = 0
	if v := adv.Verdict(d.Refused[0], reason.Reason{}); v.Sought {
		t.Error("says that there is no remedy without having looked")
	}
}

// TestNamespacesShareTheSearchForRemedies: a namespace has a thousand pods, no two alike, with rules that are
// dear to look at. The search for what would help them ends soon, and the one pod of another
// namespace, which comes last, is told what would help it.
func TestNamespacesShareTheSearchForRemedies(t *testing.T) {
	t.Parallel()
	s := market()
	s.Pools[0].Taints = []model.Taint{{Key: "team", Effect: model.NoSchedule}}
	for i := range 1000 {
		odd := snapshot.Template{Namespace: "aaa", Labels: map[string]string{"odd": fmt.Sprint(i)}, Requests: model.Resources{CPU: 100 + int64(i), Pods: 1}}
		for j := range 12 {
			odd.AntiAffinity = append(odd.AntiAffinity, snapshot.AffinityTerm{Key: "kubernetes.io/hostname", Namespaces: []string{"aaa"}, Selector: model.Selector{
				Expressions: []model.Expression{{Key: "odd", Operator: "In", Values: []string{fmt.Sprint(i, "-", j), "a", "b", "c", "d", "e", "f"}}},
			}})
		}
		s.Templates = append(s.Templates, odd)
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "aaa", Name: fmt.Sprintf("odd-%04d", i), UID: fmt.Sprint("odd", i), Pending: true, Template: snapshot.TemplateIndex(len(s.Templates) - 1)})
	}
	s.Templates = append(s.Templates, snapshot.Template{Namespace: "zzz", Requests: model.Resources{CPU: 100, Pods: 1}})
	s.Pods = append(s.Pods, snapshot.Pod{Namespace: "zzz", Name: "web", UID: "web", Pending: true, Template: snapshot.TemplateIndex(len(s.Templates) - 1)})
	d := search.New(snapshot.Sort(s, nil), effort, nil)
	adv := advice.New(d, d.Best(), d.Limits, nil)
	adv.Visits = 500_000
	unplaced := adv.Unplaced()
	last, unsought := unplaced[len(unplaced)-1], 0
	for _, u := range unplaced {
		if !u.Verdict.Sought {
			unsought++
		}
	}
	if len(unplaced) != 1001 || d.Snapshot.Pods[last.Pod].Namespace != "zzz" || last.Verdict.Remedy == nil || !last.Verdict.Sought {
		t.Errorf("%d pods have no place, the last is told %+v", len(unplaced), last.Verdict.Remedy)
	}
	if unsought < 900 {
		t.Errorf("for %d pods a remedy is looked for, although each is dear", 1001-unsought)
	}
}
