package provision

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// lineage is a kind of machines: so much memory, at such a price, for each core.
type lineage struct {
	name   string
	memory int64 // GiB
	price  model.Money
}

var lineages = []lineage{{"compute", 2, 42_500}, {"general", 4, 48_000}, {"memory", 8, 63_000}}

// threeLineages sells machines of three lineages, from 2 to 64 cores.
func threeLineages() *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Settings: snapshot.Settings{Preferences: snapshot.Respect, WellKnown: requirement.Core().WellKnown().With(sizeKey)},
		Catalogs: make([]catalog.Catalog, 1), Pools: []snapshot.Pool{poolOf("default")},
	}
	for _, f := range lineages {
		for cores := int64(2); cores <= 64; cores *= 2 {
			s.Catalogs[0].Types = append(s.Catalogs[0].Types, f.machine(cores))
		}
	}
	return s
}

func (f lineage) machine(cores int64) catalog.Type {
	t := machineType(fmt.Sprintf("%s-%d", f.name, cores), "amd64", cores)
	t.Capacity = model.Resources{CPU: cores * 1000, Memory: cores * f.memory << 30, Pods: 110}
	t.Overhead = model.Resources{CPU: 60 + 5*cores, Memory: 600<<20 + cores*f.memory<<24}
	for i := range t.Offerings {
		t.Offerings[i].Price = model.Money(cores) * f.price
	}
	return t
}

// used is a region with pods for which about half of the room is there on existing nodes: some
// of one lineage and empty, or any, and used in part.
func used(seed uint64, pods int, empty bool) *snapshot.Snapshot {
	dice := rand.New(rand.NewPCG(seed, 66))
	s := threeLineages()
	var wanted int64
	templates := map[[2]int]snapshot.TemplateIndex{}
	for i := range pods {
		c, m := dice.IntN(6), dice.IntN(7)
		at, known := templates[[2]int{c, m}]
		if !known {
			at = snapshot.TemplateIndex(len(s.Templates))
			templates[[2]int{c, m}] = at
			s.Templates = append(s.Templates, snapshot.Template{Namespace: "default", Requests: model.Resources{
				CPU: []int64{100, 250, 500, 1000, 2000, 4000}[c], Memory: 128 << 20 << m, Pods: 1,
			}})
		}
		wanted += s.Templates[at].Requests.CPU
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("web-%d", i), Template: at, Pending: true})
	}
	for room := int64(0); room < wanted/2; {
		f, cores := lineages[1], int64(16)
		if !empty {
			f, cores = lineages[dice.IntN(3)], int64(2)<<dice.IntN(6)
		}
		t := f.machine(cores)
		n := snapshot.Node{
			Name: fmt.Sprintf("node-%d", len(s.Nodes)), Claim: fmt.Sprintf("claim-%d", len(s.Nodes)), Pool: "default", Initialized: true,
			Labels: map[string]string{requirement.KeyNodePool: "default"}, Capacity: t.Capacity, Allocatable: t.Allocatable(&t.Offerings[0]),
		}
		if !empty { // one pod stands for all that are there
			has := model.Resources{Pods: 1 + int64(dice.IntN(20)), CPU: int64(dice.Float64() * float64(n.Allocatable.CPU)), Memory: int64(dice.Float64() * float64(n.Allocatable.Memory))}
			s.Templates = append(s.Templates, snapshot.Template{Namespace: "default", Requests: has})
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: "on-" + n.Name, Template: snapshot.TemplateIndex(len(s.Templates) - 1), Node: n.Name})
			room -= has.CPU
		}
		room += n.Allocatable.CPU
		s.Nodes = append(s.Nodes, n)
	}
	return s
}

// What goes on existing nodes is what makes the rest cheapest, be they a few or some hundreds.
func TestExistingNodesTakeWhatMakesTheRestCheapest(t *testing.T) {
	t.Parallel()
	cases := map[string]*snapshot.Snapshot{
		"1,500 pods, empty nodes of 4 GiB a core": used(0, 1500, true),
		"3,000 pods, used nodes":                  used(100, 3000, false),
	}
	for seed := range uint64(4) {
		cases[fmt.Sprintf("1,500 pods, used nodes, seed %d", seed)] = used(seed, 1500, false)
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := solved(s, Options{})
			if ratio := float64(p.Cost.New) / float64(p.Cost.LowerBound); len(p.Unplaced) > 0 || ratio > 1.015 {
				t.Errorf("%v for new nodes beside %d: %.4f of the bound; %d pods have no place", p.Cost.New, len(s.Nodes), ratio, len(p.Unplaced))
			}
		})
	}
}
