// Package opencost writes what a fleet costs in the formats of OpenCost: the answer of its allocation API, and
// the metrics of nodes that its exporter has. It must not compute a price: it only splits those that the view
// has into cpu and memory.
package opencost

import (
	"cmp"
	"strings"
	"time"

	"tenon/core/model"
	"tenon/internal/cost"
	"tenon/internal/view"
)

// Answer is that of GET /allocation: one set of allocations by name.
type Answer struct {
	Code   int                      `json:"code"`
	Status string                   `json:"status"`
	Data   []map[string]*Allocation `json:"data"`
}

// Allocation is what one namespace or controller costs over a window.
type Allocation struct {
	Name       string     `json:"name"`
	Properties properties `json:"properties"`
	Window     window     `json:"window"`
	Start      time.Time  `json:"start"`
	End        time.Time  `json:"end"`
	Minutes    float64    `json:"minutes"`

	CPUCores              float64 `json:"cpuCores"`
	CPUCoreRequestAverage float64 `json:"cpuCoreRequestAverage"`
	CPUCoreHours          float64 `json:"cpuCoreHours"`
	CPUCost               float64 `json:"cpuCost"`
	RAMBytes              float64 `json:"ramBytes"`
	RAMByteRequestAverage float64 `json:"ramByteRequestAverage"`
	RAMByteHours          float64 `json:"ramByteHours"`
	RAMCost               float64 `json:"ramCost"`
	// The costs of what Tenon does not buy are zero, and present for readers that add them up.
	GPUCost          float64 `json:"gpuCost"`
	PVCost           float64 `json:"pvCost"`
	NetworkCost      float64 `json:"networkCost"`
	LoadBalancerCost float64 `json:"loadBalancerCost"`
	SharedCost       float64 `json:"sharedCost"`
	ExternalCost     float64 `json:"externalCost"`
	TotalCost        float64 `json:"totalCost"`
}

type properties struct {
	Cluster        string `json:"cluster,omitempty"`
	Namespace      string `json:"namespace,omitempty"`
	Controller     string `json:"controller,omitempty"`
	ControllerKind string `json:"controllerKind,omitempty"`
}

type window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// The names that OpenCost has for what no pod requests, and for pods without a controller.
const (
	idleName        = "__idle__"
	unallocatedName = "__unallocated__"
)

// Aggregates says by which dimensions an answer may be aggregated.
var Aggregates = []cost.Dimension{cost.ByNamespace, cost.ByOwner}

// coreInGiB is how many GiB of memory cost as much as one core, about as list prices of general machines have it.
const coreInGiB = 8

const giB = 1 << 30

// Allocations returns what the fleet would cost in the hour before a time if it had been as it is. Daemons are
// part of their namespaces.
func Allocations(f *view.Fleet, cluster string, by cost.Dimension, now time.Time) Answer {
	hour := window{now.Add(-time.Hour).UTC(), now.UTC()}
	set := map[string]*Allocation{}
	at := func(name string, p properties) *Allocation {
		if set[name] == nil {
			p.Cluster = cluster
			set[name] = &Allocation{Name: name, Properties: p, Window: hour, Start: hour.Start, End: hour.End, Minutes: time.Hour.Minutes()}
		}
		return set[name]
	}
	for _, n := range f.Nodes {
		left := n.Allocatable
		for _, p := range n.Pods {
			name, of := nameOf(p, by)
			at(name, of).add(p.Requests, p.Cost)
			left.CPU, left.Memory = max(left.CPU-p.Requests.CPU, 0), max(left.Memory-p.Requests.Memory, 0)
		}
		if n.Idle > 0 {
			at(idleName, properties{}).add(left, n.Idle)
		}
	}
	return Answer{Code: 200, Status: "success", Data: []map[string]*Allocation{set}}
}

func nameOf(p *view.Pod, by cost.Dimension) (string, properties) {
	if by == cost.ByNamespace {
		return p.Namespace, properties{Namespace: p.Namespace}
	}
	kind, controller, _ := strings.Cut(p.Owner, "/")
	if controller == "" {
		return unallocatedName, properties{}
	}
	kind = strings.ToLower(kind)
	return p.Namespace + "/" + kind + ":" + controller, properties{Namespace: p.Namespace, Controller: controller, ControllerKind: kind}
}

// add adds an hour of some resources.
func (a *Allocation) add(r model.Resources, price model.Money) {
	cores, bytes := float64(r.CPU)/1000, float64(r.Memory)
	a.CPUCores += cores
	a.CPUCoreRequestAverage, a.CPUCoreHours = a.CPUCores, a.CPUCores
	a.RAMBytes += bytes
	a.RAMByteRequestAverage, a.RAMByteHours = a.RAMBytes, a.RAMBytes
	forCPU := price.Float() * share(r)
	a.CPUCost += forCPU
	a.RAMCost += price.Float() - forCPU
	a.TotalCost = a.CPUCost + a.RAMCost
}

// share is the part of a price that is for cpu.
func share(r model.Resources) float64 {
	cores, memory := float64(r.CPU)/1000*coreInGiB, float64(r.Memory)/giB
	if cores+memory == 0 {
		return 1
	}
	return cores / (cores + memory)
}

// hourly are the prices of a node and of its units, for metrics. Nodes without resources have a total alone.
type hourly struct{ total, core, gib float64 }

func hourlyOf(n *view.Node) hourly {
	out := hourly{total: n.Price.Float()}
	if cores := float64(n.Allocatable.CPU) / 1000; cores > 0 {
		out.core = out.total * share(n.Allocatable) / cores
	}
	if memory := float64(n.Allocatable.Memory) / giB; memory > 0 {
		out.gib = out.total * (1 - share(n.Allocatable)) / memory
	}
	return out
}

// kind is a node's instance type as OpenCost has it where none is known.
func kind(n *view.Node) string { return cmp.Or(n.Type, "unknown") }
